package dev.ichido.bench;

import java.time.Instant;

/**
 * One request of a runtime.
 *
 * @param kind what it is to the ledger, and with it the verdicts that are right
 */
record Call(
    String tenant,
    String action,
    String operationId,
    String arguments,
    Instant issuedAt,
    Kind kind) {
  enum Kind {
    FIRST,
    DUPLICATE,
    MISMATCH,
    LATE
  }

  /** A duplicate may be told what the first call is told, when that still runs. */
  boolean isRight(String verdict) {
    return switch (kind) {
      case FIRST -> verdict.equals("SETTLED");
      case DUPLICATE -> verdict.equals("REPLAYED") || verdict.equals("SETTLED");
      case MISMATCH -> verdict.equals("FINGERPRINT_MISMATCH");
      case LATE -> verdict.equals("LATE_REPLAY");
    };
  }
}
