package dev.ichido.executor;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the executor tells the processor: the result of an attempt or a read, or the answer of a
 * status read.
 *
 * @param resultId equal when the same report is sent again
 * @param body the answer as text, null when there is none or it is kept under the handle
 * @param bodySha256 handle of a body that is kept in {@code ichido.result_body}
 */
public record Report(
    Kind kind,
    Finding finding,
    String resultId,
    @Nullable String reference,
    @Nullable String body,
    @Nullable String bodySha256,
    long bodyBytes,
    @Nullable Integer schema,
    @Nullable String reason,
    @Nullable Integer remoteStatus,
    int remoteCalls,
    @Nullable Duration retryAfter,
    Instant at) {

  /** What is reported on. */
  public enum Kind {
    ATTEMPT,
    READ,
    RECONCILE
  }

  /**
   * What was found; the first four of an attempt, COMMITTED, ABSENT and UNKNOWN of a status read.
   */
  public enum Finding {
    SUCCEEDED,
    FAILED_RETRYABLE,
    FAILED_TERMINAL,
    UNKNOWN,
    COMMITTED,
    ABSENT
  }

  @Override
  public String toString() {
    return kind + " " + finding + (reason == null ? "" : " " + reason);
  }
}
