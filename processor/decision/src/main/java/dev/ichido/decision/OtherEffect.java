package dev.ichido.decision;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A further effect of an operation that had taken effect already.
 *
 * @param attempt that it is reported of
 */
public record OtherEffect(
    String resultId, @Nullable String remoteReference, int attempt, Instant reportedAt) {
  public OtherEffect {
    Objects.requireNonNull(resultId, "resultId");
    Objects.requireNonNull(reportedAt, "reportedAt");
  }
}
