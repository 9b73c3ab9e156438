package dev.ichido.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ichido.outbox.InvalidIntentException.Code;
import dev.ichido.outbox.InvalidIntentException.Problem;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboxIntentTest {
  private static OutboxIntent.Builder transfer() {
    return OutboxIntent.execute()
        .tenant("t1")
        .principal("agent:a")
        .action("pay.transfer")
        .operationId("op-0000000000000001")
        .issuedAt(Instant.parse("2026-01-01T00:00:00.123456789Z"));
  }

  @Test
  void everyMissingFieldIsNamedAtOnce() {
    InvalidIntentException refused =
        catchThrowableOfType(
            InvalidIntentException.class, () -> OutboxIntent.execute().tenant("t1").build());
    assertThat(refused.problems())
        .containsExactly(
            new Problem("principal", Code.MISSING),
            new Problem("action", Code.MISSING),
            new Problem("operation_id", Code.MISSING),
            new Problem("issued_at", Code.MISSING));
    assertThat(refused)
        .hasMessage(
            "Expected an intent that can be written, but found principal MISSING, action MISSING, operation_id"
                + " MISSING, issued_at MISSING. Check where the intent is built.");
  }

  @Test
  @Tag("FR-40")
  void noIdentityIsMintedForAWrite() {
    assertThatThrownBy(
            () ->
                OutboxIntent.execute()
                    .tenant("t1")
                    .principal("agent:a")
                    .action("pay.transfer")
                    .issuedAt(Instant.EPOCH)
                    .build())
        .isInstanceOf(InvalidIntentException.class)
        .hasMessageContaining("operation_id MISSING");
    assertThat(transfer().build().operationId()).isEqualTo("op-0000000000000001");
  }

  @Test
  void badValuesAreNamedWithoutTheirValues() {
    InvalidIntentException refused =
        catchThrowableOfType(
            InvalidIntentException.class,
            () ->
                transfer()
                    .tenant("")
                    .target("secret\u0000")
                    .step("\ud83d")
                    .workflowId("w".repeat(OutboxIntent.MAX_TEXT + 1))
                    .arguments("\"" + "é".repeat(OutboxIntent.MAX_ARGUMENTS_BYTES / 2) + "\"")
                    .issuedAt(Instant.parse("1969-12-31T23:59:59Z"))
                    .build());
    assertThat(refused.problems())
        .containsExactly(
            new Problem("tenant", Code.EMPTY),
            new Problem("target", Code.CHARACTER),
            new Problem("workflow_id", Code.TOO_LONG),
            new Problem("step", Code.CHARACTER),
            new Problem("arguments", Code.TOO_LONG),
            new Problem("issued_at", Code.OUT_OF_RANGE));
    assertThat(refused.getMessage()).doesNotContain("secret");
  }

  /** The processor takes a blank one for none, and has nobody to answer to. */
  @ParameterizedTest
  @ValueSource(strings = {" ", "\t\n\u000b\f\r", "\u001c\u001f", "\u2003\u3000\u1680\u2028\u205f"})
  void aPrincipalAndADeliveryAreNamed(String blank) {
    InvalidIntentException refused =
        catchThrowableOfType(
            InvalidIntentException.class,
            () -> transfer().principal(blank).deliveryId(blank).target(blank).build());
    assertThat(refused.problems())
        .containsExactly(
            new Problem("principal", Code.BLANK), new Problem("delivery_id", Code.BLANK));
    assertThat(transfer().deliveryId("\u00a0").build().deliveryId()).isEqualTo("\u00a0");
  }

  @Test
  void aPairOfSurrogatesIsACharacter() {
    assertThat(transfer().target("\ud83d\ude00").build().target()).isEqualTo("\ud83d\ude00");
  }

  @Test
  void issuedAtIsKeptToTheMicrosecond() {
    assertThat(transfer().build().issuedAt())
        .isEqualTo(Instant.parse("2026-01-01T00:00:00.123456Z"));
  }

  @Test
  void aCancelNeedsNoActionButAnOperation() {
    OutboxIntent.Builder cancel =
        OutboxIntent.cancel().tenant("t1").principal("agent:a").issuedAt(Instant.EPOCH);
    assertThatThrownBy(cancel::build).hasMessageContaining("operation_id MISSING");
    OutboxIntent intent = cancel.operationId("op-0000000000000001").build();
    assertThat(intent.kind()).isEqualTo(IntentKind.CANCEL);
    assertThat(intent.action()).isNull();
  }

  @Test
  void argumentsAreNoPartOfItsText() {
    assertThat(transfer().arguments("{\"iban\":\"DE89\"}").build().toString())
        .doesNotContain("DE89");
  }
}
