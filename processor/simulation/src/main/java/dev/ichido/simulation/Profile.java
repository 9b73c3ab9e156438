package dev.ichido.simulation;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.ActionPolicy.ActionEffect;
import dev.ichido.decision.ActionPolicy.Budget;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.decision.ActionPolicy.Remote;
import dev.ichido.decision.ActionPolicy.Retry;
import dev.ichido.decision.OperationEvent;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationStateMachine;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An action, what its remote is really like, and how bad the weather may become.
 *
 * @param windowMillis how long the remote remembers our key; 0 when it takes no key
 * @param lagMillis how long a status read does not see an effect that took place; negative when
 *     there is no status read
 * @param bounded pauses between the last check and the call, and the time that a call is under way,
 *     stay within {@link #LONGEST_CALL}. Where they do not and the remote honours no key, a second
 *     effect is possible, as the guarantees say
 * @param undoing the second and the third operation undo the first, instead of being its twin and
 *     another tenant's
 * @param clockOff how far a role's clock is off at most; where that is more than {@link
 *     #CLOCK_OFF}, it jumps
 */
public record Profile(
    String name,
    ActionPolicy policy,
    long windowMillis,
    long lagMillis,
    boolean bounded,
    boolean undoing,
    int clockOff) {
  /** In a bounded world, in milliseconds. */
  static final long LONGEST_CALL = 2_500;

  /** How far a role's clock is off where clocks are kept, in milliseconds. */
  private static final int CLOCK_OFF = 400;

  /** Where they are not: by more than a lease, in milliseconds. */
  private static final int CLOCK_FAR_OFF = 12_000;

  /** Name of the action that only reads. */
  static final String READING = "look";

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration WINDOW = SECOND.multipliedBy(60);
  private static final Duration LONG = SECOND.multipliedBy(600);
  private static final AbsentAfter PROOF = new AbsentAfter(2, SECOND.multipliedBy(4));

  /** Every kind of remote contract. */
  public static List<Profile> all() {
    return List.of(
        new Profile("no key, no status read", policy(LONG, null, false, null), 0, -1, false),
        new Profile("status read", policy(LONG, null, false, PROOF), 0, 0, true),
        new Profile("status read, zombies", policy(LONG, null, false, PROOF), 0, 0, false),
        new Profile("status read that lies", policy(LONG, null, false, PROOF), 0, 9_000, true),
        new Profile("key for a window", policy(LONG, WINDOW, true, null), 60_000, -1, true),
        new Profile(
            "key for a window, status read", policy(LONG, WINDOW, true, PROOF), 60_000, 0, true),
        new Profile("key without a window", policy(LONG, null, true, null), 60_000, -1, true),
        new Profile(
            "short retention", policy(SECOND.multipliedBy(20), null, false, PROOF), 0, 0, true),
        new Profile("suspects are held", policy(LONG, null, false, PROOF, Remint.HOLD), 0, 0, true),
        new Profile("compensations", policy(LONG, null, false, PROOF), 0, 0, true, true, CLOCK_OFF),
        new Profile(
            "suspects are held, compensations",
            policy(LONG, null, false, PROOF, Remint.HOLD),
            0,
            0,
            true,
            true,
            CLOCK_OFF),
        farOff("clocks far off, no key, no status read", null, false, -1),
        farOff("clocks far off, key", null, true, -1),
        farOff("clocks far off, status read", PROOF, false, 0),
        farOff("clocks far off, key, status read", PROOF, true, 0));
  }

  private Profile(
      String name, ActionPolicy policy, long windowMillis, long lagMillis, boolean bounded) {
    this(name, policy, windowMillis, lagMillis, bounded, false, CLOCK_OFF);
  }

  private static Profile farOff(
      String name, @Nullable AbsentAfter absentAfter, boolean keyed, long lagMillis) {
    return new Profile(
        name,
        policy(LONG, null, keyed, absentAfter, Remint.REPORT, SECOND.multipliedBy(30)),
        keyed ? LONG.toMillis() : 0,
        lagMillis,
        true,
        false,
        CLOCK_FAR_OFF);
  }

  boolean clocksJump() {
    return clockOff > CLOCK_OFF;
  }

  /**
   * How far the clock of this role is off at most. The time over which nothing is found counts from
   * a processor's clock: where absence is believed, those are kept.
   */
  int clockOff(int role) {
    boolean processor = role == Action.role(1, 0) || role == Action.role(1, 1);
    return processor && policy.remote().absentAfter() != null
        ? Math.min(clockOff, CLOCK_OFF)
        : clockOff;
  }

  /** The policy of the action that only reads. */
  ActionPolicy reading() {
    return new ActionPolicy(
        READING,
        ActionEffect.READ,
        policy.scope(),
        policy.volatileMembers(),
        policy.lease(),
        policy.retention(),
        policy.tombstone(),
        policy.clockSkew(),
        policy.retryHorizon(),
        policy.share(),
        Remint.REPORT,
        policy.remintWindow(),
        policy.schema(),
        policy.authorize(),
        policy.retry(),
        policy.remote());
  }

  /** The policy that an event is decided by. */
  ActionPolicy governing(OperationState state, OperationEvent event) {
    return READING.equals(OperationStateMachine.governingAction(state, event)) ? reading() : policy;
  }

  boolean holdsSuspects() {
    return policy.remint() == Remint.HOLD;
  }

  boolean statusRead() {
    return lagMillis >= 0;
  }

  /** Whether a second effect is possible that the guarantees speak of as a gap. */
  boolean hasGap() {
    return policy.remote().absentAfter() != null
        && windowMillis == 0
        && !(bounded && lagMillis == 0);
  }

  private static ActionPolicy policy(
      Duration retention,
      @Nullable Duration window,
      boolean keyed,
      @Nullable AbsentAfter absentAfter) {
    return policy(retention, window, keyed, absentAfter, Remint.REPORT);
  }

  private static ActionPolicy policy(
      Duration retention,
      @Nullable Duration window,
      boolean keyed,
      @Nullable AbsentAfter absentAfter,
      Remint remint) {
    return policy(retention, window, keyed, absentAfter, remint, SECOND.multipliedBy(2));
  }

  private static ActionPolicy policy(
      Duration retention,
      @Nullable Duration window,
      boolean keyed,
      @Nullable AbsentAfter absentAfter,
      Remint remint,
      Duration clockSkew) {
    ActionPolicy standard = ActionPolicy.standard("act");
    return new ActionPolicy(
        standard.name(),
        standard.effect(),
        standard.scope(),
        Set.of(),
        SECOND.multipliedBy(10),
        retention,
        retention,
        clockSkew,
        SECOND.multipliedBy(40),
        standard.share(),
        remint,
        standard.remintWindow(),
        null,
        standard.authorize(),
        new Retry(true, 4, SECOND, SECOND.multipliedBy(4), new Budget(3, 1, SECOND)),
        new Remote(
            255, keyed, window, DedupeAnchor.FIRST_REQUEST, absentAfter != null, absentAfter));
  }

  @Override
  public String toString() {
    return name;
  }
}
