package dev.ichido.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.relay.SlotLoss;
import dev.ichido.topology.Guarantee;
import dev.ichido.topology.policy.PolicyException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigLoaderTest {
  @TempDir Path temp;

  private final ConfigLoader loader = new ConfigLoader(Map.of("PW", "from-env")::get);

  @Test
  void sectionsAreLaidOverTheirDefaults() {
    IchidoConfig config =
        loader.load(
            "ichido.yaml",
            """
            kafka:
              bootstrap.servers: broker:9092
              ssl.enabled: true
              request.timeout.ms: 5000
            topics: { partitions: 12 }
            processor: { commit_interval: 1m, threads: 3 }
            """);
    assertThat(config.kafka().values())
        .containsExactly(
            Map.entry("bootstrap.servers", "broker:9092"),
            Map.entry("ssl.enabled", "true"),
            Map.entry("request.timeout.ms", "5000"));
    assertThat(config.topics()).isEqualTo(new IchidoConfig.Topics("ichido", 12, (short) 1));
    assertThat(config.processor().commitInterval()).isEqualTo(Duration.ofMinutes(1));
    assertThat(config.processor().threads()).isEqualTo(3);
    assertThat(config.processor().sweepInterval()).isEqualTo(Duration.ofMillis(100));
    assertThat(config.outbox().slot()).isEqualTo("ichido_outbox");
  }

  @Test
  void theGuaranteeIsExactlyOnceUnlessTheOtherIsAskedFor() {
    assertThat(loader.load("ichido.yaml", "").processor().guarantee())
        .isEqualTo(Guarantee.EXACTLY_ONCE_V2);
    assertThat(
            loader
                .load("ichido.yaml", "processor: { guarantee: at_least_once }")
                .processor()
                .guarantee())
        .isEqualTo(Guarantee.AT_LEAST_ONCE);
    assertThatThrownBy(() -> loader.load("ichido.yaml", "processor: { guarantee: at_most_once }"))
        .hasMessageContaining("processor.guarantee")
        .hasMessageContaining("one of exactly_once_v2, at_least_once");
  }

  @Test
  void aTypoIsNamedWithItsLineAndTheNearestKey() {
    assertThatThrownBy(
            () ->
                loader.load(
                    "ichido.yaml",
                    """
                    kafka:
                      bootstrap.servers: broker:9092
                    outbox:
                      url: jdbc:postgresql://db/app
                      pasword: secret
                    """))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.code()).isEqualTo("CONFIG_KEY_UNKNOWN"))
        .hasMessageContaining("line 5 of ichido.yaml")
        .hasMessageContaining("outbox.pasword")
        .hasMessageContaining("Did you mean password?")
        .hasMessageNotContaining("secret");
  }

  @Test
  void anUnknownSectionIsNamedWithItsLine() {
    assertThatThrownBy(() -> loader.load("ichido.yaml", "\n\nproccessor: { threads: 2 }\n"))
        .hasMessageContaining("line 3")
        .hasMessageContaining("Did you mean processor?");
  }

  @Test
  void aNestedKeyIsNamedWithItsPath() {
    assertThatThrownBy(
            () -> loader.load("c.yaml", "executor:\n  database:\n    usr: x\n    user: y\n"))
        .hasMessageContaining("line 3")
        .hasMessageContaining("executor.database.usr")
        .hasMessageContaining("Did you mean user?");
  }

  @Test
  void aValueOfAnotherKindIsNamedWithItsLine() {
    assertThatThrownBy(() -> loader.load("c.yaml", "topics:\n  partitions: many\n"))
        .hasMessageContaining("a whole number for topics.partitions")
        .hasMessageContaining("line 2");
    assertThatThrownBy(() -> loader.load("c.yaml", "processor:\n  sweep_interval: often\n"))
        .hasMessageContaining("a duration such as 500ms")
        .hasMessageContaining("line 2");
    assertThatThrownBy(() -> loader.load("c.yaml", "topics: 4\n"))
        .hasMessageContaining("keys and values for topics");
  }

  @Test
  void aChoiceIsWrittenInSmallLettersAndAnotherWordIsRefused() {
    assertThat(loader.load("c.yaml", "relay: { slot_lost: refuse }\n").relay().slotLost())
        .isEqualTo(SlotLoss.REFUSE);
    assertThatThrownBy(() -> loader.load("c.yaml", "relay:\n  slot_lost: ignore\n"))
        .hasMessageContaining("line 2")
        .hasMessageContaining("one of backfill, refuse");
  }

  @Test
  void secretsComeFromTheEnvironmentAndFromFiles() throws IOException {
    Path file = Files.writeString(temp.resolve("pw"), "from-file\n");
    IchidoConfig config =
        loader.load(
            "c.yaml",
            """
            outbox: { password: "${env:PW}" }
            inbox: { database: { password: "${file:%s}" } }
            kafka: { sasl.jaas.config: "x password=${env:PW};" }
            tenants: { t1: { key: "${env:PW}" } }
            """
                .formatted(file));
    assertThat(config.outbox().password()).isEqualTo("from-env");
    assertThat(config.inbox().database().password()).isEqualTo("from-file");
    assertThat(config.kafka().values()).containsEntry("sasl.jaas.config", "x password=from-env;");
    assertThat(config.policy().root().at("/tenants/t1/key").asText()).isEqualTo("from-env");
  }

  @Test
  void aMissingSecretIsNamedAndNothingElseIs() {
    assertThatThrownBy(
            () -> loader.load("c.yaml", "outbox:\n  user: u\n  password: ${env:NOT_SET}\n"))
        .hasMessageContaining("NOT_SET")
        .hasMessageContaining("line 3")
        .hasMessageContaining("outbox.password");
    assertThatThrownBy(() -> loader.load("c.yaml", "outbox: { password: '${file:/no/such}' }"))
        .hasMessageContaining("/no/such");
  }

  @Test
  void noSecretIsPrinted() {
    String text =
        loader
            .load(
                "c.yaml",
                """
                kafka: { sasl.jaas.config: hidden-1 }
                registry: { basic.auth.user.info: hidden-2 }
                outbox: { password: hidden-3 }
                executor: { database: { password: hidden-4 } }
                inbox: { database: { password: hidden-5 } }
                tenants: { t1: { key: hidden-6 } }
                """)
            .toString();
    assertThat(text).contains("sasl.jaas.config").doesNotContain("hidden");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "outbox:\n  password: @hidden\n",
        "outbox:\n  password: %hidden\n",
        "outbox:\n  password: `hidden\n",
        "outbox:\n  password: 'hidden\n",
        "outbox:\n  password: \"hid\\den\"\n",
        "outbox:\n  password: hidden: more\n",
        "outbox:\n  password: *hidden\n",
        "outbox:\n  password: !hidden x\n",
        "outbox:\n  password: &hidden x\n",
        "outbox:\n  url: jdbc:postgres://h/db?password=hidden\n",
        "inbox: { database: { url: 'jdbc:postgres://h/db?password=hidden' } }",
        "gateway: { jwt: { issuer: i, audience: a, jwks: 'https://u:hidden@h/ x' } }",
        "outbox: { password: '${ENV:hidden}' }",
        "outbox: { password: '${hidden}' }",
        "outbox: { password: '${env:hidden' }",
      })
  void aValueThatCannotBeReadIsNotPrinted(String text) {
    assertThatThrownBy(() -> loader.load("c.yaml", text))
        .isInstanceOfAny(ConfigException.class, PolicyException.class)
        .satisfies(e -> assertThat(Throwables.getStackTrace(e)).doesNotContain("hidden"));
  }

  /** YAML of old reads some of them as other numbers. */
  @ParameterizedTest
  @ValueSource(strings = {"0123456", "0x1F", "1_000", "+5", "123456", "1.50", "0o17", "12e03x"})
  void aTextIsWhatIsWritten(String password) {
    assertThat(loader.load("c.yaml", "outbox:\n  password: " + password).outbox().password())
        .isEqualTo(password);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "processor: { sweep_batch: 0 }",
        "processor: { threads: 0 }",
        "processor: { standbys: -1 }",
        "processor: { commit_interval: 0s }",
        "processor: { sweep_interval: 0ms }",
        "processor: { inline_body_bytes: -1 }",
        "topics: { partitions: 0 }",
        "http: { port: 99999 }",
        "executor: { handler_timeout: 0s }",
        "executor: { inline_body_limit: -1 }",
        "executor: { claim_retention: 36501d }",
      })
  void whatWouldStopARoleIsRefused(String text) {
    assertThatThrownBy(() -> loader.load("c.yaml", text))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.code()).isEqualTo("CONFIG_VALUE_WRONG"))
        .hasMessageContaining("line 1");
  }

  @Test
  void aMissingFileIsSaid() {
    assertThatThrownBy(() -> loader.load(temp.resolve("none.yaml")))
        .hasMessageContaining("there is no such file");
  }
}
