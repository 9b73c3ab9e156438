package dev.ichido.simulation;

import dev.ichido.executor.Report;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The claims as their table keeps them: the first row of an attempt stays, and its first result.
 */
final class ClaimTable {
  private final Map<Key, ClaimAnswer> rows = new HashMap<>();

  private record Key(String recordKey, int attempt) {}

  /** One request of {@code ClaimStore.take}. */
  ClaimAnswer take(ClaimRequest request, String owner) {
    Report revocation = request.revocation();
    ClaimAnswer before =
        rows.putIfAbsent(
            new Key(request.recordKey(), request.attempt()),
            revocation == null
                ? new ClaimAnswer.Open(owner)
                : new ClaimAnswer.Recorded(revocation));
    return before == null ? new ClaimAnswer.Won() : before;
  }

  @Nullable ClaimAnswer find(String recordKey, int attempt) {
    return rows.get(new Key(recordKey, attempt));
  }

  /** Keeps a result in its row, if there is one without a result. */
  void record(String recordKey, int attempt, Report report) {
    rows.computeIfPresent(
        new Key(recordKey, attempt),
        (key, row) -> row instanceof ClaimAnswer.Open ? new ClaimAnswer.Recorded(report) : row);
  }
}
