package dev.ichido.config;

import dev.ichido.gateway.GatewayConfig;
import dev.ichido.relay.OutboxDatabase;
import dev.ichido.relay.RelayTuning;
import dev.ichido.schemas.TopicSpec;
import dev.ichido.topology.Guarantee;
import dev.ichido.topology.policy.LocatedTree;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of every role. A section that is left out has its defaults; a role asks for
 * what it can't do without when it starts.
 *
 * @param kafka client properties, passed through
 * @param registry settings of the serde, passed through
 * @param policy the whole tree with its lines; the policy loader reads tenants and actions from it
 */
public record IchidoConfig(
    String source,
    Settings kafka,
    Settings registry,
    Topics topics,
    Outbox outbox,
    RelayTuning relay,
    Processor processor,
    Executor executor,
    Inbox inbox,
    GatewayConfig gateway,
    Http http,
    DeadLetter deadLetter,
    LocatedTree policy) {

  /** On servers of this process: everything that says where is replaced, all else is kept. */
  public IchidoConfig on(
      String bootstrapServers,
      String registryUrl,
      DatabaseSection database,
      String stateDir,
      Duration drain) {
    return new IchidoConfig(
        source,
        kafka.with("bootstrap.servers", bootstrapServers),
        registry.with("schema.registry.url", registryUrl),
        topics,
        new Outbox(
            database.url(),
            database.user(),
            database.password(),
            outbox.slot(),
            outbox.publication(),
            outbox.maxAge()),
        relay,
        processor.withStateDir(stateDir),
        executor.with(database, drain),
        inbox.with(database),
        gateway,
        http,
        deadLetter,
        policy);
  }

  /** With health and metrics on another port. */
  public IchidoConfig withHttpPort(int port) {
    return new IchidoConfig(
        source,
        kafka,
        registry,
        topics,
        outbox,
        relay,
        processor,
        executor,
        inbox,
        gateway,
        new Http(http.host(), port),
        deadLetter,
        policy);
  }

  /** With another relay. */
  public IchidoConfig withRelay(RelayTuning other) {
    return new IchidoConfig(
        source,
        kafka,
        registry,
        topics,
        outbox,
        other,
        processor,
        executor,
        inbox,
        gateway,
        http,
        deadLetter,
        policy);
  }

  /** With another door. */
  public IchidoConfig withGateway(GatewayConfig other) {
    return new IchidoConfig(
        source,
        kafka,
        registry,
        topics,
        outbox,
        relay,
        processor,
        executor,
        inbox,
        other,
        http,
        deadLetter,
        policy);
  }

  /** With tenants and actions laid over those of the file. */
  public IchidoConfig withPolicy(LocatedTree other) {
    return new IchidoConfig(
        source,
        kafka,
        registry,
        topics,
        outbox,
        relay,
        processor,
        executor,
        inbox,
        gateway,
        http,
        deadLetter,
        other);
  }

  /** Without the policy, whose tenants have keys. */
  @Override
  public String toString() {
    return "IchidoConfig[%s kafka %s registry %s %s %s %s %s %s %s %s]"
        .formatted(
            source, kafka, registry, topics, outbox, relay, processor, executor, inbox, http);
  }

  /**
   * Names and shape of the topics.
   *
   * @param prefix what the name of every topic begins with
   * @param partitions used when the topics are made
   */
  public record Topics(String prefix, int partitions, short replicationFactor) {
    public Topics {
      require(partitions > 0, "partitions", "1 or more");
    }

    static final Topics DEFAULT = new Topics("ichido", 4, (short) 1);

    /** All topics of that prefix, as they are to be made. */
    public List<TopicSpec> specs() {
      return new dev.ichido.schemas.Topics(prefix).specs(partitions, replicationFactor);
    }
  }

  /**
   * The runtime's database with the outbox table.
   *
   * @param slot name of the replication slot
   * @param publication name of the publication
   * @param maxAge how old a row is at most when it is relayed, by the operator's word: start-up
   *     holds it against dedupe windows, and the relay drops nothing for its age
   */
  public record Outbox(
      @Nullable String url,
      @Nullable String user,
      @Nullable String password,
      String slot,
      String publication,
      @Nullable Duration maxAge) {
    public Outbox {
      DatabaseSection.requireReadable(url);
    }

    static final Outbox DEFAULT =
        new Outbox(
            null,
            null,
            null,
            OutboxDatabase.DEFAULT_SLOT,
            OutboxDatabase.DEFAULT_PUBLICATION,
            null);

    /** The database alone. */
    public DatabaseSection database() {
      return new DatabaseSection(url, user, password);
    }

    @Override
    public String toString() {
      return "Outbox[" + url + " " + user + " slot " + slot + "]";
    }
  }

  /**
   * How the processor runs; see {@link dev.ichido.topology.ProcessorConfig}.
   *
   * @param stateDir folder of the ledger's local stores
   * @param threads stream threads in this process
   * @param standbys copies of each store that other processes keep warm
   */
  public record Processor(
      String applicationId,
      String stateDir,
      int threads,
      int standbys,
      Guarantee guarantee,
      Duration commitInterval,
      Duration sweepInterval,
      int sweepBatch,
      int inlineBodyBytes) {
    public Processor {
      require(threads > 0, "threads", "1 or more");
      require(standbys >= 0, "standbys", "0 or more");
      require(sweepBatch > 0, "sweep_batch", "1 or more");
      require(inlineBodyBytes >= 0, "inline_body_bytes", "0 or more");
      require(!commitInterval.isZero(), "commit_interval", "longer than nothing");
      require(!sweepInterval.isZero(), "sweep_interval", "longer than nothing");
    }

    static final Processor DEFAULT =
        new Processor(
            "ichido-processor",
            "ichido-state",
            1,
            0,
            Guarantee.EXACTLY_ONCE_V2,
            Duration.ofMillis(10),
            Duration.ofMillis(100),
            500,
            65_536);

    /** With its stores in another folder. */
    public Processor withStateDir(String folder) {
      return new Processor(
          applicationId,
          folder,
          threads,
          standbys,
          guarantee,
          commitInterval,
          sweepInterval,
          sweepBatch,
          inlineBodyBytes);
    }
  }

  /**
   * How commands are carried out; a member that is null takes the default of {@link
   * dev.ichido.executor.ExecutorConfig}.
   *
   * @param database where claims and result bodies are kept
   * @param claimRetention how long claims with a certain result are kept; null: as long as the
   *     policy of any action asks for
   */
  public record Executor(
      DatabaseSection database,
      @Nullable String name,
      @Nullable String groupId,
      @Nullable Integer maxInFlight,
      @Nullable Integer concurrencyPerRemote,
      @Nullable Duration drainTimeout,
      @Nullable Integer inlineBodyLimit,
      @Nullable Duration handlerTimeout,
      @Nullable Integer breakerFailureRate,
      @Nullable Duration breakerWait,
      @Nullable Duration claimRetention) {
    public Executor {
      require(
          handlerTimeout == null || !handlerTimeout.isZero(),
          "handler_timeout",
          "longer than nothing");
      require(inlineBodyLimit == null || inlineBodyLimit >= 0, "inline_body_limit", "0 or more");
    }

    static final Executor DEFAULT =
        new Executor(
            DatabaseSection.NONE, null, null, null, null, null, null, null, null, null, null);

    /** With another database and another limit for calls that run when it closes. */
    public Executor with(DatabaseSection other, Duration drain) {
      return new Executor(
          other,
          name,
          groupId,
          maxInFlight,
          concurrencyPerRemote,
          drain,
          inlineBodyLimit,
          handlerTimeout,
          breakerFailureRate,
          breakerWait,
          claimRetention);
    }
  }

  /**
   * Where replies are written; a member that is null takes the default of {@link
   * dev.ichido.inbox.InboxConfig}.
   *
   * @param database the runtime's database
   */
  public record Inbox(
      DatabaseSection database,
      @Nullable String groupId,
      @Nullable Integer maxBatch,
      @Nullable Boolean claimedReplies) {
    static final Inbox DEFAULT = new Inbox(DatabaseSection.NONE, null, null, null);

    /** With another database. */
    public Inbox with(DatabaseSection other) {
      return new Inbox(other, groupId, maxBatch, claimedReplies);
    }
  }

  /**
   * What holds for refused records.
   *
   * @param maxAge how old one is at most when it is sent again, by the operator's word: start-up
   *     holds it against dedupe windows, and nothing else looks at it
   */
  public record DeadLetter(@Nullable Duration maxAge) {
    static final DeadLetter DEFAULT = new DeadLetter(null);
  }

  /**
   * The endpoint of health and metrics.
   *
   * @param port 0 for a free one
   */
  public record Http(String host, int port) {
    public Http {
      require(port >= 0 && port < 65_536, "port", "0 to 65535");
    }

    static final Http DEFAULT = new Http("127.0.0.1", 0);
  }

  private static void require(boolean holds, String member, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "Expected %s for %s, but it is not. Check that value.".formatted(expected, member));
    }
  }
}
