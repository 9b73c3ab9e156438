package dev.ichido.topology.operation;

import dev.ichido.decision.OperationEvent;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.topology.store.SuspectStore;
import dev.ichido.topology.wire.InternalMessage.News;
import dev.ichido.topology.wire.InternalMessage.Standing;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the index of meanings is told of a decision.
 *
 * @param key of the meaning
 */
record SuspectNews(String key, News news) {

  /** News where the standing of the operation has changed. */
  static Optional<SuspectNews> of(
      OperationKey key, OperationState before, OperationState after, Instant at) {
    Standing was = standing(before);
    Standing is = standing(after);
    Known known = after instanceof Known it ? it : before instanceof Known it ? it : null;
    if (was == is || known == null) {
      return Optional.empty();
    }
    return of(key, known.binding().action(), known.binding().fingerprint(), is, at, known);
  }

  /**
   * The index holds a place for every intent that passed it; this one's operation has not taken it.
   */
  static Optional<SuspectNews> unclaimed(
      OperationKey key, OperationEvent event, OperationState after) {
    if (!(event instanceof IntentReceived intent) || intent.fingerprint() == null) {
      return Optional.empty();
    }
    Fingerprint fingerprint = intent.fingerprint();
    boolean taken =
        standing(after) != Standing.GONE
            && after instanceof Known known
            && known.binding().fingerprint() != null
            && known.binding().fingerprint().matches(fingerprint);
    return taken
        ? Optional.empty()
        : of(key, intent.intent().action(), fingerprint, Standing.GONE, event.at(), null);
  }

  private static Optional<SuspectNews> of(
      OperationKey key,
      @Nullable String action,
      @Nullable Fingerprint fingerprint,
      Standing standing,
      Instant at,
      @Nullable Known known) {
    if (action == null || fingerprint == null) {
      return Optional.empty();
    }
    return Optional.of(
        new SuspectNews(
            SuspectStore.key(key.tenant(), action, fingerprint),
            new News(
                key.tenant(),
                key.scope(),
                key.operationId(),
                action,
                standing,
                at,
                known == null ? 0 : known.revision())));
  }

  private static Standing standing(OperationState state) {
    return switch (state) {
      case Open s -> Standing.OPEN;
      case Succeeded s -> Standing.SETTLED;
      case FailedTerminal s -> Standing.SETTLED;
      case Absent s -> Standing.GONE;
      case Expired s -> Standing.GONE;
      case Cancelled s -> Standing.GONE;
    };
  }
}
