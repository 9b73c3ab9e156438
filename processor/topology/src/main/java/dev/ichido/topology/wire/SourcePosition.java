package dev.ichido.topology.wire;

import org.jspecify.annotations.Nullable;

/**
 * Where a record stood, and its bytes.
 *
 * @param timestamp milliseconds since the epoch
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; the bytes go through as they are.
public record SourcePosition(
    String topic,
    int partition,
    long offset,
    long timestamp,
    byte @Nullable [] key,
    byte @Nullable [] value) {}
