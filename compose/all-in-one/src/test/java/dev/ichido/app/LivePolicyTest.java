package dev.ichido.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.config.ConfigException;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.executor.ExecutorException;
import dev.ichido.topology.policy.PolicyException;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LivePolicyTest {
  private static final String FIRST = "actions: { a: { effect: write } }";

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @Test
  void aChangedTextIsTakenOnce() {
    try (LivePolicy policy = watched()) {
      policy.bindTo(meters);
      List<PolicySet> taken = new ArrayList<>();
      policy.take(loaded -> taken.add(loaded.rules()));
      String second = "actions: { a: { effect: write }, b: { effect: read } }";
      policy.look(() -> second);
      assertThat(policy.rules().actions()).as("it may be half written").containsOnlyKeys("a");
      policy.look(() -> second);
      policy.look(() -> second);
      assertThat(policy.rules().actions()).containsOnlyKeys("a", "b");
      assertThat(taken).hasSize(2).last().isSameAs(policy.rules());
      assertThat(count("ichido.policy.reloads")).isEqualTo(1);
      assertThat(count("ichido.policy.refusals")).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "actions: { a: { leese: 1s } }",
        "actions: { a: { effect: write, http: { method: POST } } }",
        "actions: { a: { effect: write, retention: 300d } }",
        "actions: { a: { effect: write, remote: { dedupes_on_key: true, dedupe_window: 24h },"
            + " http: { url: 'https://a.example/x' } } }",
        "akshuns: {}",
        "{",
        "",
        "# nothing yet",
        "actions: { a: { effect: write, mcp: { server: s, tool: t, identity: invoice } } }",
        "actions: { a: { effect: write, mcp: { server: s, tool: t },"
            + " http: { url: 'https://a.example/x' } } }",
      })
  void whatCannotBeLoadedIsRefusedWhole(String text) {
    try (LivePolicy policy = watched()) {
      policy.bindTo(meters);
      PolicySet before = policy.rules();
      look(policy, text);
      assertThat(policy.rules()).isSameAs(before);
      assertThat(count("ichido.policy.refusals")).isEqualTo(1);
    }
  }

  @Test
  void whatCannotBeWorkedThroughIsRefusedAndTheNextIsTaken() {
    try (LivePolicy policy = watched()) {
      policy.bindTo(meters);
      look(
          policy,
          "actions: { a: { effect: write, schema: %s%s } }"
              .formatted("{not: ".repeat(50_000), "{}" + "}".repeat(50_000)));
      assertThat(count("ichido.policy.refusals")).isEqualTo(1);
      look(policy, "actions: { b: { effect: write } }");
      assertThat(policy.rules().actions()).containsOnlyKeys("b");
    }
  }

  @Test
  void whatARoleRefusesIsRefused() {
    try (LivePolicy policy = watched()) {
      policy.bindTo(meters);
      policy.take(
          loaded -> {
            if (loaded.rules().actions().size() > 1) {
              throw ExecutorException.hiddenRetry("x");
            }
          });
      look(policy, "actions: { a: { effect: write }, b: { effect: read } }");
      assertThat(policy.rules().actions()).containsOnlyKeys("a");
      assertThat(count("ichido.policy.refusals")).isEqualTo(1);
    }
  }

  @Test
  void theFirstMustBeRight() {
    assertThatThrownBy(() -> LivePolicy.fixed(config("actions: { a: { leese: 1s } }")))
        .isInstanceOf(PolicyException.class);
    assertThatThrownBy(
            () -> LivePolicy.fixed(config("executor: { claim_retention: 1d }\n" + FIRST)))
        .isInstanceOf(ConfigException.class);
  }

  private static LivePolicy watched() {
    return LivePolicy.of(new ConfigLoader(name -> null), "ichido.yaml", FIRST);
  }

  private static void look(LivePolicy policy, String text) {
    policy.look(() -> text);
    policy.look(() -> text);
  }

  private double count(String name) {
    return meters.get(name).functionCounter().count();
  }

  private static IchidoConfig config(String text) {
    return new ConfigLoader(name -> null).load("ichido.yaml", text);
  }
}
