package dev.ichido.executor.fake;

/** What goes wrong with one request. */
public enum RemoteFault {
  /** Nothing: the effect and its answer. */
  CLEAN,
  /** The effect takes place, and no answer ever comes. */
  ACCEPT_THEN_TIME_OUT,
  /** The effect takes place, and the answer is a 500. */
  ERROR_AFTER_SETTLING,
  /** No effect, and the answer is a 500. */
  ERROR_BEFORE_SETTLING,
  /** The effect takes place, and its answer comes twice on the wire. */
  ANSWERS_TWICE,
  /** The effect takes place, and the answer comes late, but in time. */
  SLOW_ANSWER,
  /** The effect takes place, no answer comes, and asking for it later gives a 503. */
  STATUS_READ_UNAVAILABLE,
  /** No effect, and an answer that the contract declares to be safe (503 with Retry-After). */
  DECLARED_SAFE,
  /** The effect takes place, and the answer's bytes come one by one, without end. */
  SLOW_LORIS,
  /** The effect takes place, and the connection is reset in the middle of the answer. */
  RESET_MID_BODY,
  /** The effect takes place, and the connection is closed without an answer. */
  CLOSED_WITHOUT_ANSWER,
  /** The request is read, and the connection is closed before anything is done. */
  CLOSED_BEFORE_SETTLING,
  /**
   * The effect takes place, no answer comes, and asking for it soon after gives a 404 that lies.
   */
  LYING_NOT_FOUND,
  /** The effect takes place, and the answer is far larger than anybody wants. */
  HUGE_ANSWER,
  /** No effect: the answer points somewhere else. */
  REDIRECT
}
