package dev.ichido.topology.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TokenBucketTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final long PER_SECOND = TokenBucket.microsPerToken(1, Duration.ofSeconds(1));

  @Test
  void tokensComeAtTheirRateAndNeverExceedTheSize() {
    TokenBucket empty = TokenBucket.full(2, START).drawn().drawn();
    assertThat(empty.tokens()).isZero();
    assertThat(empty.nextAt(PER_SECOND)).isEqualTo(START.plusSeconds(1));
    assertThat(empty.at(START.plusMillis(999), 2, PER_SECOND).tokens()).isZero();
    assertThat(empty.at(START.plusSeconds(1), 2, PER_SECOND).tokens()).isEqualTo(1);
    assertThat(empty.at(START.plusSeconds(90), 2, PER_SECOND).tokens()).isEqualTo(2);
  }

  @Test
  void whatHasPassedOfATokenIsNotLost() {
    TokenBucket bucket = TokenBucket.full(1, START).drawn();
    for (int i = 1; i <= 9; i++) {
      bucket = bucket.at(START.plusMillis(100L * i), 1, PER_SECOND);
      assertThat(bucket.tokens()).isZero();
    }
    assertThat(bucket.at(START.plusSeconds(1), 1, PER_SECOND).tokens()).isEqualTo(1);
  }

  @Tag("RET-02")
  @Test
  void aBucketThatIsNeverRefilledStaysEmpty() {
    long never = TokenBucket.microsPerToken(0, Duration.ofSeconds(1));
    TokenBucket empty = TokenBucket.full(1, START).drawn();
    assertThat(empty.at(START.plus(Duration.ofDays(9_999)), 1, never).tokens()).isZero();
    assertThat(empty.nextAt(never)).isAfter(START.plus(Duration.ofDays(9_999)));
  }

  @Test
  void aClockThatStepsBackTakesNothing() {
    TokenBucket bucket = TokenBucket.full(3, START).drawn();
    assertThat(bucket.at(START.minusSeconds(60), 3, PER_SECOND)).isEqualTo(bucket);
  }

  @Test
  void aSmallerBucketHoldsLess() {
    assertThat(TokenBucket.full(10, START).at(START, 4, PER_SECOND).tokens()).isEqualTo(4);
  }

  @Test
  void whoWaitsHasATokenOfItsOwn() {
    TokenBucket bucket = TokenBucket.full(1, START).drawn();
    for (int i = 1; i <= 3; i++) {
      Instant next = bucket.nextAt(PER_SECOND);
      assertThat(next).isEqualTo(START.plusSeconds(i));
      bucket = bucket.promised(next);
    }
    bucket = bucket.at(START.plusSeconds(1), 1, PER_SECOND);
    assertThat(bucket.tokens()).as("is there for who comes for it").isEqualTo(1);
    assertThat(bucket.drawn().nextAt(PER_SECOND)).isEqualTo(START.plusSeconds(4));
    bucket = bucket.at(START.plusSeconds(60), 1, PER_SECOND).drawn();
    assertThat(bucket.nextAt(PER_SECOND)).as("what is over").isEqualTo(START.plusSeconds(61));
  }

  @Test
  void theNextTokenIsNeverEarlierThanItIsThere() {
    long third = TokenBucket.microsPerToken(3, Duration.ofSeconds(1));
    TokenBucket empty = TokenBucket.full(1, START).drawn();
    Instant next = empty.nextAt(third);
    assertThat(empty.at(next, 1, third).tokens()).isEqualTo(1);
    assertThat(empty.at(next.minusMillis(1), 1, third).tokens()).isZero();
  }

  @Test
  void whatIsReadIsWhatWasWritten() {
    TokenBucket bucket = new TokenBucket(Long.MAX_VALUE, -5, 7);
    assertThat(TokenBucket.of(bucket.bytes())).isEqualTo(bucket);
    byte[] before = ByteBuffer.allocate(16).putLong(3).putLong(5).array();
    assertThat(TokenBucket.of(before)).isEqualTo(new TokenBucket(3, 5, 0));
  }
}
