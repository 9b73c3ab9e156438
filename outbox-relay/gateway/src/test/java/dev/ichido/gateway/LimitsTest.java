package dev.ichido.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;

class LimitsTest {
  @Test
  void oneTenantsRateIsNotAnothers() {
    Limits limits = new Limits(1, 10);
    Caller one = new Caller("one", "p");
    limits.count(one);
    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> limits.count(one))
        .satisfies(
            e -> {
              assertThat(e.code()).isEqualTo(ProblemCode.RATE_LIMITED);
              assertThat(e.retryAfter()).isNotNull();
            });
    limits.count(new Caller("two", "p"));
  }

  @Test
  void theRateOfASecondMayComeAtOnce() {
    Limits limits = new Limits(1_000, 10);
    for (int i = 0; i < 1_000; i++) {
      limits.count(new Caller("one", "p"));
    }
  }

  @Test
  void aPlaceThatIsGivenBackIsFreeAgain() {
    Limits limits = new Limits(10, 1);
    limits.takePlace();
    assertThat(limits.taken()).isEqualTo(1);
    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(limits::takePlace)
        .satisfies(e -> assertThat(e.code()).isEqualTo(ProblemCode.WAITING_FULL));
    limits.givePlaceBack();
    limits.takePlace();
  }
}
