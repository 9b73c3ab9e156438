package dev.ichido.executor;

import dev.ichido.executor.Caller.Told;
import dev.ichido.executor.claim.ClaimPurge;
import dev.ichido.executor.claim.ClaimStore;
import dev.ichido.executor.claim.ExecutorMigration;
import dev.ichido.executor.wire.CommandMapper;
import dev.ichido.executor.wire.ResultMapper;
import dev.ichido.schemas.CarriedHeaders;
import dev.ichido.schemas.SideEffectCommand;
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
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
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
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Performs commands: takes each attempt under a claim, calls the remote at most once for it, keeps
 * the result with the claim and sends it. Positions are committed only past commands whose report
 * is acknowledged by the broker, or whose attempt is another's.
 */
public final class ExecutorRole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorRole.class);
  private static final Duration POLL = Duration.ofMillis(50);
  private static final Duration COMMIT_EVERY = Duration.ofMillis(200);
  private static final Duration REGISTRY_PAUSE = Duration.ofSeconds(1);
  private static final int PURGED_AT_ONCE = 500;
  private static final Duration PURGE_PAUSE = Duration.ofSeconds(1);
  private static final Duration PURGE_REST = Duration.ofMinutes(1);

  private final ExecutorConfig config;
  private final DataSource dataSource;
  private final Map<String, ToolHandler> handlers;
  private final Meters meters;
  private final Clock clock;
  private final Predicate<String> serves;
  private final Topics topics;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final AtomicReference<@Nullable Life> life = new AtomicReference<>();

  /**
   * An executor of these actions.
   *
   * @param handlers by action, read anew for each command; several executors of one group must have
   *     the same
   */
  public ExecutorRole(
      ExecutorConfig config,
      DataSource dataSource,
      Map<String, ToolHandler> handlers,
      MeterRegistry registry) {
    this(config, dataSource, handlers, registry, Clock.systemUTC());
  }

  /** By another clock than the machine's. */
  public ExecutorRole(
      ExecutorConfig config,
      DataSource dataSource,
      Map<String, ToolHandler> handlers,
      MeterRegistry registry,
      Clock clock) {
    this(config, dataSource, handlers, registry, clock, action -> true);
  }

  /**
   * One of several groups of executors.
   *
   * @param serves whether this group performs an action; commands of the others are left to them
   */
  public ExecutorRole(
      ExecutorConfig config,
      DataSource dataSource,
      Map<String, ToolHandler> handlers,
      MeterRegistry registry,
      Clock clock,
      Predicate<String> serves) {
    this.config = config;
    this.serves = serves;
    this.dataSource = dataSource;
    this.handlers = handlers;
    this.meters = new Meters(registry);
    this.clock = clock;
    this.topics = config.topics();
    meters.gauge("ichido.executor.held", () -> find(l -> l.dispatcher.held()));
    meters.gauge("ichido.executor.running", () -> find(l -> l.dispatcher.running().size()));
    meters.gauge("ichido.executor.unacknowledged", () -> find(l -> l.reporter.open()));
  }

  private int find(ToIntFunction<Life> value) {
    Life current = life.get();
    return current == null ? 0 : value.applyAsInt(current);
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
      ExecutorMigration.migrate(dataSource);
    }
    Life begun = new Life();
    life.set(begun);
    begun.begin();
  }

  /** Why the role stopped by itself, if it did. */
  public Optional<Throwable> failure() {
    return Optional.ofNullable(failure.get());
  }

  /** Whether it consumes and can take claims. */
  public boolean ready() {
    Life current = life.get();
    return failure.get() == null
        && current != null
        && current.assigned
        && current.dispatcher.claimsReachable();
  }

  /**
   * Takes no new claims, lets running calls finish until the drain timeout and reports the others
   * as unknown. May be called more than once.
   */
  @Override
  public void close() {
    Life current = life.get();
    if (current != null) {
      current.end();
    }
  }

  /** The threads and connections from start to close. */
  private final class Life {
    private final ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("ichido-executor-timer").factory());
    private final ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
    private final RecordSerdes serdes = RecordSerdes.from(config.registry());
    private final Deserializer<SideEffectCommand> commands =
        serdes.deserializer(SideEffectCommand.class);
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private final OffsetTracker offsets = new OffsetTracker();
    private final Dispatcher dispatcher;
    private final Reporter reporter;
    private final Caller caller;
    private final Thread pollThread;
    private final Thread dispatchThread;
    private final Thread reportThread;
    private volatile boolean stopping;
    private volatile boolean assigned;
    private boolean full;
    private long pausedUntil = System.nanoTime();
    private long committedAt = System.nanoTime();

    Life() {
      // A watch lasts as long as the longest call, and most are cancelled at once.
      timer.setRemoveOnCancelPolicy(true);
      String owner = config.nameOrDefault() + "/" + UUID.randomUUID();
      ClaimStore claims = new ClaimStore(dataSource, owner);
      consumer = new KafkaConsumer<>(consumerSettings());
      producer = new KafkaProducer<>(producerSettings());
      caller = new Caller(handlers, claims, clock, meters, config, owner);
      reporter =
          new Reporter(
              claims, producer, serdes, topics, config.nameOrDefault(), meters, timer, this::fail);
      dispatcher =
          new Dispatcher(
              claims::take,
              owner,
              clock,
              meters,
              handlers,
              config.concurrencyOrDefault(),
              config.claimRetention(),
              this::startCall);
      pollThread = thread("poll", this::poll);
      dispatchThread = thread("dispatch", dispatcher);
      reportThread = thread("report", reporter);
    }

    private Thread thread(String name, Runnable body) {
      return Thread.ofPlatform()
          .name("ichido-executor-" + name)
          .unstarted(
              () -> {
                try {
                  body.run();
                } catch (RuntimeException | Error e) {
                  fail(e);
                }
              });
    }

    void begin() {
      consumer.subscribe(List.of(topics.commands()), new Rebalance());
      reportThread.start();
      dispatchThread.start();
      pollThread.start();
      if (config.claimRetention() != null) {
        purgeAfter(new ClaimPurge(dataSource, config.claimRetention()), Duration.ZERO);
      }
      LOG.info("Executor {} started with {} actions", config.nameOrDefault(), handlers.size());
    }

    /** Slowly, so that a backlog of years takes nothing from the calls. */
    private void purgeAfter(ClaimPurge purge, Duration pause) {
      var unused =
          timer.schedule(
              () ->
                  calls.execute(
                      () -> {
                        Duration next = PURGE_REST;
                        try {
                          int rows = purge.run(PURGED_AT_ONCE);
                          meters.purged(rows);
                          next = rows < PURGED_AT_ONCE ? PURGE_REST : PURGE_PAUSE;
                        } catch (SQLException e) {
                          LOG.warn("Old claims can't be deleted: {}", e.getMessage());
                          meters.trouble("purge");
                        }
                        if (!stopping) {
                          purgeAfter(purge, next);
                        }
                      }),
              pause.toMillis(),
              TimeUnit.MILLISECONDS);
    }

    void fail(Throwable cause) {
      if (failure.compareAndSet(null, cause)) {
        LOG.error("Executor {} stops: {}", config.nameOrDefault(), cause.toString());
      }
      stopping = true;
    }

    void end() {
      stopping = true;
      boolean interrupted = false;
      while (pollThread.isAlive()) {
        try {
          pollThread.join();
        } catch (InterruptedException e) {
          interrupted = true;
          break;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    private Map<String, Object> consumerSettings() {
      Map<String, Object> settings = new HashMap<>(config.kafka());
      settings.put(ConsumerConfig.GROUP_ID_CONFIG, config.groupIdOrDefault());
      settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
      settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
      settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
      settings.put(
          ConsumerConfig.MAX_POLL_RECORDS_CONFIG, Math.min(500, config.maxInFlightOrDefault()));
      settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
      settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
      settings.putIfAbsent(ConsumerConfig.CLIENT_ID_CONFIG, config.nameOrDefault());
      return settings;
    }

    private Map<String, Object> producerSettings() {
      Map<String, Object> settings = new HashMap<>(config.kafka());
      settings.put(ProducerConfig.ACKS_CONFIG, "all");
      settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
      settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
      settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
      settings.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, config.nameOrDefault());
      // Results come in batches already.
      settings.putIfAbsent(ProducerConfig.LINGER_MS_CONFIG, "0");
      // A send that waits for the broker would keep later results from being recorded.
      settings.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, "500");
      // A dead letter carries the refused record whole.
      settings.putIfAbsent(
          ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(Topics.DEAD_LETTER_BYTES));
      return settings;
    }

    private void poll() {
      try {
        while (!stopping) {
          throttle();
          accept(consumer.poll(POLL));
          commit(false);
        }
      } finally {
        drain();
      }
    }

    private void throttle() {
      int held = dispatcher.held();
      if (held >= config.maxInFlightOrDefault()) {
        full = true;
      } else if (held <= config.maxInFlightOrDefault() / 2) {
        full = false;
      }
      if (full || System.nanoTime() - pausedUntil < 0) {
        consumer.pause(consumer.assignment());
      } else if (!consumer.paused().isEmpty()) {
        consumer.resume(consumer.paused());
      }
    }

    private void accept(ConsumerRecords<byte[], byte[]> records) {
      List<Work> works = new ArrayList<>();
      for (TopicPartition partition : records.partitions()) {
        for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
          try {
            toWork(partition, record).ifPresent(works::add);
          } catch (RegistryUnavailableException e) {
            LOG.warn("Commands can't be decoded and wait: {}", e.getMessage());
            meters.trouble("registry");
            consumer.seek(partition, record.offset());
            pausedUntil = System.nanoTime() + REGISTRY_PAUSE.toNanos();
            break;
          } catch (UndecodableRecordException e) {
            refuse(partition, record, "UNDECODABLE", "DECODING", e.code() + ": " + e.getMessage());
          } catch (CommandMapper.CommandInvalidException e) {
            refuse(partition, record, e.code(), "CONTRACT", String.valueOf(e.getMessage()));
          }
        }
      }
      if (!works.isEmpty()) {
        dispatcher.add(works);
      }
    }

    private Optional<Work> toWork(TopicPartition partition, ConsumerRecord<byte[], byte[]> record)
        throws CommandMapper.CommandInvalidException {
      SideEffectCommand decoded = commands.deserialize(record.topic(), record.value());
      byte[] key = record.key() == null ? new byte[0] : record.key();
      if (decoded == null) {
        throw CommandMapper.CommandInvalidException.empty();
      }
      ToolCommand command = CommandMapper.toCommand(key, decoded);
      offsets.begin(partition, record.offset());
      if (!serves.test(command.action())) {
        offsets.complete(partition, record.offset());
        return Optional.empty();
      }
      meters.delivery(command.kind(), command.action());
      return Optional.of(
          new Work(command, partition, record.offset(), CarriedHeaders.of(record.headers())));
    }

    private void refuse(
        TopicPartition partition,
        ConsumerRecord<byte[], byte[]> record,
        String code,
        String reasonClass,
        String detail) {
      offsets.begin(partition, record.offset());
      reporter.refuse(
          record,
          ResultMapper.toDeadLetter(record, code, reasonClass, detail, clock.instant()),
          () -> offsets.complete(partition, record.offset()));
    }

    /** Called by the dispatcher, with the claim taken. */
    private void startCall(Work work) {
      try {
        calls.execute(() -> call(work));
      } catch (RejectedExecutionException e) {
        LOG.debug("The claim came after the drain; its attempt is left to its lease", e);
      }
    }

    private void call(Work work) {
      work.runner = Thread.currentThread();
      ScheduledFuture<?> watch =
          timer.schedule(
              () -> giveUp(work, "HANDLER_TIMEOUT"),
              config.handlerTimeoutOrDefault().toMillis(),
              TimeUnit.MILLISECONDS);
      try {
        Told told = caller.perform(work);
        if (work.reported.compareAndSet(false, true)) {
          tell(work, told);
        } else {
          Told late = caller.late(told);
          if (late != null && late.report() != null) {
            reporter.report(work, late, late.report(), () -> {});
          }
        }
      } catch (RuntimeException | Error e) {
        fail(e);
      } finally {
        watch.cancel(false);
        dispatcher.leave(work);
      }
    }

    private void giveUp(Work work, String reason) {
      if (work.reported.compareAndSet(false, true)) {
        tell(work, caller.givenUp(work.command, reason));
        Thread runner = work.runner;
        if (runner != null) {
          runner.interrupt();
        }
      }
    }

    private void tell(Work work, Told told) {
      if (told.report() == null) {
        over(work);
      } else {
        reporter.report(work, told, told.report(), () -> over(work));
      }
    }

    private void over(Work work) {
      offsets.complete(work.partition, work.offset);
      dispatcher.done(work);
    }

    private void commit(boolean now) {
      long at = System.nanoTime();
      if (!now && at - committedAt < COMMIT_EVERY.toNanos()) {
        return;
      }
      committedAt = at;
      Map<TopicPartition, OffsetAndMetadata> positions = offsets.takeCommittable();
      if (positions.isEmpty()) {
        return;
      }
      if (now) {
        try {
          consumer.commitSync(positions, Duration.ofSeconds(5));
        } catch (KafkaException e) {
          // The next owner gets the commands again and finds their results recorded.
          LOG.warn("Positions were not committed: {}", e.getMessage());
        }
      } else {
        consumer.commitAsync(
            positions,
            (committed, e) -> {
              if (e != null) {
                offsets.returnCommittable(committed.keySet());
              }
            });
      }
    }

    private void drain() {
      try {
        dispatcher.stop();
        if (failure.get() == null) {
          awaitFor(
              config.drainTimeoutOrDefault(),
              () -> dispatcher.running().isEmpty() && reporter.open() == 0);
        }
        // Not of what still asks for its claim: the attempt may be another's.
        dispatcher.running().stream()
            .filter(work -> work.runner != null)
            .forEach(work -> giveUp(work, "DRAIN_TIMEOUT"));
        // What was given up on must still be recorded and sent.
        awaitFor(Duration.ofSeconds(5), () -> reporter.open() == 0);
      } finally {
        calls.shutdownNow();
        reporter.end();
        timer.shutdownNow();
        joined(reportThread);
        joined(dispatchThread);
        producer.close(Duration.ofSeconds(2));
        commit(true);
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(5)));
        LOG.info("Executor {} stopped", config.nameOrDefault());
      }
    }

    /** Keeps the membership alive while it waits, without taking new records. */
    private void awaitFor(Duration limit, BooleanSupplier reached) {
      long until = System.nanoTime() + limit.toNanos();
      while (!reached.getAsBoolean() && System.nanoTime() - until < 0) {
        try {
          consumer.pause(consumer.assignment());
          consumer.poll(Duration.ofMillis(20));
          commit(false);
        } catch (KafkaException e) {
          LOG.debug("While draining", e);
        }
      }
    }

    private void joined(Thread thread) {
      try {
        thread.join(Duration.ofSeconds(5));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private final class Rebalance implements ConsumerRebalanceListener {
      @Override
      public void onPartitionsRevoked(Collection<TopicPartition> gone) {
        commit(true);
        forget(gone);
      }

      @Override
      public void onPartitionsLost(Collection<TopicPartition> gone) {
        forget(gone);
      }

      @Override
      public void onPartitionsAssigned(Collection<TopicPartition> given) {
        assigned = true;
      }

      /* Calls that run go on under their claim and report; the next owner finds the claim. */
      private void forget(Collection<TopicPartition> gone) {
        Set<TopicPartition> partitions = new HashSet<>(gone);
        dispatcher.drop(partitions);
        offsets.forget(partitions);
      }
    }
  }
}
