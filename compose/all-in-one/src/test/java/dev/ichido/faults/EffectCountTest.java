package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.faults.EffectCount.Range;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EffectCountTest {
  @Test
  void tooManyTooFewAndUnaskedAreToldApart() {
    Map<String, Range> expected =
        Map.of(
            "a", Range.ONCE,
            "b", Range.ONCE,
            "c", Range.ONCE,
            "refused", new Range(0, 0),
            "maybe", new Range(0, 1));
    assertThat(EffectCount.of(expected, Map.of("a", 1, "b", 3, "refused", 1, "stranger", 2)))
        .isEqualTo(new EffectCount(2, 2, 1, 7, 3, 1, 1));
  }
}
