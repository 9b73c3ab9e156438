package dev.ichido.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PreferenceTest {
  private static final Duration LONGEST = Duration.ofMinutes(2);

  @Test
  void aWaitIsReadAndHeldToTheLongest() {
    assertThat(parse("wait=10").atMost()).isEqualTo(Duration.ofSeconds(10));
    assertThat(parse("return=minimal, Wait = 7; x=1").atMost()).isEqualTo(Duration.ofSeconds(7));
    assertThat(parse("wait=999999").atMost()).isEqualTo(LONGEST);
    assertThat(parse("wait=0").atMost()).isEqualTo(Duration.ZERO);
  }

  @Test
  void whatCanNotBeReadIsIgnored() {
    assertThat(parse("wait=soon").atMost()).isNull();
    assertThat(parse("wait=-1").atMost()).isNull();
    assertThat(parse("").atMost()).isNull();
  }

  @Test
  void anAnswerAtOnceIsGivenOnlyWhereNoWaitIsAskedFor() {
    assertThat(parse("respond-async").async()).isTrue();
    assertThat(parse("respond-async, wait=5").async()).isFalse();
    assertThat(Preference.parse(List.of("respond-async", "wait=5"), LONGEST).atMost())
        .isEqualTo(Duration.ofSeconds(5));
  }

  private static Preference parse(String line) {
    return Preference.parse(List.of(line), LONGEST);
  }
}
