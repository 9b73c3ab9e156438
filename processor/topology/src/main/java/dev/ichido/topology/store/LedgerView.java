package dev.ichido.topology.store;

import dev.ichido.decision.OperationState;
import dev.ichido.topology.NodeNames;
import java.util.Optional;
import java.util.function.BiPredicate;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** Reads of the operations on this process's partitions, as they stand at the last commit. */
public final class LedgerView {
  private final KafkaStreams streams;

  public LedgerView(KafkaStreams streams) {
    this.streams = streams;
  }

  /**
   * The operation of a record key; empty when it is unknown here.
   *
   * @throws InvalidStateStoreException while the stores are restored or moved
   */
  public Optional<OperationState> find(String recordKey) {
    StoredOperation stored = ledger().get(recordKey);
    return stored == null ? Optional.empty() : Optional.of(stored.state());
  }

  /**
   * Hands each operation of this process to a visitor until it returns false.
   *
   * @throws InvalidStateStoreException while the stores are restored or moved
   */
  public void visit(BiPredicate<String, OperationState> visitor) {
    try (KeyValueIterator<String, StoredOperation> all = ledger().all()) {
      while (all.hasNext()) {
        KeyValue<String, StoredOperation> entry = all.next();
        if (!visitor.test(entry.key, entry.value.state())) {
          return;
        }
      }
    }
  }

  private ReadOnlyKeyValueStore<String, StoredOperation> ledger() {
    return streams.store(
        StoreQueryParameters.fromNameAndType(
            NodeNames.LEDGER_STORE, QueryableStoreTypes.keyValueStore()));
  }
}
