package dev.ichido.topology.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DeadlineKeyTest {
  @Test
  void theOrderOfBytesIsTheOrderOfTime() {
    List<DeadlineKey> inOrder =
        Stream.of(0L, 1L, 127L, 128L, 255L, 256L, 65_535L, 1_767_225_600_000L, Long.MAX_VALUE)
            .flatMap(due -> Stream.of("", "k1/a", "k1/b").map(key -> new DeadlineKey(due, key)))
            .toList();
    List<DeadlineKey> sorted =
        inOrder.reversed().stream()
            .map(DeadlineKey::bytes)
            .sorted(Arrays::compareUnsigned)
            .map(DeadlineKey::of)
            .toList();
    assertThat(sorted).isEqualTo(inOrder);
  }
}
