package dev.ichido.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class OperationKeyTest {
  static List<List<String>> vectors() {
    return GoldenFile.shared("record-keys.tsv");
  }

  @ParameterizedTest
  @MethodSource("vectors")
  @Tag("FR-06")
  void recordKeysAreThoseOfTheGoldenFile(List<String> vector) {
    OperationKey key = new OperationKey(vector.get(1), vector.get(2), vector.get(3));
    assertThat(key.recordKey()).isEqualTo(vector.get(0));
    assertThat(OperationKey.parse(vector.get(0))).contains(key);
  }

  @Test
  @Tag("FR-08")
  void partsAreNotGluedTogether() {
    assertThat(new OperationKey("a_b", "global", "c").recordKey())
        .isNotEqualTo(new OperationKey("a", "global", "b_c").recordKey());
    assertThat(new OperationKey("a/b", "c", "d").recordKey())
        .isNotEqualTo(new OperationKey("a", "b/c", "d").recordKey());
  }

  @Test
  @Tag("KEY-08")
  void keysAreCaseSensitive() {
    assertThat(new OperationKey("t1", "global", "OP-0000000000000001").recordKey())
        .isNotEqualTo(new OperationKey("t1", "global", "op-0000000000000001").recordKey());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "k1",
        "k1/t/s",
        "k1/t/s/o/x",
        "k2/t/s/o",
        "K1/t/s/o",
        "d1/t/s/o",
        "k1/t/s/o ",
        "k1/t/s/%",
        "k1/t/s/%4",
        "k1/t/s/%41",
        "k1/t/s/%3a",
        "k1/t/s/%G0",
        "k1/t/s/%0G",
        "k1/t/s/a:b",
        "k1/t/%80/o",
        "k1/%C3/s/o",
        "k1/t/s/%C3%",
        "k1/t/s/%C3%A9%",
        "k1/t/s/%C0%80",
        "k1/t/s/%C3A",
        "k1/t/s/%E2%82",
        "k1/t/s/%F0%9F%98",
        "k1/t/s/%F4%90%80%80",
        "k1/t/s/%F8%88%80%80%80",
        "k1/t/s/%FF%BF%BF%BF",
        "k1/t/s/%ED%A0%BD%ED%B8%82"
      })
  void anotherSpellingOfARecordKeyIsNotRead(String text) {
    assertThat(OperationKey.parse(text)).isEmpty();
  }

  @Test
  @SuppressWarnings("NullAway")
  void everyPartIsRequired() {
    assertThatNullPointerException()
        .isThrownBy(() -> new OperationKey(null, "s", "o"))
        .withMessage("tenant");
    assertThatNullPointerException()
        .isThrownBy(() -> new OperationKey("t", null, "o"))
        .withMessage("scope");
    assertThatNullPointerException()
        .isThrownBy(() -> new OperationKey("t", "s", null))
        .withMessage("operationId");
  }
}
