package dev.ichido.topology.store;

import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import java.time.Instant;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** The ledger, and with it the one deadline of each operation. */
public final class OperationStore {
  private static final StoredOperation NOTHING = new StoredOperation(Absent.NOTHING, null, null);

  private final KeyValueStore<String, StoredOperation> ledger;
  private final DeadlineStore deadlines;

  public OperationStore(KeyValueStore<String, StoredOperation> ledger, DeadlineStore deadlines) {
    this.ledger = ledger;
    this.deadlines = deadlines;
  }

  /** What is known of an operation; never null. */
  public StoredOperation get(String recordKey) {
    StoredOperation stored = ledger.get(recordKey);
    return stored == null ? NOTHING : stored;
  }

  /**
   * Puts what is known from now on and arms its next deadline. Nothing is written where nothing
   * changed.
   */
  public void put(
      String recordKey, StoredOperation before, OperationState next, @Nullable String traceparent) {
    Instant due = next.nextDeadline().map(OperationStore::wholeMillis).orElse(null);
    boolean forget = next.equals(Absent.NOTHING);
    StoredOperation after = forget ? NOTHING : new StoredOperation(next, due, traceparent);
    if (after.equals(before)) {
      return;
    }
    if (forget) {
      ledger.delete(recordKey);
    } else {
      ledger.put(recordKey, after);
    }
    Instant armed = before.armedFor();
    if (armed != null && !armed.equals(due)) {
      deadlines.disarm(recordKey, armed);
    }
    if (due != null && !due.equals(armed)) {
      deadlines.arm(recordKey, due);
    }
  }

  /** Rounded up: an entry that comes out before its deadline would find nothing due. */
  private static Instant wholeMillis(Instant due) {
    Instant floor = Instant.ofEpochMilli(due.toEpochMilli());
    return floor.equals(due) ? floor : floor.plusMillis(1);
  }
}
