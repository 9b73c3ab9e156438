package dev.ichido.decision;

import org.jspecify.annotations.Nullable;

/**
 * The one word for what was decided on an event. The names are wire format: replies, the journal
 * and the counters carry them.
 *
 * <p>For an intent the order of precedence is the order of declaration up to {@link #CLAIMED}: the
 * first that applies is the verdict. What comes first hides what comes later, so that a caller who
 * may not ask learns nothing, not even whether a fingerprint matched.
 */
public enum Verdict {
  /** The event is malformed or asks for what cannot be; its code says how. Nothing is used up. */
  INVALID(Fault.CONTRACT),
  /** The principal may not do this. The reply says nothing about the operation. */
  UNAUTHORIZED(Fault.AUTHORIZATION),
  /** A read: a command leaves for each delivery, no record is kept, nothing is replayed. */
  PASSED_THROUGH,
  /** Nothing is known of the operation and it is older than everything that is remembered. */
  LATE_REPLAY,
  /** The operation was settled; its result is no longer kept, its identity is. */
  EXPIRED,
  /** The operation is known with another meaning. The record is untouched. */
  FINGERPRINT_MISMATCH,
  /** The operation was cancelled and starts no attempt. */
  CANCELLED,
  /** The operation is settled; the stored result is given again. */
  REPLAYED,
  /** It is not known what some attempt did; nothing is started until that is settled. */
  HELD_UNKNOWN,
  /** An attempt is running under a lease. */
  DUPLICATE_IN_PROGRESS,
  /**
   * No attempt took effect, provably; the next one is not due or not allowed. Also: what the
   * operation undoes has not taken effect yet; nothing is known of it and nobody waits.
   */
  RETRY_LATER,
  /** The next attempt is started. */
  RECLAIMED,
  /** The same meaning is known under another id; the intent waits for a discriminator. */
  HELD_SUSPECT,
  /** The operation is new; its first attempt is started. */
  CLAIMED,

  /** A report settled the operation, or settled that its outcome is unknown. */
  SETTLED,
  /** A success arrived where none was expected any more. */
  LATE_SUCCESS,
  /** A report of no consequence for the operation: ignored and counted. */
  STALE_RESULT,
  /** A report that was taken before: ignored and counted. */
  DUPLICATE_RESULT,
  /** A second success with another remote reference: the effect happened twice. */
  SECOND_EFFECT,
  /** A report on an operation of which nothing is known. */
  ORPHAN_RESULT,
  /** The lease ended without a report; what the attempt did is unknown. */
  LEASE_EXPIRED,
  /** A status read settled the operation. */
  RECONCILED,
  /** A status read or its deadline came and the outcome is still unknown. */
  STILL_UNKNOWN,
  /** A person settled the operation. */
  RESOLVED,

  /** Of the original: it noted the one operation that may undo it. Journalled, never replied. */
  COMPENSATION_GRANTED,
  /** Of the original: the operation that it had noted gave up. Journalled, never replied. */
  COMPENSATION_RELEASED,

  /**
   * Nothing is decided: a deadline that is stale, a question that changes nothing, or an intent
   * that has to ask the original first. Internal: it is never journalled and never replied.
   */
  NOTHING_DUE;

  /** What is wrong with a record that is kept for a person beside its reply. */
  public enum Fault {
    /** It breaks a rule. */
    CONTRACT,
    /** Who wrote it may not. */
    AUTHORIZATION
  }

  private final @Nullable Fault fault;

  Verdict() {
    this(null);
  }

  Verdict(@Nullable Fault fault) {
    this.fault = fault;
  }

  /** What is wrong with the record that was decided on; null where nothing is. */
  public @Nullable Fault fault() {
    return fault;
  }

  /**
   * Whether a delivery that was answered with this verdict waits for what becomes of the operation.
   */
  public boolean leavesWaiting() {
    return switch (this) {
      case CLAIMED, RECLAIMED, DUPLICATE_IN_PROGRESS, HELD_UNKNOWN, RETRY_LATER -> true;
      case INVALID,
          UNAUTHORIZED,
          PASSED_THROUGH,
          LATE_REPLAY,
          EXPIRED,
          FINGERPRINT_MISMATCH,
          CANCELLED,
          REPLAYED,
          HELD_SUSPECT,
          SETTLED,
          LATE_SUCCESS,
          STALE_RESULT,
          DUPLICATE_RESULT,
          SECOND_EFFECT,
          ORPHAN_RESULT,
          LEASE_EXPIRED,
          RECONCILED,
          STILL_UNKNOWN,
          RESOLVED,
          COMPENSATION_GRANTED,
          COMPENSATION_RELEASED,
          NOTHING_DUE ->
          false;
    };
  }
}
