package dev.ichido.topology.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.ActionPolicy.ScopeKind;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyLoaderTest {
  private static PolicySet load(String yaml) {
    return PolicyLoader.released().load(LocatedTree.read("policy.yaml", yaml));
  }

  private static PolicyException refused(String yaml) {
    PolicyException refusal = catchThrowableOfType(PolicyException.class, () -> load(yaml));
    assertThat(refusal).isNotNull();
    return refusal;
  }

  private static ActionPolicy action(String members) {
    return load("actions:\n  a: { " + members + " }\n").findAction("a").orElseThrow().policy();
  }

  @Test
  void leftOutMembersTakeTheDefaultPolicy() {
    assertThat(action("effect: write"))
        .usingRecursiveComparison()
        .isEqualTo(ActionPolicy.standard("a"));
  }

  @Test
  void everyMemberIsRead() {
    ActionPolicy policy =
        action(
            "effect: write, scope: region, volatile: [t], lease: 5s, retention: 2h, tombstone: 3d,"
                + " clock_skew: 1m, retry_horizon: 30m, share: tenant, remint: hold,"
                + " remint_window: 2h, retry: { auto: false, max_attempts: 7, initial: 10ms, max: 2s,"
                + " budget: { tokens: 4, refill: 30/m } }, remote: { key_limit: 36,"
                + " dedupes_on_key: true, dedupe_window: 6h, dedupe_anchor: last_request,"
                + " status_read: false, absent_after: { reads: 5, over: 1m } }, http: { any: thing }");
    assertThat(policy.scope()).isEqualTo(ScopeKind.REGION);
    assertThat(policy.volatileMembers()).containsExactly("t");
    assertThat(policy.lease()).isEqualTo(Duration.ofSeconds(5));
    assertThat(policy.horizon()).isEqualTo(Duration.ofHours(74));
    assertThat(policy.share()).isEqualTo(ActionPolicy.Share.TENANT);
    assertThat(policy.remint()).isEqualTo(ActionPolicy.Remint.HOLD);
    assertThat(policy.remintWindow()).isEqualTo(Duration.ofHours(2));
    assertThat(policy.retry().auto()).isFalse();
    assertThat(policy.retry().maxAttempts()).isEqualTo(7);
    assertThat(policy.retry().budget())
        .isEqualTo(new ActionPolicy.Budget(4, 30, Duration.ofMinutes(1)));
    assertThat(policy.remote())
        .isEqualTo(
            new ActionPolicy.Remote(
                36,
                true,
                Duration.ofHours(6),
                DedupeAnchor.LAST_REQUEST,
                false,
                new ActionPolicy.AbsentAfter(5, Duration.ofMinutes(1))));
  }

  @Test
  void anUnknownMemberIsNamedWithItsLine() {
    PolicyException refusal =
        refused(
            """
            tenants:
              t1: { principals: ["agent:a"] }
            actions:
              pay.transfer:
                effect: write
                leese: 60s
            """);
    assertThat(refusal.code()).isEqualTo("POLICY_MEMBER_UNKNOWN");
    assertThat(refusal).hasMessageContaining("/actions/pay.transfer/leese (line 6)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tenant: {}",
        "tenants: { t1: { principals: [], operator: [] } }",
        "actions: { a: { retry: { attempts: 3 } } }",
        "actions: { a: { retry: { budget: { token: 3 } } } }",
        "actions: { a: { remote: { window: 3h } } }",
        "actions: { a: { remote: { absent_after: { read: 3 } } } }",
        "outbox: { age: 3d }"
      })
  void unknownMembersAreRefusedAtEveryDepth(String yaml) {
    assertThat(refused(yaml).code()).isEqualTo("POLICY_MEMBER_UNKNOWN");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lease: 60",
        "lease: 0s",
        "lease: '-1s'",
        "retention: 1w",
        "retention: 36501d",
        "lease: 999999999d",
        "effect: writes",
        "scope: world",
        "volatile: t",
        "volatile: [1]",
        "retry: { max_attempts: 0 }",
        "retry: { max_attempts: 1.5 }",
        "retry: { auto: yes please }",
        "retry: { budget: { refill: 1/d } }",
        "retry: { budget: { tokens: -1 } }",
        "remote: { key_limit: 8 }",
        "remote: { dedupe_anchor: none }",
        "retry: [1]"
      })
  void aValueOfAnotherShapeIsRefused(String members) {
    assertThat(refused("actions: { a: { " + members + " } }").code())
        .isEqualTo("POLICY_VALUE_WRONG");
  }

  @Test
  void aTenantNamesItsPrincipals() {
    assertThat(refused("tenants: { t1: {} }").code()).isEqualTo("POLICY_MEMBER_MISSING");
  }

  @Test
  void aShortKeyIsRefusedAndNeverPrinted() {
    PolicyException refusal = refused("tenants: { t1: { principals: [], key: hunter2 } }");
    assertThat(refusal.code()).isEqualTo("POLICY_VALUE_WRONG");
    assertThat(refusal).hasMessageNotContaining("hunter2");
    TenantPolicy tenant =
        load("tenants: { t1: { principals: [], key: a-secret-of-sixteen-bytes } }")
            .findTenant("t1")
            .orElseThrow();
    assertThat(tenant.toString()).doesNotContain("sixteen");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a: [",
        "a: 1\na: 2",
        "a: 1\n---\nb: 2",
        "\"a",
        "a: &b 1",
        "a: [&b 1, *b]",
        "a: !!str 1"
      })
  void textThatIsNoDocumentIsRefused(String yaml) {
    assertThat(refused(yaml).code()).isEqualTo("POLICY_NOT_READABLE");
  }

  @Tag("FR-45")
  @Tag("TTL-12")
  @ParameterizedTest
  @CsvSource({
    "23h, 59m, true",
    "23h, 1h, false",
    "24h, 0s, false",
    "48h, 5m, false",
    "22h, 5m, true"
  })
  void aHorizonMustEndBeforeTheWindow(String horizon, String skew, boolean accepted) {
    String yaml =
        """
        actions:
          a: { retry_horizon: %s, clock_skew: %s, remote: { dedupes_on_key: true, dedupe_window: 24h } }
        """
            .formatted(horizon, skew);
    if (accepted) {
      assertThat(load(yaml).actions()).hasSize(1);
    } else {
      assertThat(refused(yaml).code()).isEqualTo("WINDOW_EXCEEDED");
    }
  }

  @Test
  void aProviderBringsItsWindowUnlessAnotherIsStated() {
    assertThat(action("remote: { provider: stripe }").remote())
        .returns(Duration.ofHours(24), ActionPolicy.Remote::dedupeWindow)
        .returns(255, ActionPolicy.Remote::keyLimit)
        .returns(true, ActionPolicy.Remote::dedupesOnKey);
    assertThat(action("remote: { provider: stripe, dedupe_window: null }").remote().dedupeWindow())
        .isNull();
    assertThat(action("remote: { provider: stripe, dedupe_window: 6h }").remote().dedupeWindow())
        .isEqualTo(Duration.ofHours(6));
    assertThat(
            refused("actions: { a: { retry_horizon: 30h, remote: { provider: stripe } } }").code())
        .isEqualTo("WINDOW_EXCEEDED");
    assertThat(refused("actions: { a: { remote: { provider: strype } } }").code())
        .isEqualTo("PROVIDER_UNKNOWN");
  }

  @Test
  void everyProviderOfTheCatalogueCanBeUsed() {
    assertThat(ProviderCatalogue.released().entries().keySet())
        .contains("stripe", "adyen", "square", "paypal")
        .allSatisfy(
            provider ->
                assertThat(
                        action(
                            "retry_horizon: 1m, clock_skew: 1s, remote: { provider: "
                                + provider
                                + " }"))
                    .isNotNull());
  }

  @Test
  void anOverlayMergesMemberByMemberAndReplacesLists() {
    LocatedTree under = LocatedTree.read("u", "a: { b: { c: 1, d: [1, 2] }, e: 2 }");
    LocatedTree over = LocatedTree.read("o", "a: { b: { d: [3] }, f: null }");
    assertThat(PolicyLoader.overlay(under.root(), over.root()).toString())
        .isEqualTo("{\"a\":{\"b\":{\"c\":1,\"d\":[3]},\"e\":2,\"f\":null}}");
    assertThat(under.root().toString()).contains("[1,2]");
  }

  @Test
  void anActionThatIsGoneStartsNothing() {
    ActionPolicy gone = load("actions: { a: { retention: 90d } }").governing("b");
    assertThat(gone.retry().auto()).isFalse();
    assertThat(gone.remote().dedupesOnKey()).isFalse();
    assertThat(gone.remote().absentAfter()).isNull();
    assertThat(gone.retention()).isEqualTo(Duration.ofDays(90));
  }

  @Test
  void whatWasClaimedOfAnActionThatOnlyReadsNowStartsNothing() {
    PolicySet policies =
        load(
            "actions: { a: { effect: read, retention: 90d, share: tenant, remote: {"
                + " dedupes_on_key: true, dedupe_window: 24h } } }");
    ActionPolicy read = policies.governing("a");
    assertThat(read.retry().auto()).isFalse();
    assertThat(read.retry().maxAttempts()).isEqualTo(1);
    assertThat(read.remote().dedupesOnKey()).isFalse();
    assertThat(read.retention()).isEqualTo(Duration.ofDays(90));
    assertThat(read.share()).isEqualTo(ActionPolicy.Share.TENANT);
  }

  @Test
  void operatorsAreNamesOrGlobsAndNeverTheAgents() {
    PolicySet open =
        load("tenants: { t: { principals: [agent] }, other: { principals: [its-agent] } }");
    assertThat(open.mayResolve("t", "anyone")).isTrue();
    assertThat(open.mayResolve("t", "agent")).isFalse();
    assertThat(open.mayResolve("t", "its-agent")).isFalse();
    assertThat(open.mayResolve("none", "anyone")).isFalse();
    PolicySet named =
        load(
            "tenants: { t: { principals: [agent], operators: ['ops-*', eve, agent, ops-agent] },"
                + " other: { principals: [ops-agent] } }");
    assertThat(named.mayResolve("t", "ops-1")).isTrue();
    assertThat(named.mayResolve("t", "eve")).isTrue();
    assertThat(named.mayResolve("t", "evelyn")).isFalse();
    assertThat(named.mayResolve("t", "devops-1")).isFalse();
    assertThat(named.mayResolve("t", "agent")).isFalse();
    assertThat(named.mayResolve("t", "ops-agent")).isFalse();
  }

  @Test
  void aLargerDocumentIsReadOnlyInItsTwoMembers() {
    LocatedTree tree = LocatedTree.read("ichido.yaml", "http: { port: 1 }\nactions: { a: {} }");
    assertThat(PolicyLoader.released().loadFrom(tree, Ages.UNSTATED).actions()).containsKey("a");
    assertThatThrownBy(() -> PolicyLoader.released().load(tree))
        .isInstanceOf(PolicyException.class);
  }
}
