package dev.ichido.executor.claim;

import dev.ichido.executor.Report;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Asks for one attempt.
 *
 * @param revocation the result that is recorded with the row when the attempt is forbidden instead
 *     of performed; null for a claim
 */
public record ClaimRequest(
    String recordKey,
    int attempt,
    String commandId,
    String action,
    @Nullable Instant deadline,
    @Nullable Report revocation) {}
