package dev.ichido.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdempotencyKeyTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"8e03978e-40d5-43dd-bc93-6894a57f9324\" | 8e03978e-40d5-43dd-bc93-6894a57f9324",
        "8e03978e-40d5-43dd-bc93-6894a57f9324 | 8e03978e-40d5-43dd-bc93-6894a57f9324",
        "order-2026:17.note~1_a | order-2026:17.note~1_a",
        "\"with blank\" | with blank",
        "\"a \\\"quoted\\\" part\" | a \"quoted\" part",
        "\"parameters-are-left-out\";a=1 | parameters-are-left-out",
      })
  void aStringAndABareKeyAreTheSameKey(String line, String key) {
    assertThat(IdempotencyKey.parse(List.of(line))).contains(key);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "\"\"",
        "\"open",
        "open\"",
        "\"a\", \"b\"",
        "a, b",
        "a b",
        ":YWJj:",
        "?1",
        "(\"a\")",
        "\"caf\u00e9-0123456789\"",
        "'single-quoted-0123'",
        "\"tab\tinside\"",
      })
  void whatIsNoStringIsRefusedAndNotRepaired(String line) {
    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> IdempotencyKey.parse(List.of(line)))
        .satisfies(e -> assertThat(e.code()).isEqualTo(ProblemCode.KEY_MALFORMED));
  }

  @Test
  void twoLinesAreRefusedEvenWhenTheyAgree() {
    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> IdempotencyKey.parse(List.of("\"a\"", "\"a\"")))
        .satisfies(e -> assertThat(e.code()).isEqualTo(ProblemCode.KEY_REPEATED));
  }

  @Test
  void noLineIsNoKey() {
    assertThat(IdempotencyKey.parse(List.of())).isEmpty();
  }
}
