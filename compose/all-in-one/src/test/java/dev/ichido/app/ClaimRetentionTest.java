package dev.ichido.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.config.ConfigException;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A claim is kept for as long as any operation of any action could miss it. */
class ClaimRetentionTest {
  @ParameterizedTest
  @CsvSource({
    // retention + tombstone of the default policy
    "'{}', P31DT5M",
    "'{ retention: 1h, tombstone: 1h }', P7DT5M",
    "'{ retention: 1h, tombstone: 1h, retry_horizon: 9d, clock_skew: 1m }', P9DT1M",
    "'{ retention: 60d }', P90DT5M",
  })
  void byDefaultItIsTheLongestThatAnActionAsksFor(String action, Duration expected) {
    assertThat(LivePolicy.fixed(config("{}", action)).claimRetention()).isEqualTo(expected);
  }

  @Test
  void aLongerTimeIsTakenAndAShorterOneRefused() {
    assertThat(LivePolicy.fixed(config("{ claim_retention: 40d }", "{}")).claimRetention())
        .isEqualTo(Duration.ofDays(40));
    assertThatThrownBy(() -> LivePolicy.fixed(config("{ claim_retention: 31d }", "{}")))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.code()).isEqualTo("CLAIM_RETENTION_SHORT"))
        .hasMessageContaining("PT744H5M");
  }

  private static IchidoConfig config(String executor, String action) {
    return new ConfigLoader(name -> null)
        .load(
            "ichido.yaml",
            """
            executor: %s
            tenants: { t1: { principals: ["agent:a"] } }
            actions: { short: { retention: 1h, tombstone: 1h }, pay: %s }
            """
                .formatted(executor, action));
  }
}
