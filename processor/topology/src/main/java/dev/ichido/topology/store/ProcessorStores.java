package dev.ichido.topology.store;

import dev.ichido.topology.NodeNames;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * The stores of one task.
 *
 * @param operations the ledger
 */
public record ProcessorStores(
    OperationStore operations, DeadlineStore deadlines, RetryBudgetStore budgets) {
  /**
   * Compact only: with delete, a record that is older than the retention would be new again after a
   * restore. The lag is bounded, so that a restore does not read what was overwritten long ago.
   */
  private static final Map<String, String> CHANGELOG =
      Map.of(
          TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT,
          TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG, "3600000",
          TopicConfig.SEGMENT_MS_CONFIG, "3600000",
          TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG, "0.2");

  public static ProcessorStores of(ProcessorContext<?, ?> context) {
    KeyValueStore<String, StoredOperation> ledger = context.getStateStore(NodeNames.LEDGER_STORE);
    KeyValueStore<byte[], byte[]> deadlines = context.getStateStore(NodeNames.DEADLINE_STORE);
    KeyValueStore<String, byte[]> budgets = context.getStateStore(NodeNames.BUDGET_STORE);
    DeadlineStore deadlineStore = new DeadlineStore(deadlines);
    return new ProcessorStores(
        new OperationStore(ledger, deadlineStore), deadlineStore, new RetryBudgetStore(budgets));
  }

  /** The index of meanings of one task. */
  public static SuspectStore suspects(ProcessorContext<?, ?> context) {
    KeyValueStore<String, byte[]> suspects = context.getStateStore(NodeNames.SUSPECT_STORE);
    return new SuspectStore(suspects);
  }

  /** The builder of the index of meanings. */
  public static StoreBuilder<KeyValueStore<String, byte[]>> suspectBuilder() {
    return Stores.keyValueStoreBuilder(
            Stores.persistentKeyValueStore(NodeNames.SUSPECT_STORE),
            Serdes.String(),
            Serdes.ByteArray())
        .withLoggingEnabled(CHANGELOG)
        .withCachingDisabled();
  }

  /** Persistent, logged, never cached: a cached store forgets after a rebalance. */
  public static List<StoreBuilder<?>> builders() {
    return List.of(
        Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(NodeNames.LEDGER_STORE),
                Serdes.String(),
                new StoredOperationSerde())
            .withLoggingEnabled(CHANGELOG)
            .withCachingDisabled(),
        Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(NodeNames.DEADLINE_STORE),
                Serdes.ByteArray(),
                Serdes.ByteArray())
            .withLoggingEnabled(CHANGELOG)
            .withCachingDisabled(),
        Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(NodeNames.BUDGET_STORE),
                Serdes.String(),
                Serdes.ByteArray())
            .withLoggingEnabled(CHANGELOG)
            .withCachingDisabled());
  }
}
