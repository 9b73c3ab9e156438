package dev.ichido.relay;

import dev.ichido.relay.RelayException.Code;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.WireException;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings committed outbox rows to Kafka in commit order, each at least once. The replication slot
 * is the only position, and only acknowledged records move it. A failure stops the engine; it
 * starts again from the slot after a backoff. A second relay on the same slot waits until the first
 * is gone.
 *
 * <p>Debezium and Kafka log much, and their errors twice over what the relay says of them itself:
 * see {@link #quietLoggers()}.
 */
public final class OutboxRelay implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);
  private static final Duration SLOT_LOOK = Duration.ofMillis(500);
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(3);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

  private final RelayConfig config;
  private final Topics topics;
  private final OutboxSource source;
  private final RelayMeters meters;
  private final ChangeRouter router = new ChangeRouter(Clock.systemUTC());
  private final Function<Map<String, Object>, Producer<byte[], byte[]>> producers;
  private final String token = "ichido-relay-" + UUID.randomUUID();
  private final CountDownLatch closing = new CountDownLatch(1);
  private final AtomicBoolean started = new AtomicBoolean();
  private final AtomicReference<@Nullable ChangeEngine> engine = new AtomicReference<>();
  private final AtomicReference<@Nullable IntentSender> sender = new AtomicReference<>();
  private final AtomicReference<@Nullable OutboxAudit> auditing = new AtomicReference<>();
  private final AtomicReference<@Nullable RelayException> failure = new AtomicReference<>();
  private final AtomicReference<@Nullable RelayException> problem = new AtomicReference<>();
  private final SlotMonitor monitor;

  /** One transaction at a time: that of the stream, or that of a repair. */
  private final Object sending = new Object();

  private final List<Thread> threads = new ArrayList<>();

  /** Opens nothing. */
  public OutboxRelay(RelayConfig config, MeterRegistry registry) {
    this(
        config,
        registry,
        settings ->
            new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()));
  }

  OutboxRelay(
      RelayConfig config,
      MeterRegistry registry,
      Function<Map<String, Object>, Producer<byte[], byte[]>> producers) {
    this.config = config;
    this.topics = new Topics(config.topicPrefix());
    this.source = new OutboxSource(config.outbox(), config.tuning().startTimeout());
    this.meters = new RelayMeters(registry, config.outbox().slot());
    this.producers = producers;
    this.monitor =
        new SlotMonitor(
            config.outbox(), source, meters, config.tuning().heartbeat(), token, closing);
  }

  /**
   * Levels that keep the log to what the relay says itself; names of loggers to names of levels, in
   * the order in which to set them.
   */
  public static Map<String, String> quietLoggers() {
    return Map.of(
        "io.debezium", "OFF",
        "org.apache.kafka", "ERROR",
        "org.flywaydb", "ERROR");
  }

  /**
   * Looks whether everything is there, and starts. Returns before the slot is held; {@link
   * #ready()} tells.
   *
   * @throws RelayException what is missing: any of the database's, slot's, broker's, topics' and
   *     registry's codes
   */
  public void start() {
    if (!started.compareAndSet(false, true)) {
      throw new IllegalStateException("Expected one call of start(), but it was called again.");
    }
    RecordSerdes serdes = RecordSerdes.from(config.registry());
    source.requireReady(config.tuning().slotLost());
    BrokerChecks.Limits limits =
        BrokerChecks.requireTopics(config.kafka(), topics, config.tuning().startTimeout());
    requireRegistry(serdes);
    OutboxAudit audit =
        new OutboxAudit(
            config.outbox(),
            source,
            router,
            meters,
            new SentDeliveries(config.kafka(), topics, serdes),
            config.tuning().auditInterval(),
            monitor::holding,
            this::repair,
            closing);
    auditing.set(audit);
    String transactionalId =
        RelayIdentity.transactionalId(source.systemIdentifier(), config.outbox().slot());
    run("ichido-relay", () -> relay(serdes, limits, transactionalId, audit));
    run("ichido-relay-slot", monitor);
    run("ichido-relay-audit", audit);
  }

  private void run(String name, Runnable work) {
    Thread thread = Thread.ofPlatform().name(name).daemon().start(work);
    threads.add(thread);
  }

  /** Rows are being relayed: the slot is held, and the last batch was acknowledged. */
  public boolean ready() {
    return monitor.holding() && problem().isEmpty() && failure.get() == null;
  }

  /** Why the relay stopped for good: nothing but a person helps. */
  public Optional<Throwable> failure() {
    return Optional.ofNullable(failure.get());
  }

  /**
   * What the relay is waiting out at the moment, such as a broker that is away, a slot that another
   * relay holds, or rows that the audit misses and that are not sent again yet.
   */
  public Optional<RelayException> problem() {
    OutboxAudit audit = auditing.get();
    return Optional.ofNullable(problem.get())
        .or(() -> audit == null ? Optional.empty() : audit.gap());
  }

  /** Stops after the batch in work. Idempotent. */
  @Override
  public void close() {
    closing.countDown();
    long start = System.nanoTime();
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()
          && !interrupted
          && System.nanoTime() - start < CLOSE_LIMIT.toNanos()) {
        ChangeEngine running = engine.get();
        if (running != null) {
          running.tryStop();
        }
        IntentSender sending = sender.get();
        if (sending != null && System.nanoTime() - start > CLOSE_PATIENCE.toNanos()) {
          sending.abandon();
        }
        try {
          thread.join(50);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isClosing() {
    return closing.getCount() == 0;
  }

  private void requireRegistry(RecordSerdes serdes) {
    try {
      serdes
          .serializer(ToolIntent.class)
          .serialize(
              topics.intents(),
              ToolIntent.newBuilder().setTenant("").setDeliveryId("").setPrincipal("").build());
      serdes
          .serializer(DeadLetter.class)
          .serialize(
              topics.deadLetters(),
              DeadLetter.newBuilder()
                  .setRole("relay")
                  .setCode("")
                  .setReasonClass("")
                  .setDetail("")
                  .setSourceTopic("")
                  .setSourcePartition(0)
                  .setSourceOffset(0)
                  .setAt(Instant.EPOCH)
                  .build());
    } catch (WireException e) {
      throw RelayException.wrapping(Code.REGISTRY, e);
    }
  }

  private boolean repair(List<RoutedRow> rows) throws InterruptedException {
    try {
      synchronized (sending) {
        IntentSender to = sender.get();
        if (to == null || !monitor.holding()) {
          return false;
        }
        to.send(rows);
        return true;
      }
    } catch (RuntimeException e) {
      // A transaction that failed ends with its producer, and that with the engine.
      ChangeEngine running = engine.get();
      if (running != null) {
        running.tryStop();
      }
      throw e;
    }
  }

  private void relay(
      RecordSerdes serdes, BrokerChecks.Limits limits, String transactionalId, OutboxAudit audit) {
    Duration backoff = config.tuning().firstBackoff();
    while (!isClosing()) {
      Batches batches = new Batches(serdes, limits, transactionalId, audit);
      try {
        source.requireReady(config.tuning().slotLost());
        backfill(batches);
        awaitSlot();
        if (!isClosing()) {
          runEngine(batches);
        }
      } catch (Throwable e) {
        RelayException reason = named(e);
        if (isClosing()) {
          return;
        }
        if (isFinal(reason)) {
          LOG.error("The relay stopped: {}", reason.getMessage());
          failure.set(reason);
          return;
        }
        RelayException before = problem.getAndSet(reason);
        if (batches.acknowledged || before == null || before.code() != reason.code()) {
          backoff = config.tuning().firstBackoff();
          LOG.warn("The relay starts again from its slot. {}", reason.getMessage());
        }
        LOG.debug("The relay's engine stopped", reason);
        meters.restarted();
        if (pause(backoff)) {
          return;
        }
        Duration doubled = backoff.multipliedBy(2);
        backoff =
            doubled.compareTo(config.tuning().maxBackoff()) > 0
                ? config.tuning().maxBackoff()
                : doubled;
      }
    }
  }

  private boolean isFinal(RelayException reason) {
    boolean curable =
        config.tuning().slotLost() == SlotLoss.BACKFILL
            && (reason.code() == Code.SLOT_MISSING || reason.code() == Code.SLOT_LOST);
    return reason.code().needsAPerson() && !curable;
  }

  /** Returns when no row is left that the slot will not show; at once where it was never lost. */
  private void backfill(Batches batches) throws SQLException, InterruptedException {
    Backfill backfill = new Backfill(config.outbox(), source, router, config.tuning().maxBatch());
    Optional<RelayException> reason = backfill.findReason();
    while (reason.isPresent() && !isClosing()) {
      RelayException lost = reason.get();
      RelayException before = problem.getAndSet(lost);
      meters.slotLost(true);
      if (before == null || before.code() != lost.code()) {
        LOG.error("{}: {} Sending from the table now.", lost.code(), lost.getMessage());
      }
      try (batches) {
        backfill
            .run(batches::backfill)
            .ifPresent(
                rows ->
                    LOG.warn(
                        "Slot {} is there again; {} rows were sent from the table",
                        config.outbox().slot(),
                        rows));
      }
      reason = backfill.findReason();
      if (reason.isPresent()) {
        pause(SLOT_LOOK);
      }
    }
    meters.slotLost(reason.isPresent());
  }

  private void runEngine(Batches batches) throws Throwable {
    ChangeEngine run = new ChangeEngine(config.outbox(), source, config.tuning(), token, batches);
    engine.set(run);
    monitor.greet();
    try {
      run.run();
    } finally {
      engine.set(null);
      batches.close();
    }
  }

  /** Returns at once where nobody holds the slot, or when the relay is closed. */
  private void awaitSlot() throws SQLException {
    try (Connection connection = source.connect()) {
      boolean said = false;
      while (true) {
        int holder = source.findSlot(connection).orElseThrow(source::slotMissing).holder();
        if (holder == 0) {
          return;
        }
        problem.set(
            RelayException.of(
                Code.SLOT_HELD,
                "slot " + config.outbox().slot() + " to be free",
                "server process " + holder + " streams from it for another relay",
                "that it is the one you know of; this relay takes over when it ends"));
        if (!said) {
          LOG.info("Waiting: another relay holds slot {}", config.outbox().slot());
          said = true;
        }
        if (pause(SLOT_LOOK)) {
          return;
        }
      }
    }
  }

  private boolean pause(Duration time) {
    try {
      return closing.await(time.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  private RelayException named(Throwable e) {
    Throwable root = e;
    for (Throwable t = e; t != null; t = t.getCause()) {
      root = t;
      if (t instanceof RelayException known) {
        return known;
      }
    }
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof SQLException sql) {
        return "55006".equals(sql.getSQLState())
            ? RelayException.of(
                Code.SLOT_HELD,
                "slot " + config.outbox().slot() + " to be free",
                "another relay was faster",
                "that one relay a slot runs",
                e)
            : source.named(sql);
      }
    }
    return RelayException.of(
        Code.ENGINE_FAILED,
        "the change engine to go on",
        "it stopped with " + root.getClass().getSimpleName(),
        "the log at level debug for its cause",
        e);
  }

  /**
   * Send all, wait for all, mark in order. What is thrown here is never a Connect
   * RetriableException.
   */
  private final class Batches
      implements DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>>, AutoCloseable {
    private final RecordSerdes serdes;
    private final BrokerChecks.Limits limits;
    private final String transactionalId;
    private final OutboxAudit audit;
    private volatile boolean acknowledged;

    private Batches(
        RecordSerdes serdes,
        BrokerChecks.Limits limits,
        String transactionalId,
        OutboxAudit audit) {
      this.serdes = serdes;
      this.limits = limits;
      this.transactionalId = transactionalId;
      this.audit = audit;
    }

    @Override
    public void handleBatch(
        List<RecordChangeEvent<SourceRecord>> changes,
        DebeziumEngine.RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
        throws InterruptedException {
      IntentSender to = sender.get();
      if (to == null) {
        to = open();
      }
      List<RoutedRow> rows = new ArrayList<>(changes.size());
      for (RecordChangeEvent<SourceRecord> change : changes) {
        rows.add(router.route(change.record()));
      }
      int sent = send(to, rows);
      long now = System.currentTimeMillis();
      for (RoutedRow row : rows) {
        if (row instanceof RoutedRow.Intent intent) {
          meters.delay(now - intent.row().committedAt());
        }
      }
      meters.acknowledged(sent);
      for (RecordChangeEvent<SourceRecord> change : changes) {
        committer.markProcessed(change);
      }
      committer.markBatchFinished();
      acknowledged = true;
      problem.set(null);
    }

    private void backfill(List<RoutedRow> rows) throws InterruptedException {
      IntentSender to = sender.get();
      if (to == null) {
        to = connect();
      }
      if (isClosing()) {
        throw new InterruptedException();
      }
      meters.backfilled(send(to, rows));
    }

    private int send(IntentSender to, List<RoutedRow> rows) throws InterruptedException {
      int sent;
      synchronized (sending) {
        sent = to.send(rows);
      }
      audit.acknowledged(rows);
      return sent;
    }

    /** Fences the relays before this one. */
    private IntentSender connect() {
      IntentSender made =
          IntentSender.open(
              config.kafka(), transactionalId, topics, limits, serdes, router, meters, producers);
      sender.set(made);
      return made;
    }

    /**
     * The first batch proves that this engine holds the slot. A relay that was paused before its
     * first batch may have lost it since: so the slot is looked at after the fencing, when a relay
     * that takes it from now on fences this one.
     */
    private IntentSender open() {
      IntentSender made = connect();
      try (Connection connection = source.connect()) {
        if (!source.findHolder(connection).equals(Optional.of(token))) {
          throw RelayException.of(
              Code.FENCED,
              "to hold slot " + config.outbox().slot(),
              "it does not any more",
              "that one relay a slot runs, and the connection to the database; this one waits for the"
                  + " slot again");
        }
      } catch (SQLException e) {
        throw source.named(e);
      }
      LOG.info("Relaying {} from slot {}", ChangeRouter.TABLE, config.outbox().slot());
      return made;
    }

    @Override
    public void close() {
      IntentSender made = sender.getAndSet(null);
      if (made != null) {
        made.close();
      }
    }
  }
}
