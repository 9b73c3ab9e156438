package dev.ichido.decision;

/**
 * Why a verdict came out as it did, where the verdict alone does not say. The names are wire
 * format, beside those of {@link dev.ichido.operation.RefusalCode}.
 */
public enum ReasonCode {
  /** No attempt follows: those of the policy are used up; a person resolves or cancels. */
  MAX_ATTEMPTS,
  /** No attempt follows: none starts this late after the first; a person settles or cancels. */
  RETRY_HORIZON,
  /** RETRY_LATER: the next attempt is not due yet. */
  BACKOFF,
  /** RETRY_LATER: the retry budget of the tenant and action is empty. */
  BUDGET_EMPTY,
  /** RETRY_LATER: nothing is known of the operation that this one undoes. */
  ORIGINAL_ABSENT,
  /** RETRY_LATER: an attempt of the operation that this one undoes is running. */
  ORIGINAL_IN_PROGRESS,
  /** RETRY_LATER: it is not known what the operation did that this one undoes. */
  ORIGINAL_UNKNOWN,
  /** RETRY_LATER: the operation that this one undoes may still come to take effect. */
  ORIGINAL_RETRYABLE,
  /** CLAIMED: the same meaning is known under another id, and the policy only reports that. */
  SUSPECTED_REMINT,
  /** The reply is the last one for this delivery although the operation goes on: ask again. */
  WAITING_FULL
}
