package dev.ichido.inbox;

import dev.ichido.inbox.InboxStore.Applied;
import dev.ichido.inbox.InboxStore.Received;
import dev.ichido.inbox.wire.ReplyMapper;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.RegistryUnavailableException;
import dev.ichido.schemas.wire.UndecodableRecordException;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
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
import javax.sql.DataSource;
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
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings replies into a runtime's database, each exactly once: the position is part of the
 * transaction that applies them, and reading goes on from there.
 */
public final class InboxRole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(InboxRole.class);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(5);

  private final InboxConfig config;
  private final InboxStore store;
  private final DataSource dataSource;
  private final MeterRegistry registry;
  private final Topics topics;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final AtomicReference<@Nullable Life> life = new AtomicReference<>();

  /** An inbox of this database. */
  public InboxRole(InboxConfig config, DataSource dataSource, MeterRegistry registry) {
    this.config = config;
    this.dataSource = dataSource;
    this.store = new InboxStore(dataSource);
    this.registry = registry;
    this.topics = config.topics();
  }

  /**
   * Brings the tables up to date and begins to consume.
   *
   * @throws RuntimeException when the database, the settings or the registry's are not usable
   */
  public void start() {
    if (life.get() != null) {
      throw new IllegalStateException("Expected a role that was not started, but it was.");
    }
    if (config.migrateOrDefault()) {
      InboxMigration.migrate(dataSource);
    }
    Life begun = new Life();
    life.set(begun);
    begun.thread.start();
    LOG.info("Inbox started");
  }

  /** Why the role stopped by itself, if it did. */
  public Optional<Throwable> failure() {
    return Optional.ofNullable(failure.get());
  }

  /** Whether it consumes and its database answers. */
  public boolean ready() {
    Life current = life.get();
    return failure.get() == null && current != null && current.assigned && current.reachable;
  }

  /** Finishes the batch at hand and stops. May be called more than once. */
  @Override
  public void close() {
    Life current = life.get();
    if (current == null) {
      return;
    }
    current.stopping = true;
    try {
      current.thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Life {
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Deserializer<OperationReply> replies;
    private final Serializer<DeadLetter> deadLetters;
    private final Thread thread;
    private volatile boolean stopping;
    private volatile boolean assigned;
    private volatile boolean reachable = true;

    /** Assigned partitions whose stored position is not known yet: nothing is read of them. */
    private final Set<TopicPartition> unplaced = new HashSet<>();

    private Duration pause = Duration.ZERO;
    private long pausedUntil = System.nanoTime();

    Life() {
      RecordSerdes serdes = RecordSerdes.from(config.registry());
      replies = serdes.deserializer(OperationReply.class);
      deadLetters = serdes.serializer(DeadLetter.class);
      Map<String, Object> settings = new HashMap<>(config.kafka());
      settings.put(ConsumerConfig.GROUP_ID_CONFIG, config.groupIdOrDefault());
      settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
      settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
      settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
      settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, config.maxBatchOrDefault());
      settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
      settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
      settings.putIfAbsent(ConsumerConfig.CLIENT_ID_CONFIG, "inbox");
      consumer = new KafkaConsumer<>(settings);
      Map<String, Object> sending = new HashMap<>(config.kafka());
      sending.put(ProducerConfig.ACKS_CONFIG, "all");
      sending.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
      sending.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
      sending.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, "inbox");
      // A dead letter carries the refused record whole.
      sending.putIfAbsent(
          ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(Topics.DEAD_LETTER_BYTES));
      producer = new KafkaProducer<>(sending);
      thread = Thread.ofPlatform().name("ichido-inbox").unstarted(this::run);
    }

    private void run() {
      try {
        consumer.subscribe(List.of(topics.replies()), new Rebalance());
        while (!stopping) {
          throttle();
          ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
          if (!records.isEmpty()) {
            take(records);
          }
        }
      } catch (RuntimeException | Error e) {
        if (failure.compareAndSet(null, e)) {
          LOG.error("Inbox stops: {}", e.toString());
        }
      } finally {
        producer.close(Duration.ofSeconds(2));
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(5)));
        LOG.info("Inbox stopped");
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
      Batch batch = decode(records);
      try {
        batch.awaitRefused();
        apply(batch);
        reachable = true;
        pause = Duration.ZERO;
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        batch.next.forEach((p, offset) -> positions.put(p, new OffsetAndMetadata(offset)));
        // Only for tools that show lag; the truth is in the database.
        consumer.commitAsync(positions, (committed, e) -> {});
      } catch (SQLException | ExecutionException e) {
        if (reachable) {
          LOG.warn("Replies can't be applied and wait: {}", e.getMessage());
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

    private void pause() {
      Duration doubled = pause.isZero() ? Duration.ofMillis(100) : pause.multipliedBy(2);
      pause = doubled.compareTo(MAX_PAUSE) > 0 ? MAX_PAUSE : doubled;
      pausedUntil = System.nanoTime() + pause.toNanos();
    }

    private Batch decode(ConsumerRecords<byte[], byte[]> records) {
      Batch batch = new Batch();
      for (TopicPartition partition : records.partitions()) {
        for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
          try {
            OperationReply decoded = replies.deserialize(record.topic(), record.value());
            if (decoded == null) {
              batch.refused.add(
                  refuse(
                      record, "REPLY_EMPTY", "CONTRACT", "Expected a value, but there is none."));
            } else {
              Header trace = record.headers().lastHeader("traceparent");
              String traceparent =
                  trace == null || trace.value() == null
                      ? null
                      : new String(trace.value(), StandardCharsets.UTF_8);
              batch.received.add(
                  new Received(
                      partition,
                      record.offset(),
                      ReplyMapper.toReply(decoded, traceparent),
                      ReplyMapper.findResultHash(decoded)));
              batch.sources.add(record);
            }
          } catch (RegistryUnavailableException e) {
            LOG.warn("Replies can't be decoded and wait: {}", e.getMessage());
            registry.counter("ichido.inbox.trouble").increment();
            consumer.seek(partition, record.offset());
            pause();
            break;
          } catch (UndecodableRecordException e) {
            batch.refused.add(
                refuse(record, "UNDECODABLE", "DECODING", e.code() + ": " + e.getMessage()));
          }
          batch.first.putIfAbsent(partition, record.offset());
          batch.next.put(partition, record.offset() + 1);
        }
      }
      return batch;
    }

    private Future<?> refuse(
        ConsumerRecord<byte[], byte[]> record, String code, String reasonClass, String detail) {
      registry.counter("ichido.inbox.dead.letters", "code", code).increment();
      DeadLetter letter =
          ReplyMapper.toDeadLetter(record, code, reasonClass, detail, Clock.systemUTC().instant());
      return producer.send(
          new ProducerRecord<>(
              topics.deadLetters(),
              record.key(),
              deadLetters.serialize(topics.deadLetters(), letter)));
    }

    private void apply(Batch batch) throws SQLException, ExecutionException, InterruptedException {
      try {
        count(store.apply(batch.received, batch.next));
      } catch (SQLException e) {
        if (!isAboutData(e)) {
          throw e;
        }
        // One reply that the database refuses must not hold up the others.
        applyOneByOne(batch);
      }
    }

    private void applyOneByOne(Batch batch)
        throws SQLException, ExecutionException, InterruptedException {
      for (int i = 0; i < batch.received.size(); i++) {
        Received received = batch.received.get(i);
        Map<TopicPartition, Long> next = Map.of(received.partition(), received.offset() + 1);
        try {
          count(store.apply(List.of(received), next));
        } catch (SQLException e) {
          if (!isAboutData(e)) {
            throw e;
          }
          refuse(
                  batch.sources.get(i),
                  "REPLY_NOT_STORABLE",
                  "CONTRACT",
                  "Expected a reply that the inbox can store, but the database refused it with state "
                      + e.getSQLState()
                      + ". Check who writes to the replies topic.")
              .get();
          count(store.apply(List.of(), next));
        }
      }
      count(store.apply(List.of(), batch.next));
    }

    /** Data exceptions, violated constraints and values beyond a limit of the database. */
    private boolean isAboutData(SQLException e) {
      String state = String.valueOf(e.getSQLState());
      return state.startsWith("22") || state.startsWith("23") || state.startsWith("54");
    }

    private void count(Applied applied) {
      registry.counter("ichido.inbox.replies", "what", "applied").increment(applied.applied());
      registry.counter("ichido.inbox.replies", "what", "skipped").increment(applied.skipped());
      registry.counter("ichido.inbox.replies", "what", "lower_revision").increment(applied.lower());
      registry.counter("ichido.inbox.replies", "what", "conflict").increment(applied.conflicts());
      if (applied.conflicts() > 0) {
        LOG.error(
            "{} replies tell another truth under a revision that is known: see ichido.inbox_conflict",
            applied.conflicts());
      }
    }

    private final class Rebalance implements ConsumerRebalanceListener {
      @Override
      public void onPartitionsRevoked(Collection<TopicPartition> gone) {
        unplaced.removeAll(gone);
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
          LOG.warn("Stored positions can't be read, replies wait: {}", e.getMessage());
        }
        reachable = false;
        registry.counter("ichido.inbox.trouble").increment();
        consumer.pause(unplaced);
        pause();
      }
    }

    private void place(Set<TopicPartition> given) throws SQLException {
      Map<TopicPartition, Long> stored = new HashMap<>(store.nextOffsets(given));
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
        store.forgetOffsets(foreign);
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
  }

  /** What one poll gave. */
  private static final class Batch {
    final List<Received> received = new ArrayList<>();

    /** The records behind {@link #received}, at the same places. */
    final List<ConsumerRecord<byte[], byte[]>> sources = new ArrayList<>();

    final List<Future<?>> refused = new ArrayList<>();
    final Map<TopicPartition, Long> first = new HashMap<>();
    final Map<TopicPartition, Long> next = new HashMap<>();

    /** A refused record is passed only when its dead letter is acknowledged. */
    void awaitRefused() throws ExecutionException, InterruptedException {
      for (Future<?> future : refused) {
        future.get();
      }
    }
  }
}
