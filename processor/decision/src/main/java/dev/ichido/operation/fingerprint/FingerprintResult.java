package dev.ichido.operation.fingerprint;

import dev.ichido.operation.Refusal;

/** A fingerprint, or why there is none. */
public sealed interface FingerprintResult {
  /**
   * The intent has a meaning.
   *
   * @param arguments all of them, the volatile ones too, as they were read for it
   */
  record Taken(Fingerprint fingerprint, CanonicalForm arguments) implements FingerprintResult {}

  /** The arguments have no meaning that can be told for certain. */
  record Refused(Refusal refusal) implements FingerprintResult {}
}
