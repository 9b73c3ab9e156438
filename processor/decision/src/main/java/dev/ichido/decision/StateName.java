package dev.ichido.decision;

/** The states of an operation as replies and the journal name them. */
public enum StateName {
  /** Nothing is known. Only the journal names it; a reply names no state instead. */
  ABSENT,
  /** An attempt runs under a lease. */
  IN_PROGRESS,
  /** The effect took place, and its result is kept. */
  SUCCEEDED,
  /** The last attempt provably did not start. */
  FAILED_RETRYABLE,
  /** The remote refused for good. */
  FAILED_TERMINAL,
  /** It is not known what the last attempt did. */
  UNKNOWN_RECONCILIATION,
  /** Settled long ago: only the identity is kept. */
  EXPIRED,
  /** Cancelled before an attempt could take effect. */
  CANCELLED
}
