package dev.ichido.topology;

import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.SchemaRefusedException;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.store.LedgerView;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.MissingSourceTopicException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.errors.TopologyException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processor as a process runs it. A failed thread is replaced, since its transaction was
 * aborted and the record is processed again; a failure that comes back at once, or that no retry
 * can mend, stops the role and is told by {@link #failure()}.
 */
public final class ProcessorRole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessorRole.class);

  /** Failures within the span that stop the role. */
  private static final int MOST_FAILURES = 10;

  private static final Duration FAILURE_SPAN = Duration.ofMinutes(5);
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(8);

  private final KafkaStreams streams;
  private final ResultsHearing hearing;
  private final AtomicReference<Optional<Throwable>> failure =
      new AtomicReference<>(Optional.empty());
  private final Deque<Long> failures = new ArrayDeque<>();
  private volatile boolean closing;

  /** By the time of this machine. */
  public ProcessorRole(ProcessorConfig config, Supplier<PolicySet> policies, MeterRegistry meters) {
    this(config, policies, meters, Time.SYSTEM);
  }

  /** By another clock than the machine's. */
  public ProcessorRole(
      ProcessorConfig config, Supplier<PolicySet> policies, MeterRegistry meters, Time time) {
    RecordSerdes serdes = RecordSerdes.from(config.registry());
    Properties properties = streamsConfig(config);
    Topics topics = new Topics(config.topicPrefix());
    this.hearing =
        new ResultsHearing(
            ResultsLog.connect(
                new StreamsConfig(properties).getAdminConfigs(config.applicationId() + "-hearing"),
                config.applicationId(),
                topics.results(),
                DedupTopology.readWithResults(topics, config.applicationId())),
            () -> Instant.ofEpochMilli(time.milliseconds()),
            config.sweepInterval());
    Topology topology =
        new DedupTopology(topics, serdes, policies, meters)
            .withHearing(hearing)
            .withSweep(config.sweepInterval(), config.sweepBatch())
            .withInlineBodyBytes(config.inlineBodyBytes())
            .build(properties);
    // Streams makes the clients of its own protocol by itself only.
    this.streams =
        "streams".equalsIgnoreCase(properties.getProperty(StreamsConfig.GROUP_PROTOCOL_CONFIG))
            ? new KafkaStreams(topology, properties, time)
            : new KafkaStreams(topology, properties, new RestingClients(), time);
    streams.setUncaughtExceptionHandler(this::onFailure);
    streams.setGlobalStateRestoreListener(new RestoreLog());
    streams.setStateListener((next, before) -> LOG.info("Processor is {}, was {}.", next, before));
  }

  /** Starts in the background; {@link #ready()} tells when the stores are restored. */
  public void start() {
    streams.start();
  }

  /** True while all threads are running on restored stores. */
  public boolean ready() {
    return streams.state() == KafkaStreams.State.RUNNING;
  }

  /** Why the role stopped by itself, if it did. */
  public Optional<Throwable> failure() {
    Optional<Throwable> reason = failure.get();
    if (reason.isEmpty() && !closing && streams.state() == KafkaStreams.State.ERROR) {
      return Optional.of(
          new IllegalStateException(
              "Expected the processor to run, but its threads have ended. Check the log above."));
    }
    return reason;
  }

  /** The operations on this process's partitions. */
  public LedgerView ledger() {
    return new LedgerView(streams);
  }

  /** Commits what is decided and stops; a second call does nothing. */
  @Override
  public void close() {
    closing = true;
    // Whoever takes over does not wait for the end of a session that nobody will renew.
    try {
      streams.close(
          CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
              .withTimeout(CLOSE_WITHIN));
    } finally {
      hearing.close();
    }
  }

  static Properties streamsConfig(ProcessorConfig config) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, config.guarantee().setting());
    properties.put(
        StreamsConfig.COMMIT_INTERVAL_MS_CONFIG,
        String.valueOf(config.commitInterval().toMillis()));
    // A record is committed at the earliest when the poll that follows it returns.
    properties.put(
        StreamsConfig.POLL_MS_CONFIG,
        String.valueOf(Math.clamp(config.commitInterval().toMillis() / 2, 1, 10)));
    properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, String.valueOf(config.threads()));
    properties.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, String.valueOf(config.standbys()));
    properties.put(
        StreamsConfig.REPLICATION_FACTOR_CONFIG, String.valueOf(config.replicationFactor()));
    properties.put(StreamsConfig.STATE_DIR_CONFIG, config.stateDir());
    sending(config)
        .forEach((name, value) -> properties.put(StreamsConfig.producerPrefix(name), value));
    // No order between topics is promised, so a task waits for none of them.
    properties.put(StreamsConfig.MAX_TASK_IDLE_MS_CONFIG, "-1");
    // A transaction that begins while the one before is being completed is asked to come again.
    properties.put(StreamsConfig.producerPrefix(ProducerConfig.RETRY_BACKOFF_MS_CONFIG), "10");
    // A dead letter carries the refused record whole.
    properties.put(
        StreamsConfig.producerPrefix(ProducerConfig.MAX_REQUEST_SIZE_CONFIG),
        String.valueOf(Topics.DEAD_LETTER_BYTES));
    properties.put(
        StreamsConfig.topicPrefix(TopicConfig.MAX_MESSAGE_BYTES_CONFIG),
        String.valueOf(Topics.DEAD_LETTER_BYTES));
    properties.put(
        StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    // After a kill the group waits this long before another process takes over.
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), "10000");
    properties.putAll(config.kafka());
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, config.applicationId());
    // A cached store forgets ids after a rebalance.
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
    properties.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, "true");
    properties.put(
        StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG, FailOnException.Processing.class);
    properties.put(
        StreamsConfig.PRODUCTION_EXCEPTION_HANDLER_CLASS_CONFIG, FailOnException.Production.class);
    return properties;
  }

  /**
   * Under exactly_once_v2 nothing is read before the commit, which sends what waits, so until then
   * it gathers. With more than one request in flight the broker refused some as out of order, and
   * they were sent again: there is one at a time. Under at_least_once a record waits for those that
   * are sent right after it.
   */
  private static Map<String, String> sending(ProcessorConfig config) {
    String batch = String.valueOf(256 << 10);
    return switch (config.guarantee()) {
      case EXACTLY_ONCE_V2 ->
          Map.of(
              ProducerConfig.LINGER_MS_CONFIG,
              "1000",
              ProducerConfig.BATCH_SIZE_CONFIG,
              batch,
              ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
              "1");
      case AT_LEAST_ONCE ->
          Map.of(ProducerConfig.LINGER_MS_CONFIG, "2", ProducerConfig.BATCH_SIZE_CONFIG, batch);
    };
  }

  private StreamThreadExceptionResponse onFailure(Throwable thrown) {
    if (closing) {
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }
    int recent = countFailure(System.nanoTime());
    if (isBeyondRetry(thrown) || recent >= MOST_FAILURES) {
      LOG.error("The processor stops: {}", thrown.toString());
      failure.set(Optional.of(thrown));
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }
    LOG.warn("A processor thread failed and is replaced: {}", thrown.toString());
    // The dying thread waits, so that a registry or broker that is away is not hammered.
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(10_000L, 100L << recent)));
    return StreamThreadExceptionResponse.REPLACE_THREAD;
  }

  private synchronized int countFailure(long nanos) {
    failures.addLast(nanos);
    while (nanos - failures.getFirst() > FAILURE_SPAN.toNanos()) {
      failures.removeFirst();
    }
    return failures.size();
  }

  private static boolean isBeyondRetry(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof MissingSourceTopicException
          || cause instanceof TopologyException
          || cause instanceof SchemaRefusedException
          || (cause instanceof ApiException
              && (cause instanceof AuthorizationException
                  || cause instanceof AuthenticationException))) {
        return true;
      }
    }
    return false;
  }
}
