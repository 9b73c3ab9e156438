package dev.ichido.operation.fingerprint;

import dev.ichido.operation.Refusal;

/** A fingerprint, or why there is none. */
public sealed interface FingerprintResult {
  /** The intent has a meaning. */
  record Taken(Fingerprint fingerprint) implements FingerprintResult {}

  /** The arguments have no meaning that can be told for certain. */
  record Refused(Refusal refusal) implements FingerprintResult {}
}
