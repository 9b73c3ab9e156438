package dev.ichido.decision;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A success that was reported for an operation of which nothing is known. The intent that follows
 * is not claimed but reconciled.
 *
 * @param attempt that was reported on, from 1
 * @param forgetAt when the evidence is dropped
 */
public record OrphanEvidence(
    String resultId,
    int attempt,
    @Nullable String remoteReference,
    Instant reportedAt,
    Instant forgetAt) {
  public OrphanEvidence {
    Objects.requireNonNull(resultId, "resultId");
    Objects.requireNonNull(reportedAt, "reportedAt");
    Objects.requireNonNull(forgetAt, "forgetAt");
  }
}
