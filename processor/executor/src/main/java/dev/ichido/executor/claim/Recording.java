package dev.ichido.executor.claim;

import dev.ichido.executor.Report;
import dev.ichido.executor.ResultBody;
import org.jspecify.annotations.Nullable;

/**
 * A result to be kept in its claim row.
 *
 * @param attempt 0 when there is no row, and only the large body is to be kept
 * @param largeBody the body behind the report's handle, if it has one
 */
public record Recording(
    String recordKey, int attempt, Report report, @Nullable ResultBody largeBody) {}
