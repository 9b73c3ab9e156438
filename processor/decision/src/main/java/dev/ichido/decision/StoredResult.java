package dev.ichido.decision;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A result that is kept with a settled operation and released to whoever may have it.
 *
 * @param resultId id of the report that it came with
 * @param settledBy {@link Marker#EXECUTED} or {@link Marker#RECONCILED}
 * @param sha256 digest of the body's bytes, lower-case hexadecimal; null when there is no body
 */
public record StoredResult(
    String resultId, Answer answer, Marker settledBy, @Nullable String sha256) {
  public StoredResult {
    Objects.requireNonNull(resultId, "resultId");
    Objects.requireNonNull(answer, "answer");
    Objects.requireNonNull(settledBy, "settledBy");
  }

  static StoredResult of(String resultId, Answer answer, Marker settledBy) {
    BodyHandle handle = answer.handle();
    String body = answer.body();
    String sha256 =
        handle != null ? handle.sha256() : body == null ? null : DerivedIds.sha256(body);
    return new StoredResult(resultId, answer, settledBy, sha256);
  }
}
