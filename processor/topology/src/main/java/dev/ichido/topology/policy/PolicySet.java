package dev.ichido.topology.policy;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.ActionPolicy.ActionEffect;
import dev.ichido.decision.ActionPolicy.Budget;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.decision.ActionPolicy.Remote;
import dev.ichido.decision.ActionPolicy.Retry;
import dev.ichido.decision.ActionPolicy.Share;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A loaded policy: what the processor holds intents against. Immutable; a reload is another set.
 *
 * @param tenants by name
 * @param actions by name
 */
public record PolicySet(Map<String, TenantPolicy> tenants, Map<String, ActionRules> actions) {
  private static final Budget NO_RETRIES = new Budget(0, 0, Duration.ofHours(1));

  public PolicySet {
    tenants = Map.copyOf(tenants);
    actions = Map.copyOf(actions);
  }

  /** Whether any action holds a suspected re-mint. */
  public boolean holdsRemints() {
    for (ActionRules rules : actions.values()) {
      if (rules.policy().remint() == Remint.HOLD) {
        return true;
      }
    }
    return false;
  }

  public Optional<TenantPolicy> findTenant(String name) {
    return Optional.ofNullable(tenants.get(name));
  }

  /** May this person settle an operation of the tenant? An agent never may, of whichever tenant. */
  public boolean mayResolve(String tenant, String person) {
    return tenants.values().stream().noneMatch(it -> it.principals().contains(person))
        && findTenant(tenant).map(it -> it.isOperator(person)).orElse(false);
  }

  /**
   * The policy that decides on an operation. An action that the policy no longer has, or has as a
   * read, keeps what it has and starts nothing any more; where no action is named, the policy that
   * remembers longest is taken.
   */
  public ActionPolicy governing(@Nullable String action) {
    if (action == null) {
      return writing()
          .max(Comparator.comparing(it -> it.horizon().plus(it.clockSkew())))
          .orElseGet(() -> ActionPolicy.standard("(none)"));
    }
    ActionRules rules = actions.get(action);
    if (rules == null) {
      return forgotten(action);
    }
    ActionPolicy policy = rules.policy();
    return policy.effect() == ActionEffect.READ ? ceased(policy) : policy;
  }

  /** How old an operation of any action may be for its absence to say that it never was. */
  public Duration shortestHorizon() {
    return writing()
        .map(ActionPolicy::horizon)
        .min(Comparator.naturalOrder())
        .orElseGet(() -> governing(null).horizon());
  }

  /** How far ahead of us the issue time of an operation of any action may be. */
  public Duration longestClockSkew() {
    return writing()
        .map(ActionPolicy::clockSkew)
        .max(Comparator.naturalOrder())
        .orElseGet(() -> governing(null).clockSkew());
  }

  private Stream<ActionPolicy> writing() {
    return actions.values().stream()
        .map(ActionRules::policy)
        .filter(it -> it.effect() == ActionEffect.WRITE);
  }

  private ActionPolicy forgotten(String action) {
    ActionPolicy longest = governing(null);
    return new ActionPolicy(
        action,
        longest.effect(),
        longest.scope(),
        Set.of(),
        longest.lease(),
        longest.retention(),
        longest.tombstone(),
        longest.clockSkew(),
        longest.retryHorizon(),
        Share.SAME_PRINCIPAL,
        longest.remint(),
        longest.remintWindow(),
        null,
        "false",
        new Retry(false, 1, longest.retry().initial(), longest.retry().max(), NO_RETRIES),
        new Remote(
            longest.remote().keyLimit(), false, null, DedupeAnchor.FIRST_REQUEST, true, null));
  }

  /** How a read is called is not held against what makes a repeated write safe. */
  private static ActionPolicy ceased(ActionPolicy read) {
    Remote remote = read.remote();
    return new ActionPolicy(
        read.name(),
        read.effect(),
        read.scope(),
        read.volatileMembers(),
        read.lease(),
        read.retention(),
        read.tombstone(),
        read.clockSkew(),
        read.retryHorizon(),
        read.share(),
        read.remint(),
        read.remintWindow(),
        read.schema(),
        read.authorize(),
        new Retry(false, 1, read.retry().initial(), read.retry().max(), NO_RETRIES),
        new Remote(
            remote.keyLimit(),
            false,
            null,
            DedupeAnchor.FIRST_REQUEST,
            remote.statusRead(),
            remote.absentAfter()));
  }

  public Optional<ActionRules> findAction(String name) {
    return Optional.ofNullable(actions.get(name));
  }
}
