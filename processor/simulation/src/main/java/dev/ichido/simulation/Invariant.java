package dev.ichido.simulation;

/** What holds in every world, whatever happens in it. */
public enum Invariant {
  /** An operation takes effect at most once. */
  AT_MOST_ONE_EFFECT,
  /** A second effect that a gap of the contract allows is reported. */
  SECOND_EFFECT_IS_REPORTED,
  /** What took effect is what was claimed. */
  EFFECT_IS_WHAT_WAS_CLAIMED,
  /** An operation is undone once, and after it took effect. */
  UNDONE_ONCE,
  /** Where suspects are held, one meaning takes effect under one id. */
  SUSPECT_IS_HELD,
  /** An operation is answered with its own result and no other's. */
  NO_FALSE_DEDUPE,
  /** A settled result stays, but for a late success and a reconciled one. */
  SETTLED_STAYS,
  /** Nobody is told of an effect that did not take place, nor of a failure that did. */
  TRUTH,
  /** No lease is called over while a report of its attempt, sent before its end, is unread. */
  HEARD_BEFORE_UNKNOWN,
  /** The numbers of attempts grow, and each leaves once. */
  ATTEMPTS_GROW,
  /** Rows reach the topic without a gap, in commit order. */
  RELAY_IN_COMMIT_ORDER,
  /** Whatever was committed is settled, unknown or refused in the end. */
  NOTHING_LOST,
  /** An unknown is settled where the remote can be asked. */
  UNKNOWN_IS_SETTLED,
  /** Every delivery is answered, and finally where the operation is over. */
  EVERY_DELIVERY_ANSWERED,
  /** The model of the processors does what the shipped topology does. */
  AS_SHIPPED
}
