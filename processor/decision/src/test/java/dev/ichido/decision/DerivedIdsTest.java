package dev.ichido.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.operation.OperationKey;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ids and delays are wire format: the vectors never change. */
class DerivedIdsTest {

  @Test
  @Tag("FR-06")
  void goldenVectors() {
    assertThat(DerivedIds.execute(Journey.KEY, 1))
        .isEqualTo("25bcbffd-5c71-8013-968f-e90dfd8b8b91");
    assertThat(DerivedIds.execute(Journey.KEY, 2))
        .isEqualTo("263c140a-3928-897b-9f3b-4aa5afd91aa9");
    assertThat(DerivedIds.reconcile(Journey.KEY, 1, 2))
        .isEqualTo("4d1a93f2-6b53-8107-9c25-5605f7debf12");
    assertThat(DerivedIds.read("t1", "global", "d-1"))
        .isEqualTo("a3b7d847-a4ab-8290-b243-7d93e11ce71b");
    assertThat(DerivedIds.read("t".repeat(70_000), "global", "d-1"))
        .isEqualTo("ef2f1588-a774-8551-b942-4370a71f840f");
    assertThat(DerivedIds.sha256(""))
        .isEqualTo("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  }

  @ParameterizedTest
  @Tag("KEY-04-downstream-limit")
  @CsvSource({
    "16,o2enxjjmqe5ewl7a",
    "35,o2enxjjmqe5ewl7afok425pexuqsmsendv7",
    "36,7688dba5-2c81-8a4b-afe0-2b95cd75e4bd",
    "44,7688dba5-2c81-8a4b-afe0-2b95cd75e4bd",
    "45,o2enxjjmqe5ewl7afok425pexuqsmsendv77krbh",
    "63,o2enxjjmqe5ewl7afok425pexuqsmsendv77krbh",
    "64,7688dba52c813a4b2fe02b95cd75e4bd2126488d1d7ff544271110daee1e4851",
    "128,7688dba52c813a4b2fe02b95cd75e4bd2126488d1d7ff544271110daee1e4851",
    "255,7688dba52c813a4b2fe02b95cd75e4bd2126488d1d7ff544271110daee1e4851"
  })
  void downstreamKeyFitsTheLimitAndIsNeverAPartOfTheId(int limit, String expected) {
    String key = DerivedIds.downstream(Journey.KEY, limit);
    assertThat(key).isEqualTo(expected).hasSizeLessThanOrEqualTo(limit);
    assertThat(key).doesNotContain("op-");
  }

  @Test
  void uuidIsOfVersionEightAndTheOtherPartsAreInIt() {
    UUID id = UUID.fromString(DerivedIds.execute(Journey.KEY, 1));
    assertThat(id.version()).isEqualTo(8);
    assertThat(id.variant()).isEqualTo(2);
    Set<String> ids = new HashSet<>();
    for (String tenant : new String[] {"t1", "t2"}) {
      for (String scope : new String[] {"global", "region:a"}) {
        OperationKey key = new OperationKey(tenant, scope, "op-0000000000000001");
        for (int attempt = 1; attempt < 13; attempt++) {
          assertThat(ids.add(DerivedIds.execute(key, attempt))).isTrue();
          for (int read = 1; read < 13; read++) {
            assertThat(ids.add(DerivedIds.reconcile(key, attempt, read))).isTrue();
          }
        }
        assertThat(ids.add(DerivedIds.downstream(key, 36))).isTrue();
        assertThat(ids.add(DerivedIds.read(tenant, scope, "d"))).isTrue();
      }
    }
  }

  @Test
  void partsOfAnIdAreKeptApart() {
    assertThat(DerivedIds.read("a", "bc", "d")).isNotEqualTo(DerivedIds.read("ab", "c", "d"));
    assertThat(DerivedIds.read("a", "b", "cd")).isNotEqualTo(DerivedIds.read("a", "bc", "d"));
  }

  @Test
  void tooShortAKeyIsRefused() {
    assertThat(Policies.keyLimit(Policies.STANDARD, 16).remote().keyLimit()).isEqualTo(16);
    assertThatThrownBy(() -> Policies.keyLimit(Policies.STANDARD, 15))
        .hasMessageContaining("remote.key_limit");
  }

  @Test
  @Tag("RET-01")
  void delaysAreJitteredInFullBetweenNothingAndTheDoubledCeiling() {
    ActionPolicy.Retry retry = Policies.STANDARD.retry();
    long[] ceilings = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    for (int n = 1; n <= ceilings.length; n++) {
      long least = Long.MAX_VALUE;
      long most = 0;
      long sum = 0;
      int draws = 2000;
      for (int i = 0; i < draws; i++) {
        OperationKey key = new OperationKey("t", "global", "op-" + i);
        long delay = Backoff.beforeAttempt(retry, key, n, n).toMillis();
        assertThat(delay).isEqualTo(Backoff.beforeAttempt(retry, key, n, n).toMillis());
        least = Math.min(least, delay);
        most = Math.max(most, delay);
        sum += delay;
      }
      assertThat(least).isBetween(1L, ceilings[n - 1] / 50);
      assertThat(most).isBetween(ceilings[n - 1] * 49 / 50, ceilings[n - 1]);
      assertThat(sum / draws).isBetween(ceilings[n - 1] * 45 / 100, ceilings[n - 1] * 55 / 100);
    }
    assertThat(Backoff.beforeAttempt(retry, Journey.KEY, 1_000_000, 1_000_000))
        .isBetween(Duration.ofMillis(1), Duration.ofSeconds(60));
  }

  @Test
  void delayDependsOnTheWholeKeyAndTheAttempt() {
    ActionPolicy.Retry retry = Policies.STANDARD.retry();
    Set<Duration> delays = new HashSet<>();
    for (OperationKey key :
        new OperationKey[] {
          new OperationKey("t1", "global", "op-1"),
          new OperationKey("t2", "global", "op-1"),
          new OperationKey("t1", "zone:a", "op-1"),
          new OperationKey("t1", "global", "op-2"),
          new OperationKey("t1global", "", "op-1")
        }) {
      delays.add(Backoff.beforeAttempt(retry, key, 1, 7));
      delays.add(Backoff.beforeAttempt(retry, key, 2, 7));
    }
    assertThat(delays).hasSize(10);
    assertThat(Backoff.beforeAttempt(retry, Journey.KEY, 1, 7).toMillis()).isEqualTo(12090L);
  }

  @Test
  void noDelayIsShorterThanAMillisecond() {
    ActionPolicy.Retry none =
        new ActionPolicy.Retry(
            true, 3, Duration.ZERO, Duration.ZERO, Policies.STANDARD.retry().budget());
    assertThat(Backoff.beforeAttempt(none, Journey.KEY, 1, 1)).isEqualTo(Duration.ofMillis(1));
  }
}
