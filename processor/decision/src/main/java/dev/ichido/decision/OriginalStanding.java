package dev.ichido.decision;

/** How an operation stands to the one that would undo it, as its owner tells. */
public enum OriginalStanding {
  /** It took effect, and the one that asks may undo it; no other one may. */
  GRANTED,
  /** Nothing is known of it, so it may still come. */
  ABSENT,
  /** An attempt runs. */
  IN_PROGRESS,
  /** Nobody knows what its last attempt did. */
  UNKNOWN,
  /** It has not taken effect, and a next attempt may. */
  RETRYABLE,
  /** It did not take effect and starts no attempt. */
  WITHOUT_EFFECT,
  /** Another operation was let undo it. */
  TAKEN,
  /** Who asks may not learn of it. */
  WITHHELD
}
