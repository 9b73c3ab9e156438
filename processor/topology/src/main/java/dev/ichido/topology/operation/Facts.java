package dev.ichido.topology.operation;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.ActionPolicy.ActionEffect;
import dev.ichido.decision.ActionPolicy.ScopeKind;
import dev.ichido.decision.OperationEvent;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.Terms;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OriginalStanding;
import dev.ichido.decision.RetryBudget;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationId;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.Refusal;
import dev.ichido.operation.RefusalCode;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.operation.fingerprint.FingerprintResult;
import dev.ichido.operation.fingerprint.FingerprintVersions;
import dev.ichido.operation.fingerprint.Fingerprinter;
import dev.ichido.operation.fingerprint.IntentMeaning;
import dev.ichido.topology.policy.ActionRules;
import dev.ichido.topology.policy.Authorization;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.policy.TenantPolicy;
import dev.ichido.topology.wire.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns a delivery into an event: what validation found, what the policy allows, what the intent
 * means. Facts only; ordering and judging them is the decision's.
 */
final class Facts {
  /** Deeper and longer than the strict parser of the fingerprint lets through. */
  private static final ObjectMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(256)
                          .maxNumberLength(1_000)
                          .maxStringLength(4 << 20)
                          .maxNameLength(4 << 20)
                          .build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS)
          .build();

  private static final Terms NOT_ASKED =
      new Terms(ActionEffect.WRITE, Duration.ZERO, Duration.ZERO);

  private static final String NO_SUCH = "the policy has no such one";

  /** Characters of the name of a region or zone. */
  private static final int LONGEST_PLACE = 255;

  private final FingerprintVersions versions = FingerprintVersions.released();

  /**
   * The event that a delivery is.
   *
   * @param budget of an action, the retry budget as it stands
   * @param suspectOf operation id under which the same meaning is known, where a look-up found one
   * @param original how the operation stands that the intent's would undo, where it was asked
   */
  OperationEvent event(
      Delivery delivery,
      OperationState state,
      PolicySet policies,
      Instant at,
      Function<ActionPolicy, RetryBudget> budget,
      @Nullable String suspectOf,
      @Nullable OriginalStanding original) {
    return delivery.cancel()
        ? cancel(delivery, state, policies, at)
        : intent(delivery, state, policies, at, budget, suspectOf, original);
  }

  private IntentReceived intent(
      Delivery delivery,
      OperationState state,
      PolicySet policies,
      Instant at,
      Function<ActionPolicy, RetryBudget> budget,
      @Nullable String suspectOf,
      @Nullable OriginalStanding original) {
    Intent intent = delivery.intent();
    String action = intent.action();
    Optional<TenantPolicy> tenant = policies.findTenant(intent.tenant());
    Optional<ActionRules> rules = action == null ? Optional.empty() : policies.findAction(action);
    if (tenant.isEmpty()) {
      return refused(intent, at, RefusalCode.TENANT_UNKNOWN.because(NO_SUCH), original);
    }
    if (action == null || rules.isEmpty()) {
      return refused(
          intent,
          at,
          RefusalCode.ACTION_UNKNOWN.because(action == null ? "none is named" : NO_SUCH),
          original);
    }
    ActionPolicy policy = rules.get().policy();
    boolean writes = policy.effect() != ActionEffect.READ;
    Optional<Refusal> refusal =
        addressing(
                delivery,
                fits(policy.scope(), intent.scope()),
                writes || intent.operationId() != null)
            .or(() -> writes ? undoing(intent) : Optional.empty());
    if (refusal.isPresent()) {
      return refused(intent, at, refusal.get(), original);
    }
    FingerprintResult.Taken taken;
    switch (fingerprinter(state)
        .fingerprint(
            tenant.get().fingerprintKey(),
            meaning(intent, action, volatileMembers(state, policy)))) {
      case FingerprintResult.Taken it -> taken = it;
      case FingerprintResult.Refused no -> {
        return refused(intent, at, no.refusal(), original);
      }
    }
    // Schema and authorization judge what the fingerprint does: 1 and 1.0 are one number to each.
    JsonNode arguments = CanonicalTree.of(taken.arguments());
    Optional<String> misfit = rules.get().schema().flatMap(it -> it.findMisfit(arguments));
    if (misfit.isPresent()) {
      return refused(intent, at, RefusalCode.ARGUMENTS_SCHEMA.because(misfit.get()), original);
    }
    boolean permitted =
        delivery.principalNamed()
            && rules
                .get()
                .authorize()
                .permits(
                    tenant.get(), intent.principal().name(), action, intent.target(), arguments);
    ActionPolicy governing =
        boundAction(state).flatMap(policies::findAction).map(ActionRules::policy).orElse(policy);
    return new IntentReceived(
        intent,
        at,
        null,
        permitted,
        Terms.of(policy),
        writes || state.isBoundTo(action) ? taken.fingerprint() : null,
        budget.apply(governing),
        suspectOf,
        original);
  }

  private static IntentReceived refused(
      Intent intent, Instant at, Refusal refusal, @Nullable OriginalStanding original) {
    return new IntentReceived(
        intent, at, refusal, false, NOT_ASKED, null, RetryBudget.full(at), null, original);
  }

  /**
   * A cancel is held against what its intent is held against, as far as it names it. It is
   * authorized like the intent it stops: under the action, target and arguments of the operation
   * where they are kept, else under what the cancel names. Where neither names an action, the
   * tenant's list of principals decides. A settled operation keeps no arguments, and a cancel's own
   * prove nothing about it: whose it is, is refused only by what is known.
   */
  private static CancelReceived cancel(
      Delivery delivery, OperationState state, PolicySet policies, Instant at) {
    Intent intent = delivery.intent();
    Optional<TenantPolicy> tenant = policies.findTenant(intent.tenant());
    Optional<Refusal> refusal =
        tenant.isEmpty()
            ? Optional.of(RefusalCode.TENANT_UNKNOWN.because(NO_SUCH))
            : misnamed(delivery, policies);
    boolean permitted =
        delivery.principalNamed()
            && tenant.isPresent()
            && mayCancel(tenant.get(), intent, state, policies);
    return new CancelReceived(
        intent.tenant(),
        intent.scope(),
        intent.operationId(),
        at,
        intent.principal(),
        intent.deliveryId(),
        intent.issuedAt(),
        horizon(intent.action(), policies),
        clockSkew(intent.action(), policies),
        refusal.orElse(null),
        permitted);
  }

  private static Optional<Refusal> misnamed(Delivery cancel, PolicySet policies) {
    String action = cancel.intent().action();
    String scope = cancel.intent().scope();
    if (action == null) {
      boolean fits = Arrays.stream(ScopeKind.values()).anyMatch(kind -> fits(kind, scope));
      return addressing(cancel, fits, true);
    }
    return policies
        .findAction(action)
        .map(rules -> addressing(cancel, fits(rules.policy().scope(), scope), true))
        .orElseGet(() -> Optional.of(RefusalCode.ACTION_UNKNOWN.because(NO_SUCH)));
  }

  private static Duration horizon(@Nullable String action, PolicySet policies) {
    return Optional.ofNullable(action)
        .flatMap(policies::findAction)
        .map(rules -> rules.policy().horizon())
        .orElseGet(policies::shortestHorizon);
  }

  private static Duration clockSkew(@Nullable String action, PolicySet policies) {
    return Optional.ofNullable(action)
        .flatMap(policies::findAction)
        .map(rules -> rules.policy().clockSkew())
        .orElseGet(policies::longestClockSkew);
  }

  private static boolean mayCancel(
      TenantPolicy tenant, Intent intent, OperationState state, PolicySet policies) {
    String principal = intent.principal().name();
    Optional<String> bound = boundAction(state);
    String action = bound.orElse(intent.action());
    if (action == null) {
      return tenant.principals().contains(principal);
    }
    Optional<ActionRules> rules = policies.findAction(action);
    if (rules.isEmpty()) {
      return false;
    }
    Authorization authorize = rules.get().authorize();
    String target = state instanceof Known known ? known.binding().target() : intent.target();
    if (isSettledOf(state, intent.principal())) {
      return authorize.mayPermit(tenant, principal, action, target);
    }
    String text =
        switch (state) {
          case Absent s -> intent.arguments();
          case Open s -> s.work().arguments();
          case Known s -> "{}";
        };
    JsonNode arguments = parse(text);
    return arguments != null && authorize.permits(tenant, principal, action, target, arguments);
  }

  private static boolean isSettledOf(OperationState state, Principal principal) {
    return state instanceof Known known
        && !(state instanceof Open)
        && known.binding().principal().equals(principal);
  }

  private static Optional<String> boundAction(OperationState state) {
    return switch (state) {
      case Absent s -> Optional.empty();
      case Known s -> Optional.ofNullable(s.binding().action());
    };
  }

  private static Optional<Refusal> addressing(
      Delivery delivery, boolean scopeFits, boolean byItsId) {
    if (!scopeFits) {
      return Optional.of(RefusalCode.SCOPE_MISMATCH.because("it does not"));
    }
    Optional<Refusal> refusal =
        byItsId ? OperationId.check(delivery.intent().operationId()) : Optional.empty();
    return refusal.or(() -> tooLong(delivery.recordKey().length()));
  }

  /** Everybody after the processor takes the key of its records, so none may be too long. */
  private static Optional<Refusal> tooLong(int recordKey) {
    return recordKey > OperationKey.MAX_RECORD_KEY
        ? Optional.of(
            RefusalCode.SCOPE_MISMATCH.because(
                "with it the record key has " + recordKey + " characters"))
        : Optional.empty();
  }

  private static Optional<Refusal> undoing(Intent intent) {
    String original = intent.compensates();
    if (original == null) {
      return Optional.empty();
    }
    if (original.equals(intent.operationId())) {
      return Optional.of(RefusalCode.COMPENSATES_INVALID.because("it is the intent's own"));
    }
    return OperationId.check(original)
        .map(it -> RefusalCode.COMPENSATES_INVALID.because("it is none (" + it.code() + ")"));
  }

  private static boolean fits(ScopeKind kind, String scope) {
    return switch (kind) {
      case GLOBAL -> scope.equals("global");
      case REGION -> isNamed(scope, "region:");
      case ZONE -> isNamed(scope, "zone:");
    };
  }

  private static boolean isNamed(String scope, String kind) {
    int length = scope.length() - kind.length();
    return length <= LONGEST_PLACE
        && scope.startsWith(kind)
        && !scope.substring(kind.length()).isBlank();
  }

  private Fingerprinter fingerprinter(OperationState state) {
    Fingerprint stored = state instanceof Known known ? known.comparable() : null;
    return stored == null ? versions.current() : versions.require(stored.version());
  }

  /** A duplicate is compared under the list that its operation was claimed with. */
  private static Set<String> volatileMembers(OperationState state, ActionPolicy policy) {
    Fingerprint stored = state instanceof Known known ? known.comparable() : null;
    Set<String> noted = stored == null ? null : stored.volatileMembers();
    return noted == null ? policy.volatileMembers() : noted;
  }

  private static IntentMeaning meaning(Intent intent, String action, Set<String> volatileMembers) {
    return new IntentMeaning(
        action,
        intent.actionVersion(),
        intent.target(),
        intent.arguments(),
        intent.precondition(),
        volatileMembers);
  }

  private static @Nullable JsonNode parse(String arguments) {
    try {
      return JSON.readTree(arguments);
    } catch (JsonProcessingException e) {
      return null;
    }
  }
}
