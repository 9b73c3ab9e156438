package dev.ichido.inbox;

import dev.ichido.inbox.Feed.Course;
import dev.ichido.inbox.InboxStore.Applied;
import dev.ichido.inbox.wire.JournalMapper;
import dev.ichido.inbox.wire.ReplyMapper;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.Topics;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings replies, and what the journal says of operations, into a runtime's database, each exactly
 * once: the position is part of the transaction that applies them, and reading goes on from there.
 */
public final class InboxRole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(InboxRole.class);

  /**
   * Nobody waits for the journal as runtimes wait for replies, so it is taken in fewer, larger
   * batches: what an operation went through in that time is one row written.
   */
  private static final Map<String, Object> UNHURRIED =
      Map.of(
          ConsumerConfig.FETCH_MIN_BYTES_CONFIG,
          256 * 1024,
          ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG,
          250);

  private final InboxConfig config;
  private final DataSource dataSource;
  private final MeterRegistry registry;
  private final UnknownGauges unknowns;
  private volatile @Nullable List<Feed<?, ?>> feeds;

  /** An inbox of this database. */
  public InboxRole(InboxConfig config, DataSource dataSource, MeterRegistry registry) {
    this.config = config;
    this.dataSource = dataSource;
    this.registry = registry;
    this.unknowns = new UnknownGauges(new OperationReader(dataSource), Clock.systemUTC(), registry);
  }

  /**
   * Brings the tables up to date and begins to consume.
   *
   * @throws RuntimeException when the database, the settings or the registry's are not usable
   */
  public void start() {
    if (feeds != null) {
      throw new IllegalStateException("Expected a role that was not started, but it was.");
    }
    if (config.migrateOrDefault()) {
      InboxMigration.migrate(dataSource);
    }
    List<Feed<?, ?>> begun = List.of(replies(), journal());
    feeds = begun;
    begun.forEach(Feed::start);
    unknowns.start();
    LOG.info("Inbox started");
  }

  private Feed<?, ?> replies() {
    Topics topics = config.topics();
    Positions positions = new Positions(dataSource);
    InboxStore store = new InboxStore(positions);
    return new Feed<>(
        config,
        new Course<>(
            "replies",
            topics.replies(),
            config.groupIdOrDefault(),
            OperationReply.class,
            Map.of(),
            (reply, record) -> {
              if (!isKept(reply)) {
                registry.counter("ichido.inbox.replies", "what", "not_kept").increment();
                return null;
              }
              return new InboxStore.Told(
                  ReplyMapper.toReply(reply, traceparent(record.headers())),
                  ReplyMapper.findResultHash(reply));
            },
            (rows, next) -> count(store.apply(rows, next))),
        positions,
        registry);
  }

  /**
   * That an operation began is news to nobody who waits for its end. Whatever else is told is kept,
   * and so is a reason.
   */
  private boolean isKept(OperationReply reply) {
    return config.claimedRepliesOrDefault()
        || !reply.getVerdict().equals("CLAIMED")
        || reply.getCode() != null
        || reply.getFinal$()
        || reply.getDeliveryId().startsWith(InboxConfig.EVERY);
  }

  private Feed<?, ?> journal() {
    Topics topics = config.topics();
    Positions positions = new Positions(dataSource);
    JournalStore store = new JournalStore(positions);
    return new Feed<>(
        config,
        new Course<>(
            "journal",
            topics.journal(),
            config.groupIdOrDefault() + "-journal",
            JournalEntry.class,
            UNHURRIED,
            (entry, record) -> JournalMapper.findTold(entry),
            (rows, next) ->
                registry.counter("ichido.inbox.journal").increment(store.apply(rows, next))),
        positions,
        registry);
  }

  private static @Nullable String traceparent(Headers headers) {
    Header trace = headers.lastHeader("traceparent");
    return trace == null || trace.value() == null
        ? null
        : new String(trace.value(), StandardCharsets.UTF_8);
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

  /** Why the role stopped by itself, if it did. */
  public Optional<Throwable> failure() {
    return begun().stream().flatMap(feed -> feed.failure().stream()).findFirst();
  }

  /** Whether it consumes and its database answers. */
  public boolean ready() {
    List<Feed<?, ?>> begun = begun();
    return !begun.isEmpty() && begun.stream().allMatch(Feed::ready);
  }

  /** Finishes the batches at hand and stops. May be called more than once. */
  @Override
  public void close() {
    List<Feed<?, ?>> begun = begun();
    unknowns.close();
    begun.forEach(Feed::stop);
    begun.forEach(Feed::close);
    if (!begun.isEmpty()) {
      LOG.info("Inbox stopped");
    }
  }

  private List<Feed<?, ?>> begun() {
    List<Feed<?, ?>> begun = feeds;
    return begun == null ? List.of() : begun;
  }
}
