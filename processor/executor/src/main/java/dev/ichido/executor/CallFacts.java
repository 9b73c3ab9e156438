package dev.ichido.executor;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the calls behind an outcome.
 *
 * @param remoteStatus status code of the answer, if there was one
 * @param remoteCalls calls that were sent to the remote
 * @param retryAfter the remote's own wish before the next call, at most {@link
 *     #LONGEST_RETRY_AFTER}
 */
public record CallFacts(
    @Nullable Integer remoteStatus, int remoteCalls, @Nullable Duration retryAfter) {

  /** A remote's wish to wait is heeded up to this. */
  public static final Duration LONGEST_RETRY_AFTER = Duration.ofDays(1);

  /** Nothing was sent. */
  public static final CallFacts NONE = new CallFacts(null, 0, null);

  /** One call was sent and nothing more is known. */
  public static final CallFacts ONE_CALL = new CallFacts(null, 1, null);

  public CallFacts {
    if (retryAfter != null) {
      retryAfter =
          retryAfter.compareTo(LONGEST_RETRY_AFTER) > 0
              ? LONGEST_RETRY_AFTER
              : retryAfter.isNegative() ? Duration.ZERO : retryAfter;
    }
  }
}
