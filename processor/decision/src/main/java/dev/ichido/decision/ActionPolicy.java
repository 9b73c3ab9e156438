package dev.ichido.decision;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the policy says of one action. Durations are never negative.
 *
 * <p>The decision reads the times and contracts. {@code volatileMembers}, {@code scope}, {@code
 * schema} and {@code authorize} are carried for the adapter, which turns them into facts of an
 * event: a refusal, a permission, a fingerprint.
 *
 * @param name of the action
 * @param effect whether the action changes something
 * @param scope where the remote's own dedupe holds
 * @param volatileMembers top-level arguments that carry no meaning
 * @param lease how long an attempt may run before its outcome counts as unknown
 * @param retention how long a result is replayed, from settlement
 * @param tombstone how long the bare identity is remembered after that
 * @param clockSkew how far ahead of us an issue time may be
 * @param retryHorizon no attempt starts later than this after the first
 * @param share who may have the result beside the principal that claimed
 * @param remint what happens to the same meaning under another id
 * @param remintWindow how long after its settlement an operation is still a suspect's twin
 * @param schema JSON Schema of the arguments, as text
 * @param authorize CEL expression, as text
 */
public record ActionPolicy(
    String name,
    ActionEffect effect,
    ScopeKind scope,
    Set<String> volatileMembers,
    Duration lease,
    Duration retention,
    Duration tombstone,
    Duration clockSkew,
    Duration retryHorizon,
    Share share,
    Remint remint,
    Duration remintWindow,
    @Nullable String schema,
    String authorize,
    Retry retry,
    Remote remote) {

  /** Whether an action changes something. */
  public enum ActionEffect {
    READ,
    WRITE
  }

  /** Where the remote's own dedupe holds. */
  public enum ScopeKind {
    GLOBAL,
    REGION,
    ZONE
  }

  /** Who may have the result of an operation. */
  public enum Share {
    /** Only the principal that first claimed it. */
    SAME_PRINCIPAL,
    /** Every principal of the tenant that is authorized for the action. */
    TENANT
  }

  /** What happens to the same tenant, action and fingerprint under another id. */
  public enum Remint {
    /** It runs, and the journal says so. */
    REPORT,
    /** It is held until it carries a discriminator. */
    HOLD
  }

  /** What a dedupe window of the remote counts from. */
  public enum DedupeAnchor {
    FIRST_REQUEST,
    LAST_REQUEST
  }

  /**
   * When a next attempt starts.
   *
   * @param auto whether the next attempt starts when it is due, without a further intent
   * @param maxAttempts from 1
   * @param initial ceiling of the first delay; doubled with each attempt
   * @param max ceiling of every delay
   */
  public record Retry(
      boolean auto, int maxAttempts, Duration initial, Duration max, Budget budget) {
    public Retry {
      requireLength("retry.initial", initial);
      requireLength("retry.max", max);
      Objects.requireNonNull(budget, "budget");
      if (maxAttempts < 1) {
        throw unexpected("retry.max_attempts", "of at least 1", Integer.toString(maxAttempts));
      }
    }
  }

  /**
   * A token bucket.
   *
   * @param tokens its size, from 0
   * @param refillTokens how many tokens come per {@code refillPeriod}
   */
  public record Budget(long tokens, long refillTokens, Duration refillPeriod) {
    public Budget {
      requireLength("retry.budget.refill", refillPeriod);
      if (tokens < 0 || refillTokens < 0) {
        throw unexpected(
            "retry.budget", "without negative counts", tokens + " and " + refillTokens);
      }
    }
  }

  /**
   * What the remote promises.
   *
   * @param keyLimit longest idempotency key in characters, from 16
   * @param dedupesOnKey whether a second request under our key has no second effect
   * @param dedupeWindow for how long it does not; null when the remote does not say
   * @param dedupeAnchor what the window counts from
   * @param statusRead whether the remote can be asked what happened
   * @param absentAfter how often and how long nothing must be found until it is proof; null when
   *     absence never is
   */
  public record Remote(
      int keyLimit,
      boolean dedupesOnKey,
      @Nullable Duration dedupeWindow,
      DedupeAnchor dedupeAnchor,
      boolean statusRead,
      @Nullable AbsentAfter absentAfter) {
    /** A shorter key would be too easy to meet by chance: 16 characters of base 32 are 80 bits. */
    public static final int SHORTEST_KEY_LIMIT = 16;

    /** So that an executor can start at all under a contract that asks for one look. */
    private static final Duration SHORTEST_START = Duration.ofSeconds(1);

    public Remote {
      Objects.requireNonNull(dedupeAnchor, "dedupeAnchor");
      if (dedupeWindow != null) {
        requireLength("remote.dedupe_window", dedupeWindow);
      }
      if (keyLimit < SHORTEST_KEY_LIMIT) {
        throw unexpected(
            "remote.key_limit", "of at least " + SHORTEST_KEY_LIMIT, Integer.toString(keyLimit));
      }
    }

    /**
     * How long after its claim was asked for a call may start, so that it did when absence is
     * believed; null where absence never is.
     */
    @Nullable Duration startWithin() {
      if (!statusRead || absentAfter == null) {
        return null;
      }
      Duration over = absentAfter.over();
      return over.compareTo(SHORTEST_START) > 0 ? over : SHORTEST_START;
    }
  }

  /**
   * What proves that nothing took effect.
   *
   * @param reads status reads that must find nothing, from 1
   * @param over shortest time from the first of them to the last
   */
  public record AbsentAfter(int reads, Duration over) {
    public AbsentAfter {
      requireLength("remote.absent_after.over", over);
      if (reads < 1) {
        throw unexpected("remote.absent_after.reads", "of at least 1", Integer.toString(reads));
      }
    }
  }

  public ActionPolicy {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(effect, "effect");
    Objects.requireNonNull(scope, "scope");
    volatileMembers = Set.copyOf(volatileMembers);
    requireLength("lease", lease);
    requireLength("retention", retention);
    requireLength("tombstone", tombstone);
    requireLength("clock_skew", clockSkew);
    requireLength("retry_horizon", retryHorizon);
    Objects.requireNonNull(share, "share");
    Objects.requireNonNull(remint, "remint");
    requireLength("remint_window", remintWindow);
    Objects.requireNonNull(authorize, "authorize");
    Objects.requireNonNull(retry, "retry");
    Objects.requireNonNull(remote, "remote");
    if (lease.isZero()) {
      throw unexpected("lease", "longer than nothing", "nothing");
    }
  }

  /**
   * How old an operation may be to be taken for new: results and identities reach back this far.
   */
  public Duration horizon() {
    return retention.plus(tombstone);
  }

  /** A writing action under the default policy. */
  public static ActionPolicy standard(String name) {
    return new ActionPolicy(
        name,
        ActionEffect.WRITE,
        ScopeKind.GLOBAL,
        Set.of(),
        Duration.ofSeconds(60),
        Duration.ofHours(24),
        Duration.ofDays(30),
        Duration.ofMinutes(5),
        Duration.ofHours(1),
        Share.SAME_PRINCIPAL,
        Remint.REPORT,
        Duration.ofHours(1),
        null,
        "principal in tenant.principals",
        new Retry(
            true,
            3,
            Duration.ofSeconds(1),
            Duration.ofSeconds(60),
            new Budget(10, 1, Duration.ofSeconds(1))),
        new Remote(
            255,
            false,
            null,
            DedupeAnchor.FIRST_REQUEST,
            true,
            new AbsentAfter(3, Duration.ofSeconds(30))));
  }

  private static void requireLength(String member, Duration length) {
    Objects.requireNonNull(length, member);
    if (length.isNegative()) {
      throw unexpected(member, "that is not negative", length.toString());
    }
  }

  private static IllegalArgumentException unexpected(String member, String wanted, String was) {
    return new IllegalArgumentException(
        "Expected a %s %s, but it was %s. Check the policy.".formatted(member, wanted, was));
  }
}
