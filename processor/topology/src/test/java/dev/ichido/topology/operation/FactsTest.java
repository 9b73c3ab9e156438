package dev.ichido.topology.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.Binding;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OriginalStanding;
import dev.ichido.decision.RetryBudget;
import dev.ichido.operation.Intent;
import dev.ichido.operation.Principal;
import dev.ichido.operation.RefusalCode;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.topology.policy.LocatedTree;
import dev.ichido.topology.policy.PolicyLoader;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.wire.Delivery;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FactsTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final OperationState SETTLED =
      new Cancelled(
          1,
          new Binding(
              new Principal("agent:a"), null, "pay.transfer", null, null, null, null, null, null),
          1,
          NOW,
          NOW.plusSeconds(60),
          NOW.plusSeconds(120));

  /** Who cancels could otherwise write the arguments under which the stored result is let go. */
  @Test
  void argumentsOfACancelProveNothingAboutASettledOperation() {
    PolicySet policies =
        policies("authorize: \"principal == 'agent:a' || arguments.amount <= 100\"");
    assertThat(cancel("agent:b", SETTLED, policies).permitted()).isFalse();
    assertThat(cancel("agent:a", SETTLED, policies).permitted()).isTrue();
    assertThat(cancel("agent:b", Absent.NOTHING, policies).permitted()).isTrue();
  }

  /** Else its place would be kept, and nothing could undo the original any more. */
  @Test
  void aCompensationThatIsRefusedAfterItsOriginalGrantedItStillKnowsThat() {
    PolicySet policies = policies("schema: { type: object, required: [reason] }");
    IntentReceived event =
        (IntentReceived)
            new Facts()
                .event(
                    delivery("agent:a", false),
                    Absent.NOTHING,
                    policies,
                    NOW,
                    policy -> RetryBudget.full(NOW),
                    null,
                    OriginalStanding.GRANTED);
    assertThat(Objects.requireNonNull(event.refusal()).code())
        .isEqualTo(RefusalCode.ARGUMENTS_SCHEMA);
    assertThat(event.original()).isEqualTo(OriginalStanding.GRANTED);
  }

  /** Else a limit is passed by whoever writes a number in another way. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          { type: integer, minimum: 1, maximum: 1000 } | 18446744073709551716   | false
          { type: integer, minimum: 1, maximum: 1000 } | 18446744073709551716.0 | false
          { type: integer, minimum: 1, maximum: 1000 } | 1.8446744073709551716e19 | false
          { type: integer, minimum: 1, maximum: 1000 } | 1e19   | false
          { type: integer, minimum: 1, maximum: 1000 } | 1e100  | false
          { type: integer, minimum: 1, maximum: 1000 } | -1e100 | false
          { type: integer, minimum: 1, maximum: 1000 } | 1.5    | false
          { type: integer, minimum: 1, maximum: 1000 } | 1000.0 | true
          { type: integer, minimum: 1, maximum: 1000 } | 1e3    | true
          { type: number, minimum: 1, maximum: 1000 }  | 1e19   | false
          { type: number, minimum: 1, maximum: 1000 }  | 18446744073709551716.5 | false
          { type: number, minimum: 1, maximum: 1000 }  | 999.5  | true
          { type: integer, multipleOf: 2 } | 18446744073709551717.0 | false
          { type: integer, multipleOf: 2 } | 18446744073709551718.0 | true
          { type: integer, multipleOf: 2 } | 18446744073709551717   | false
          { const: [1] }        | [1.0]    | true
          { const: [18446744073709551716] } | [18446744073709551716.0] | true
          { const: 18446744073709551716 } | 18446744073709551717 | false
          { type: integer, maximum: 18446744073709551716 } | 18446744073709551717 | false
          { enum: [[1], [2]] }  | [2e0]    | true
          { uniqueItems: true } | [1, 1.0] | false
          { uniqueItems: true } | [1, 1.5] | true
          """)
  void theSchemaJudgesTheNumberAndNotItsSpelling(String schema, String amount, boolean fits) {
    PolicySet policies = policies("schema: { properties: { amount: " + schema + " } }");
    IntentReceived event = intent("{\"amount\":" + amount + "}", Absent.NOTHING, policies);
    assertThat(event.refusal() == null).isEqualTo(fits);
    assertThat(event.intent().arguments()).contains(amount);
  }

  @Test
  void aDuplicateIsComparedUnderTheListItsOperationWasClaimedWith() {
    String arguments = "{\"amount\":1,\"request_id\":\"q\"}";
    PolicySet before = policies("volatile: [trace_id]");
    PolicySet after = policies("volatile: [request_id]");
    Fingerprint claimed = fingerprint(arguments, Absent.NOTHING, before);
    Fingerprint asNew = fingerprint(arguments, Absent.NOTHING, after);
    assertThat(asNew.matches(claimed)).isFalse();
    assertThat(fingerprint(arguments, settled(claimed), after)).isEqualTo(claimed);

    Fingerprint unnoted =
        new Fingerprint(claimed.version(), claimed.digest(), claimed.memberDigests());
    assertThat(fingerprint(arguments, settled(unnoted), before)).isEqualTo(claimed);
    assertThat(fingerprint(arguments, settled(unnoted), after)).isEqualTo(asNew);
  }

  private static Fingerprint fingerprint(
      String arguments, OperationState state, PolicySet policies) {
    return Objects.requireNonNull(intent(arguments, state, policies).fingerprint());
  }

  private static OperationState settled(Fingerprint fingerprint) {
    return new OperationState.Cancelled(
        1,
        new Binding(
            new Principal("agent:a"),
            fingerprint,
            "pay.transfer",
            null,
            null,
            null,
            null,
            null,
            null),
        1,
        NOW,
        NOW.plusSeconds(60),
        NOW.plusSeconds(120));
  }

  private static IntentReceived intent(String arguments, OperationState state, PolicySet policies) {
    Delivery model = delivery("agent:a", true);
    Intent it = model.intent();
    Intent intent =
        new Intent(
            it.tenant(),
            it.scope(),
            it.operationId(),
            it.deliveryId(),
            it.principal(),
            it.action(),
            null,
            null,
            arguments,
            null,
            null,
            NOW,
            null,
            null,
            null);
    return (IntentReceived)
        new Facts()
            .event(
                new Delivery(intent, "key", false, true),
                state,
                policies,
                NOW,
                policy -> RetryBudget.full(NOW),
                null,
                null);
  }

  private static CancelReceived cancel(String principal, OperationState state, PolicySet policies) {
    return (CancelReceived)
        new Facts()
            .event(
                delivery(principal, true),
                state,
                policies,
                NOW,
                policy -> RetryBudget.full(NOW),
                null,
                null);
  }

  private static Delivery delivery(String principal, boolean cancel) {
    return new Delivery(
        new Intent(
            "t1",
            "global",
            "op-0000000000000001",
            "d-1",
            new Principal(principal),
            "pay.transfer",
            null,
            null,
            "{\"amount\":1}",
            null,
            null,
            NOW,
            null,
            null,
            cancel ? null : "op-0000000000000002"),
        "key",
        cancel,
        true);
  }

  private static PolicySet policies(String member) {
    return PolicyLoader.released()
        .load(
            LocatedTree.read(
                "policy",
                "tenants: { t1: { principals: [\"agent:a\", \"agent:b\"] } }\n"
                    + "actions: { pay.transfer: { effect: write, share: tenant, "
                    + member
                    + " } }"));
  }
}
