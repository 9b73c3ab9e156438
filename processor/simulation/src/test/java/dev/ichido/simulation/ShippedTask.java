package dev.ichido.simulation;

import dev.ichido.topology.NodeNames;
import dev.ichido.topology.store.StoredOperation;
import dev.ichido.topology.store.StoredOperationSerde;
import java.io.File;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsMetrics;
import org.apache.kafka.streams.TopologyDescription.Node;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.Punctuator;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * The shipped processors of one partition, one instance of each, under a clock that is set. It
 * stands for what Kafka Streams does around them: forwards, stores, punctuations.
 */
final class ShippedTask {
  private static final List<String> STORES =
      List.of(
          NodeNames.LEDGER_STORE,
          NodeNames.DEADLINE_STORE,
          NodeNames.BUDGET_STORE,
          NodeNames.SUSPECT_STORE);

  private final ShippedGraph graph;
  private final Map<String, MemoryStore<?, ?>> stores = new HashMap<>();
  private final Map<String, Processor<byte[], byte[], byte[], byte[]>> processors = new HashMap<>();
  private final List<Timer> timers = new ArrayList<>();
  private final List<Out> sent = new ArrayList<>();
  private @Nullable RecordMetadata metadata;
  private long now;

  /** A record that leaves for a topic. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared as a whole.
  record Out(String topic, byte[] key, byte[] value, long timestamp, Headers headers) {}

  private record From(String topic, int partition, long offset) implements RecordMetadata {}

  private static final class Timer implements Cancellable {
    private final Punctuator punctuator;
    private final long interval;
    private long due;
    private boolean cancelled;

    Timer(Punctuator punctuator, long interval, long due) {
      this.punctuator = punctuator;
      this.interval = interval;
      this.due = due;
    }

    @Override
    public void cancel() {
      cancelled = true;
    }
  }

  /**
   * Restored from changelogs.
   *
   * @param kept by the name of the store
   * @param now in milliseconds since the epoch
   */
  ShippedTask(ShippedGraph graph, Map<String, NavigableMap<Bytes, byte[]>> kept, long now) {
    this.graph = graph;
    this.now = now;
    for (String store : STORES) {
      stores.put(store, store(store, new TreeMap<>(kept.getOrDefault(store, new TreeMap<>()))));
    }
    for (String name : graph.processors()) {
      Processor<byte[], byte[], byte[], byte[]> processor = graph.newProcessor(name);
      processors.put(name, processor);
      processor.init(context(name));
    }
  }

  /** No type variable can be bound by an array, so the context itself is one of objects. */
  @SuppressWarnings("unchecked")
  private ProcessorContext<byte[], byte[]> context(String processor) {
    return (ProcessorContext<byte[], byte[]>) (ProcessorContext<?, ?>) new Context(processor);
  }

  private static MemoryStore<?, ?> store(String name, NavigableMap<Bytes, byte[]> entries) {
    Serde<byte[]> bytes = Serdes.ByteArray();
    return switch (name) {
      case NodeNames.LEDGER_STORE ->
          new MemoryStore<>(name, Serdes.String(), new StoredOperationSerde(), entries);
      case NodeNames.DEADLINE_STORE -> new MemoryStore<>(name, bytes, bytes, entries);
      default -> new MemoryStore<>(name, Serdes.String(), bytes, entries);
    };
  }

  /** What the changelogs hold when it commits now. */
  Map<String, NavigableMap<Bytes, byte[]>> changelogs() {
    Map<String, NavigableMap<Bytes, byte[]>> kept = new HashMap<>();
    stores.forEach((name, store) -> kept.put(name, store.entries()));
    return kept;
  }

  @SuppressWarnings("unchecked") // As it is made above.
  @Nullable StoredOperation operation(String recordKey) {
    return ((MemoryStore<String, StoredOperation>) require(NodeNames.LEDGER_STORE)).get(recordKey);
  }

  /** Keys of the deadline store, in their order. */
  List<Bytes> deadlines() {
    return List.copyOf(require(NodeNames.DEADLINE_STORE).entries().keySet());
  }

  private MemoryStore<?, ?> require(String store) {
    return Objects.requireNonNull(stores.get(store), store);
  }

  void setClock(long millis) {
    now = millis;
  }

  /** When the next punctuation is planned. */
  long nextLook() {
    return timers.stream().mapToLong(it -> it.due).min().orElse(Long.MAX_VALUE);
  }

  /** Punctuates, whatever the clock says. */
  List<Out> punctuate() {
    metadata = null;
    for (Timer timer : List.copyOf(timers)) {
      timer.punctuator.punctuate(now);
      timer.due += timer.interval;
    }
    timers.removeIf(it -> it.cancelled);
    return take();
  }

  /** Reads one record. */
  List<Out> read(Out record) {
    metadata = new From(record.topic(), 0, 0);
    for (Node reader : graph.readers(record.topic())) {
      process(
          reader.name(),
          new Record<>(record.key(), record.value(), record.timestamp(), record.headers()));
    }
    timers.removeIf(it -> it.cancelled);
    return take();
  }

  private List<Out> take() {
    List<Out> taken = List.copyOf(sent);
    sent.clear();
    return taken;
  }

  private void process(String processor, Record<byte[], byte[]> record) {
    Processor<byte[], byte[], byte[], byte[]> shipped = processors.get(processor);
    if (shipped != null) {
      shipped.process(record);
    } else if (record.key() != null) {
      // Of Kafka Streams itself: before an internal topic it drops what has no key.
      graph.children(processor).forEach(child -> forward(processor, child, record));
    }
  }

  private void forward(String processor, String child, Record<byte[], byte[]> record) {
    String topic = graph.sink(processor, child);
    if (topic == null) {
      process(child, record);
    } else {
      sent.add(new Out(topic, record.key(), record.value(), record.timestamp(), record.headers()));
    }
  }

  private final class Context implements ProcessorContext<Object, Object> {
    private final String processor;

    Context(String processor) {
      this.processor = processor;
    }

    @Override
    public <K, V> void forward(Record<K, V> record) {
      graph.children(processor).forEach(child -> forward(record, child));
    }

    @Override
    public <K, V> void forward(Record<K, V> record, String child) {
      ShippedTask.this.forward(
          processor,
          child,
          new Record<>(
              (byte[]) record.key(),
              (byte[]) record.value(),
              record.timestamp(),
              record.headers()));
    }

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // As Kafka Streams has it.
    public <S extends StateStore> S getStateStore(String name) {
      if (!graph.stores(processor).contains(name)) {
        throw new IllegalStateException(processor + " is not connected to " + name);
      }
      return (S) require(name);
    }

    @Override
    public Cancellable schedule(Duration interval, PunctuationType type, Punctuator callback) {
      if (type != PunctuationType.WALL_CLOCK_TIME) {
        throw new UnsupportedOperationException("The topology goes by the wall clock.");
      }
      Timer timer = new Timer(callback, interval.toMillis(), now + interval.toMillis());
      timers.add(timer);
      return timer;
    }

    @Override
    public Cancellable schedule(
        Instant start, Duration interval, PunctuationType type, Punctuator callback) {
      throw unused();
    }

    @Override
    public Optional<RecordMetadata> recordMetadata() {
      return Optional.ofNullable(metadata);
    }

    @Override
    public long currentSystemTimeMs() {
      return now;
    }

    @Override
    public TaskId taskId() {
      return new TaskId(0, 0);
    }

    @Override
    public String applicationId() {
      return "simulation";
    }

    @Override
    public void commit() {
      throw unused();
    }

    @Override
    public long currentStreamTimeMs() {
      throw unused();
    }

    @Override
    public Serde<?> keySerde() {
      throw unused();
    }

    @Override
    public Serde<?> valueSerde() {
      throw unused();
    }

    @Override
    public File stateDir() {
      throw unused();
    }

    @Override
    public StreamsMetrics metrics() {
      throw unused();
    }

    @Override
    public Map<String, Object> appConfigs() {
      return Map.of();
    }

    @Override
    public Map<String, Object> appConfigsWithPrefix(String prefix) {
      return Map.of();
    }

    private UnsupportedOperationException unused() {
      return new UnsupportedOperationException("The topology does without.");
    }
  }
}
