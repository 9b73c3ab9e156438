package dev.ichido.inbox;

import dev.ichido.inbox.wire.ReplyMapper;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.RefusedRecord;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.RegistryUnavailableException;
import dev.ichido.schemas.wire.UndecodableRecordException;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings one topic into tables, on a thread of its own. What cannot be decoded or stored goes to
 * the dead letters; while the database or the registry is away, it waits.
 */
final class Feed<V extends SpecificRecordBase, R> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Feed.class);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration SHOW_EVERY = Duration.ofSeconds(1);

  /** At most so much is read again of what told the tables nothing. */
  private static final Duration MOVE_EVERY = Duration.ofSeconds(1);

  private static final Duration MAX_PAUSE = Duration.ofSeconds(5);

  /**
   * What is brought where.
   *
   * @param name of the feed in threads, clients and messages
   * @param settings of the consumer, beside those of the configuration
   * @param rows what a record tells; null for one that tells these tables nothing
   * @param tables applies rows and moves the positions, in one transaction
   */
  record Course<V extends SpecificRecordBase, R>(
      String name,
      String topic,
      String groupId,
      Class<V> type,
      Map<String, Object> settings,
      Rows<V, R> rows,
      Tables<R> tables) {}

  interface Rows<V, R> {
    @Nullable R of(V value, ConsumerRecord<byte[], byte[]> record);
  }

  interface Tables<R> {
    void apply(List<Placed<R>> rows, Map<TopicPartition, Long> next) throws SQLException;
  }

  private final Course<V, R> course;
  private final Topics topics;
  private final Positions positions;
  private final MeterRegistry registry;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final KafkaProducer<byte[], byte[]> producer;
  private final Deserializer<V> values;
  private final Serializer<DeadLetter> deadLetters;
  private final Thread thread;
  private volatile boolean stopping;
  private volatile boolean assigned;
  private volatile boolean reachable = true;

  /** Assigned partitions whose stored position is not known yet: nothing is read of them. */
  private final Set<TopicPartition> unplaced = new HashSet<>();

  private final Map<TopicPartition, OffsetAndMetadata> reached = new HashMap<>();
  private long shownAt = System.nanoTime();
  private long movedAt = System.nanoTime();
  private Duration pause = Duration.ZERO;
  private long pausedUntil = System.nanoTime();

  Feed(InboxConfig config, Course<V, R> course, Positions positions, MeterRegistry registry) {
    this.course = course;
    this.topics = config.topics();
    this.positions = positions;
    this.registry = registry;
    RecordSerdes serdes = RecordSerdes.from(config.registry());
    values = serdes.deserializer(course.type());
    deadLetters = serdes.serializer(DeadLetter.class);
    Map<String, Object> settings = new HashMap<>(config.kafka());
    settings.putAll(course.settings());
    settings.put(ConsumerConfig.GROUP_ID_CONFIG, course.groupId());
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, config.maxBatchOrDefault());
    settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.putIfAbsent(ConsumerConfig.CLIENT_ID_CONFIG, "inbox-" + course.name());
    consumer = new KafkaConsumer<>(settings);
    Map<String, Object> sending = new HashMap<>(config.kafka());
    sending.put(ProducerConfig.ACKS_CONFIG, "all");
    sending.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    sending.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    sending.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, "inbox-" + course.name());
    // A dead letter carries the refused record whole.
    sending.putIfAbsent(
        ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(Topics.DEAD_LETTER_BYTES));
    producer = new KafkaProducer<>(sending);
    thread = Thread.ofPlatform().name("ichido-inbox-" + course.name()).unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  Optional<Throwable> failure() {
    return Optional.ofNullable(failure.get());
  }

  boolean ready() {
    return failure.get() == null && assigned && reachable;
  }

  /** Lets the batch at hand be finished, and no further one begin. */
  void stop() {
    stopping = true;
  }

  /** Finishes the batch at hand and stops. May be called more than once. */
  @Override
  public void close() {
    stop();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      consumer.subscribe(List.of(course.topic()), new Rebalance());
      while (!stopping) {
        throttle();
        ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
        if (!records.isEmpty()) {
          take(records);
        }
        show();
      }
    } catch (RuntimeException | Error e) {
      if (failure.compareAndSet(null, e)) {
        LOG.error("Inbox stops reading {}: {}", course.name(), e.toString());
      }
    } finally {
      producer.close(Duration.ofSeconds(2));
      consumer.close(CloseOptions.timeout(Duration.ofSeconds(5)));
    }
  }

  private void throttle() {
    boolean waiting = System.nanoTime() - pausedUntil < 0;
    if (!waiting && !unplaced.isEmpty()) {
      placeOrWait();
    }
    if (waiting || !unplaced.isEmpty()) {
      consumer.pause(consumer.assignment());
    } else if (!consumer.paused().isEmpty()) {
      consumer.resume(consumer.paused());
    }
  }

  /** Applies what was polled, or puts the consumer back to where it was and waits a little. */
  private void take(ConsumerRecords<byte[], byte[]> records) {
    Batch<R> batch = decode(records);
    try {
      if (!batch.isEmpty() || System.nanoTime() - movedAt > MOVE_EVERY.toNanos()) {
        refuse(batch.refused);
        apply(batch);
        movedAt = System.nanoTime();
        reachable = true;
        pause = Duration.ZERO;
      }
      batch.next.forEach((p, offset) -> reached.put(p, new OffsetAndMetadata(offset)));
    } catch (SQLException | ExecutionException | RegistryUnavailableException e) {
      if (reachable) {
        LOG.warn("{} can't be applied and wait: {}", course.name(), e.getMessage());
      }
      reachable = false;
      registry.counter("ichido.inbox.trouble").increment();
      batch.first.forEach(consumer::seek);
      pause();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      stopping = true;
    }
  }

  /** Only for tools that show lag, so now and then; the truth is in the database. */
  private void show() {
    if (!reached.isEmpty() && System.nanoTime() - shownAt > SHOW_EVERY.toNanos()) {
      shownAt = System.nanoTime();
      consumer.commitAsync(Map.copyOf(reached), (committed, e) -> {});
      reached.clear();
    }
  }

  private void pause() {
    Duration doubled = pause.isZero() ? Duration.ofMillis(100) : pause.multipliedBy(2);
    pause = doubled.compareTo(MAX_PAUSE) > 0 ? MAX_PAUSE : doubled;
    pausedUntil = System.nanoTime() + pause.toNanos();
  }

  private Batch<R> decode(ConsumerRecords<byte[], byte[]> records) {
    Batch<R> batch = new Batch<>();
    for (TopicPartition partition : records.partitions()) {
      for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
        try {
          V decoded = values.deserialize(record.topic(), record.value());
          if (decoded == null) {
            batch.refused.add(
                refused(record, "VALUE_EMPTY", "CONTRACT", "Expected a value, but there is none."));
          } else {
            R row = course.rows().of(decoded, record);
            if (row != null) {
              batch.received.add(new Placed<>(partition, record.offset(), row));
              batch.sources.add(record);
            }
          }
        } catch (RegistryUnavailableException e) {
          LOG.warn("{} can't be decoded and wait: {}", course.name(), e.getMessage());
          registry.counter("ichido.inbox.trouble").increment();
          consumer.seek(partition, record.offset());
          pause();
          break;
        } catch (UndecodableRecordException e) {
          batch.refused.add(
              refused(record, "UNDECODABLE", "DECODING", e.code() + ": " + e.getMessage()));
        }
        batch.first.putIfAbsent(partition, record.offset());
        batch.next.put(partition, record.offset() + 1);
      }
    }
    return batch;
  }

  private static Refused refused(
      ConsumerRecord<byte[], byte[]> record, String code, String reasonClass, String detail) {
    return new Refused(
        record,
        ReplyMapper.toDeadLetter(record, code, reasonClass, detail, Clock.systemUTC().instant()));
  }

  /** A refused record is passed only when its dead letter is acknowledged. */
  private void refuse(List<Refused> refused) throws ExecutionException, InterruptedException {
    List<Future<?>> sent = new ArrayList<>();
    for (Refused one : refused) {
      DeadLetter letter = one.letter();
      sent.add(
          producer.send(
              new ProducerRecord<>(
                  topics.deadLetters(),
                  RefusedRecord.of(one.source().key(), one.source().value()).letterKey(),
                  deadLetters.serialize(topics.deadLetters(), letter))));
      registry.counter("ichido.inbox.dead.letters", "code", letter.getCode()).increment();
    }
    for (Future<?> acknowledgement : sent) {
      acknowledgement.get();
    }
  }

  private void apply(Batch<R> batch) throws SQLException, ExecutionException, InterruptedException {
    try {
      course.tables().apply(batch.received, batch.next);
    } catch (SQLException e) {
      if (!isAboutData(e)) {
        throw e;
      }
      // One record that the database refuses must not hold up the others.
      applyOneByOne(batch);
    }
  }

  private void applyOneByOne(Batch<R> batch)
      throws SQLException, ExecutionException, InterruptedException {
    for (int i = 0; i < batch.received.size(); i++) {
      Placed<R> received = batch.received.get(i);
      Map<TopicPartition, Long> next = Map.of(received.partition(), received.offset() + 1);
      try {
        course.tables().apply(List.of(received), next);
      } catch (SQLException e) {
        if (!isAboutData(e)) {
          throw e;
        }
        refuse(
            List.of(
                refused(
                    batch.sources.get(i),
                    "NOT_STORABLE",
                    "CONTRACT",
                    "Expected a record that the inbox can store, but the database refused it with state "
                        + e.getSQLState()
                        + ". Check who writes to topic \"%s\".".formatted(course.topic()))));
        course.tables().apply(List.of(), next);
      }
    }
    course.tables().apply(List.of(), batch.next);
  }

  /** Data exceptions, violated constraints and values beyond a limit of the database. */
  private boolean isAboutData(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return state.startsWith("22") || state.startsWith("23") || state.startsWith("54");
  }

  private final class Rebalance implements ConsumerRebalanceListener {
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> gone) {
      unplaced.removeAll(gone);
      gone.forEach(reached::remove);
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> given) {
      unplaced.addAll(given);
      placeOrWait();
      assigned = true;
    }
  }

  private void placeOrWait() {
    try {
      place(unplaced);
      unplaced.clear();
      reachable = true;
    } catch (SQLException e) {
      if (reachable) {
        LOG.warn("Stored positions can't be read, {} wait: {}", course.name(), e.getMessage());
      }
      reachable = false;
      registry.counter("ichido.inbox.trouble").increment();
      consumer.pause(unplaced);
      pause();
    }
  }

  private void place(Set<TopicPartition> given) throws SQLException {
    Map<TopicPartition, Long> stored = new HashMap<>(positions.next(given));
    Map<TopicPartition, Long> ends = consumer.endOffsets(given);
    List<TopicPartition> foreign =
        given.stream()
            .filter(p -> stored.getOrDefault(p, 0L) > ends.getOrDefault(p, Long.MAX_VALUE))
            .toList();
    if (!foreign.isEmpty()) {
      LOG.warn(
          "Partitions {} end before the stored position: the topic is another one. Reading from"
              + " its beginning.",
          foreign);
      positions.forget(foreign);
      foreign.forEach(stored::remove);
    }
    for (TopicPartition partition : given) {
      Long next = stored.get(partition);
      if (next == null) {
        consumer.seekToBeginning(List.of(partition));
      } else {
        consumer.seek(partition, next);
      }
    }
  }

  /** A record, and the dead letter that is to be sent in its place. */
  private record Refused(ConsumerRecord<byte[], byte[]> source, DeadLetter letter) {}

  /** What one poll gave. */
  private static final class Batch<R> {
    final List<Placed<R>> received = new ArrayList<>();

    /** The records behind {@link #received}, at the same places. */
    final List<ConsumerRecord<byte[], byte[]>> sources = new ArrayList<>();

    final List<Refused> refused = new ArrayList<>();
    final Map<TopicPartition, Long> first = new HashMap<>();
    final Map<TopicPartition, Long> next = new HashMap<>();

    /** Whether it can be read again without a trace. */
    boolean isEmpty() {
      return received.isEmpty() && refused.isEmpty();
    }
  }
}
