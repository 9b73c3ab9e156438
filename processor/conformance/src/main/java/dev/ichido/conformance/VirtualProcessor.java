package dev.ichido.conformance;

import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.topology.DedupTopology;
import dev.ichido.topology.NodeNames;
import dev.ichido.topology.operation.Hearing;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.store.DeadlineKey;
import dev.ichido.topology.store.StoredOperation;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.internals.WrappedStateStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;

/**
 * The topology as shipped, on one partition, under a clock that moves only on demand. Its
 * changelogs are kept as a broker would keep them, compacted; a restart has nothing else to start
 * from.
 */
public final class VirtualProcessor implements AutoCloseable {
  static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  static final String APPLICATION = "conformance";
  private static final List<String> STORES =
      List.of(
          NodeNames.LEDGER_STORE,
          NodeNames.DEADLINE_STORE,
          NodeNames.BUDGET_STORE,
          NodeNames.SUSPECT_STORE);

  /** The sweep looks at every millisecond that the clock stops at. */
  private static final Duration SWEEP = Duration.ofMillis(1);

  private final Topics topics = Topics.withDefaultPrefix();
  private final RecordSerdes serdes = LocalAvro.serdes();
  private final Deserializer<SideEffectCommand> commands =
      serdes.deserializer(SideEffectCommand.class);
  private final Deserializer<OperationReply> replies = serdes.deserializer(OperationReply.class);
  private final Deserializer<JournalEntry> journal = serdes.deserializer(JournalEntry.class);
  private final Deserializer<DeadLetter> deadLetters = serdes.deserializer(DeadLetter.class);
  private final Map<String, Map<Bytes, byte[]>> changelogs = new LinkedHashMap<>();
  private final Hearing hearing;
  private final Duration sweepEvery;
  private final Path root;
  private Path stateDir;
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<String> traced = new ArrayList<>();
  private Headers headers = new RecordHeaders();
  private Instant now = START;
  private TopologyTestDriver driver;

  /** What left the topology since it was last asked. */
  public record Output(
      List<SideEffectCommand> commands,
      List<OperationReply> replies,
      List<JournalEntry> journal,
      List<DeadLetter> deadLetters) {}

  /** A processor without a past, under these policies. */
  public VirtualProcessor(PolicySet policies) {
    this(policies, Hearing.IMMEDIATE, SWEEP);
  }

  /** One that may not have read everything that was sent. */
  VirtualProcessor(PolicySet policies, Hearing hearing, Duration sweepEvery) {
    this.hearing = hearing;
    this.sweepEvery = sweepEvery;
    try {
      this.root = Files.createTempDirectory("ichido-conformance");
      this.stateDir = Files.createDirectory(root.resolve("0"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    STORES.forEach(store -> changelogs.put(store, new LinkedHashMap<>()));
    this.driver = start(policies);
  }

  /** The time; it starts at 2026. */
  public Instant now() {
    return now;
  }

  /** Consumes a record of the intents topic. */
  public void intent(byte @Nullable [] key, byte @Nullable [] value) {
    pipe(topics.intents(), key, value);
  }

  /** Consumes a record of the results topic. */
  public void result(byte @Nullable [] key, byte @Nullable [] value) {
    pipe(topics.results(), key, value);
  }

  /** Headers of what is sent from now on. */
  void withHeaders(Headers next) {
    headers = next;
  }

  /** Topic and name of every header that was read so far. */
  List<String> traced() {
    return List.copyOf(traced);
  }

  /** What it counts. */
  public SimpleMeterRegistry meters() {
    return meters;
  }

  Topics topics() {
    return topics;
  }

  /** How its records are written, without a registry. */
  public RecordSerdes serdes() {
    return serdes;
  }

  /** Moves the clock, stopping at every deadline on the way, as a live sweep would. */
  public void advance(Duration by) {
    Instant target = now.plus(by);
    while (now.isBefore(target)) {
      Instant due = nextDeadline().filter(it -> it.isBefore(target)).orElse(target);
      // One that is due already is taken by the very next sweep.
      Instant sweep = now.plus(sweepEvery);
      Instant stop = due.isAfter(now) ? due : sweep.isBefore(target) ? sweep : target;
      driver.advanceWallClockTime(Duration.between(now, stop));
      now = stop;
    }
  }

  /** Closes the task, throws its stores away and restores new ones from the changelogs. */
  void restart(PolicySet policies) {
    keepChangelogs();
    driver.close();
    delete(stateDir);
    try {
      stateDir = Files.createDirectory(root.resolve(String.valueOf(System.nanoTime())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    driver = start(policies);
    changelogs.forEach(
        (name, records) -> {
          KeyValueStore<Bytes, byte[]> store = bytesStore(name);
          records.forEach(store::put);
        });
  }

  /** The ledger's state of an operation; Absent when it holds none. */
  public OperationState state(String recordKey) {
    KeyValueStore<String, StoredOperation> ledger = driver.getKeyValueStore(NodeNames.LEDGER_STORE);
    StoredOperation stored = ledger.get(recordKey);
    return stored == null ? Absent.NOTHING : stored.state();
  }

  /** All operations that the ledger holds, by record key. */
  Map<String, OperationState> states() {
    Map<String, OperationState> states = new LinkedHashMap<>();
    KeyValueStore<String, StoredOperation> ledger = driver.getKeyValueStore(NodeNames.LEDGER_STORE);
    try (KeyValueIterator<String, StoredOperation> all = ledger.all()) {
      all.forEachRemaining(entry -> states.put(entry.key, entry.value.state()));
    }
    return states;
  }

  /** How many entries the deadline store holds. */
  int deadlines() {
    int count = 0;
    KeyValueStore<byte[], byte[]> deadlines = driver.getKeyValueStore(NodeNames.DEADLINE_STORE);
    try (KeyValueIterator<byte[], byte[]> all = deadlines.all()) {
      for (; all.hasNext(); all.next()) {
        count++;
      }
    }
    return count;
  }

  /** What left since the last time. */
  public Output drain() {
    keepChangelogs();
    return new Output(
        read(topics.commands(), commands),
        read(topics.replies(), replies),
        read(topics.journal(), journal),
        read(topics.deadLetters(), deadLetters));
  }

  @Override
  public void close() {
    driver.close();
    delete(root);
  }

  private TopologyTestDriver start(PolicySet policies) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, APPLICATION);
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:0");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, stateDir.toString());
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
    properties.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, "true");
    return new TopologyTestDriver(
        new DedupTopology(topics, serdes, () -> policies, meters)
            .withHearing(hearing)
            .withSweep(sweepEvery, 1_000)
            .build(properties),
        properties,
        now);
  }

  private void pipe(String topic, byte @Nullable [] key, byte @Nullable [] value) {
    TestInputTopic<byte[], byte[]> input =
        driver.createInputTopic(topic, new ByteArraySerializer(), new ByteArraySerializer());
    input.pipeInput(new TestRecord<>(key, value, headers, now));
  }

  /** When something is next due, of any operation; it may be past. */
  public Optional<Instant> nextDeadline() {
    KeyValueStore<byte[], byte[]> deadlines = driver.getKeyValueStore(NodeNames.DEADLINE_STORE);
    try (KeyValueIterator<byte[], byte[]> all = deadlines.all()) {
      return all.hasNext() ? Optional.of(DeadlineKey.of(all.next().key).due()) : Optional.empty();
    }
  }

  private void keepChangelogs() {
    changelogs.forEach(
        (store, records) -> {
          String topic = APPLICATION + "-" + store + "-changelog";
          if (driver.producedTopicNames().contains(topic)) {
            driver
                .createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer())
                .readRecordsToList()
                .forEach(
                    record -> {
                      Bytes key = Bytes.wrap(record.key());
                      byte @Nullable [] value = record.value();
                      if (value == null) {
                        records.remove(key);
                      } else {
                        records.put(key, value);
                      }
                    });
          }
        });
  }

  /** The innermost store that still writes the changelog, so that bytes go in as they came out. */
  @SuppressWarnings("unchecked") // Every layer under the serdes is a store of bytes.
  private KeyValueStore<Bytes, byte[]> bytesStore(String name) {
    KeyValueStore<?, ?> store = driver.getKeyValueStore(name);
    return (KeyValueStore<Bytes, byte[]>) ((WrappedStateStore<?, ?, ?>) store).wrapped();
  }

  private <T> List<T> read(String topic, Deserializer<T> deserializer) {
    List<T> values = new ArrayList<>();
    if (driver.producedTopicNames().contains(topic)) {
      driver
          .createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer())
          .readRecordsToList()
          .forEach(
              record -> {
                record.headers().forEach(it -> traced.add(topic + " " + it.key()));
                values.add(deserializer.deserialize(topic, record.value()));
              });
    }
    return values;
  }

  /** What a broker would hold of a store, for a test that takes it away. */
  Map<Bytes, byte[]> changelog(String store) {
    keepChangelogs();
    return java.util.Objects.requireNonNull(changelogs.get(store), store);
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
