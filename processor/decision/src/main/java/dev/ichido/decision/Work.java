package dev.ichido.decision;

import dev.ichido.operation.Intent;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a next attempt needs beside the {@link Binding}. Kept only while one may follow.
 *
 * @param arguments JSON text as the runtime first wrote it
 */
public record Work(String arguments, @Nullable String precondition, Instant issuedAt) {
  public Work {
    Objects.requireNonNull(arguments, "arguments");
    Objects.requireNonNull(issuedAt, "issuedAt");
  }

  static Work of(Intent intent) {
    return new Work(
        intent.arguments(),
        intent.precondition(),
        Objects.requireNonNull(intent.issuedAt(), "issuedAt"));
  }

  /** Says nothing of the arguments, which may hold what must not be logged. */
  @Override
  public String toString() {
    return "Work[issuedAt=" + issuedAt + "]";
  }
}
