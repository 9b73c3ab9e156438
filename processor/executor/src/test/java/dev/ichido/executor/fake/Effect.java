package dev.ichido.executor.fake;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Something that a remote did.
 *
 * @param reference the remote's own name of it
 * @param operation what the caller did it for, as the caller's arguments tell it
 * @param key the idempotency key of the request, if the remote takes one
 */
public record Effect(
    String reference, String operation, @Nullable String key, String request, Instant at) {}
