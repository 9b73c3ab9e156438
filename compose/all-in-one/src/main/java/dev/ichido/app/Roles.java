package dev.ichido.app;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import dev.ichido.config.ConfigException;
import dev.ichido.config.DatabaseSection;
import dev.ichido.config.IchidoConfig;
import dev.ichido.decision.ActionPolicy;
import dev.ichido.executor.ExecutorConfig;
import dev.ichido.executor.ExecutorRole;
import dev.ichido.executor.ResultBody;
import dev.ichido.executor.claim.ClaimStore;
import dev.ichido.executor.http.HttpRemotes;
import dev.ichido.gateway.ActionTerms;
import dev.ichido.gateway.GatewayRole;
import dev.ichido.inbox.InboxConfig;
import dev.ichido.inbox.InboxRole;
import dev.ichido.relay.OutboxDatabase;
import dev.ichido.relay.OutboxRelay;
import dev.ichido.relay.RelayConfig;
import dev.ichido.topology.ProcessorConfig;
import dev.ichido.topology.ProcessorRole;
import dev.ichido.topology.policy.ActionRules;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.MeterRegistry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes roles from the configuration. Nothing is started here. */
public final class Roles {
  private static final Logger LOG = LoggerFactory.getLogger(Roles.class);
  private static final int GATEWAY_CONNECTIONS = 8;

  private final IchidoConfig config;
  private final LivePolicy policy;
  private final MeterRegistry meters;
  private final boolean migrate;
  private final Clocks clocks;

  /**
   * For one process.
   *
   * @param policy closed by the caller, after the roles
   * @param migrate whether executor and inbox bring their tables up to date when they start
   */
  public Roles(IchidoConfig config, LivePolicy policy, MeterRegistry meters, boolean migrate) {
    this(config, policy, meters, migrate, Clocks.SYSTEM);
  }

  Roles(
      IchidoConfig config,
      LivePolicy policy,
      MeterRegistry meters,
      boolean migrate,
      Clocks clocks) {
    this.config = config;
    this.policy = policy;
    this.meters = meters;
    this.migrate = migrate;
    this.clocks = clocks;
  }

  /** Outbox to intents. */
  public RunningRole relay() {
    requireKafka("relay");
    OutboxRelay relay =
        new OutboxRelay(
            new RelayConfig(
                outboxDatabase(config, "relay"),
                config.kafka().values(),
                config.registry().values(),
                config.topics().prefix(),
                config.relay()),
            meters);
    return new RunningRole(
        "relay",
        relay::start,
        relay::ready,
        () -> relay.problem().map(problem -> problem.code().name()),
        relay::failure,
        relay::close);
  }

  /** Intents and results to commands and replies. */
  public RunningRole processor() {
    requireKafka("processor");
    IchidoConfig.Processor section = config.processor();
    ProcessorRole processor =
        new ProcessorRole(
            new ProcessorConfig(
                section.applicationId(),
                config.topics().prefix(),
                config.kafka().values(),
                config.registry().values(),
                section.stateDir(),
                section.threads(),
                section.standbys(),
                config.topics().replicationFactor(),
                section.guarantee(),
                section.commitInterval(),
                section.sweepInterval(),
                section.sweepBatch(),
                section.inlineBodyBytes()),
            policy::rules,
            meters,
            clocks.time());
    return new RunningRole(
        "processor", processor::start, processor::ready, processor::failure, processor::close);
  }

  /** An executor by this configuration, under its own name and in its own group. */
  static ExecutorConfig executorConfig(
      IchidoConfig config,
      @Nullable String name,
      Map<String, String> kafka,
      @Nullable String groupId,
      Duration claimRetention,
      boolean migrate) {
    IchidoConfig.Executor section = config.executor();
    return new ExecutorConfig(
        name,
        kafka,
        config.registry().values(),
        config.topics().prefix(),
        groupId,
        section.maxInFlight(),
        section.concurrencyPerRemote(),
        section.drainTimeout(),
        section.inlineBodyLimit(),
        section.handlerTimeout(),
        section.breakerFailureRate(),
        section.breakerWait(),
        claimRetention,
        migrate);
  }

  /** Commands to results. */
  public RunningRole executor() {
    requireKafka("executor");
    IchidoConfig.Executor section = config.executor();
    HikariDataSource pool = pool(section.database(), "executor.database", "executor", 16);
    HttpRemotes remotes = new HttpRemotes(clocks.clock());
    policy.take(loaded -> remotes.replace(loaded.contracts()));
    ExecutorRole executor =
        new ExecutorRole(
            executorConfig(
                config,
                section.name(),
                config.kafka().values(),
                section.groupId(),
                policy.claimRetention(),
                migrate),
            pool,
            remotes.handlers(),
            meters,
            clocks.clock(),
            // Tools are called where their server's door is.
            action -> !policy.isTool(action));
    return new RunningRole(
        "executor",
        executor::start,
        executor::ready,
        executor::failure,
        () -> {
          executor.close();
          remotes.close();
          pool.close();
        });
  }

  /** Replies to the runtime's tables. */
  public RunningRole inbox() {
    requireKafka("inbox");
    IchidoConfig.Inbox section = config.inbox();
    HikariDataSource pool = pool(section.database(), "inbox.database", "inbox", 4);
    InboxRole inbox =
        new InboxRole(
            new InboxConfig(
                config.kafka().values(),
                config.registry().values(),
                config.topics().prefix(),
                section.groupId(),
                section.maxBatch(),
                section.claimedReplies(),
                migrate),
            pool,
            meters);
    return new RunningRole(
        "inbox",
        inbox::start,
        inbox::ready,
        inbox::failure,
        () -> {
          inbox.close();
          pool.close();
        });
  }

  /** HTTP to the outbox, and replies to HTTP. */
  public Door gateway() {
    HikariDataSource writing =
        pool(config.outbox().database(), "outbox", "gateway-outbox", GATEWAY_CONNECTIONS);
    HikariDataSource reading =
        pool(config.inbox().database(), "inbox.database", "gateway-inbox", GATEWAY_CONNECTIONS);
    DatabaseSection claims = config.executor().database();
    HikariDataSource kept =
        claims.url() == null
            ? null
            : pool(claims, "executor.database", "gateway-executor", GATEWAY_CONNECTIONS);
    AtomicReference<Map<String, ActionTerms>> terms = new AtomicReference<>(Map.of());
    policy.take(loaded -> terms.set(terms(loaded.rules())));
    GatewayRole gateway =
        new GatewayRole(
            config.gateway(),
            terms::get,
            writing,
            reading,
            kept == null ? sha256 -> Optional.empty() : bodies(kept),
            migrate,
            meters);
    RunningRole role =
        new RunningRole(
            "gateway",
            gateway::start,
            gateway::ready,
            gateway::failure,
            () -> {
              gateway.close();
              if (kept != null) {
                kept.close();
              }
              reading.close();
              writing.close();
            });
    return new Door(role, gateway::url);
  }

  /** Texts of results that are kept apart, by their SHA-256; without what can't be read now. */
  static Function<String, Optional<String>> bodies(DataSource claims) {
    ClaimStore store = new ClaimStore(claims, "reader");
    return sha256 -> {
      try {
        return store.findBody(sha256).map(ResultBody::findText);
      } catch (SQLException e) {
        LOG.warn("A result that is kept apart can't be read: {}", e.getMessage());
        return Optional.empty();
      }
    };
  }

  /**
   * The gateway and where it listens.
   *
   * @param url known once the role has started
   */
  public record Door(RunningRole role, Supplier<String> url) {}

  /** What the door publishes of each action. */
  private static Map<String, ActionTerms> terms(PolicySet policy) {
    return policy.actions().values().stream()
        .map(ActionRules::policy)
        .collect(
            Collectors.toMap(
                ActionPolicy::name,
                it ->
                    new ActionTerms(
                        it.effect() == ActionPolicy.ActionEffect.READ,
                        it.scope().name().toLowerCase(Locale.ROOT),
                        it.lease(),
                        it.retention(),
                        it.tombstone(),
                        it.retryHorizon())));
  }

  static OutboxDatabase outboxDatabase(IchidoConfig config, String role) {
    IchidoConfig.Outbox outbox = config.outbox();
    DatabaseSection database = outbox.database();
    return new OutboxDatabase(
        required(config, database.url(), "outbox.url", role),
        required(config, database.user(), "outbox.user", role),
        database.password() == null ? "" : database.password(),
        outbox.slot(),
        outbox.publication());
  }

  private HikariDataSource pool(DatabaseSection section, String path, String role, int size) {
    return pool(config, section, path, role, size);
  }

  /** A pool whose first connection stands. */
  static HikariDataSource pool(
      IchidoConfig config, DatabaseSection section, String path, String role, int size) {
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("ichido-" + role);
    pool.setJdbcUrl(required(config, section.url(), path + ".url", role));
    pool.setUsername(required(config, section.user(), path + ".user", role));
    pool.setPassword(section.password() == null ? "" : section.password());
    // The server's views name who a connection belongs to.
    pool.addDataSourceProperty("ApplicationName", "ichido-" + role);
    // A few statements that find rows by their keys: to plan them for each batch costs more than to
    // run them.
    pool.setConnectionInitSql("set plan_cache_mode = force_generic_plan");
    pool.setMaximumPoolSize(size);
    pool.setMinimumIdle(1);
    pool.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
    pool.setInitializationFailTimeout(Duration.ofSeconds(10).toMillis());
    try {
      return new HikariDataSource(pool);
    } catch (PoolInitializationException e) {
      for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
        if (cause instanceof SQLException sql) {
          throw DatabaseFailure.of(path, sql);
        }
      }
      throw e;
    }
  }

  private static String required(
      IchidoConfig config, @Nullable String value, String path, String role) {
    if (value == null || value.isBlank()) {
      throw ConfigException.valueMissing(config.source(), path, role);
    }
    return value;
  }

  private void requireKafka(String role) {
    required(
        config, config.kafka().values().get("bootstrap.servers"), "kafka.bootstrap.servers", role);
    required(
        config,
        config.registry().values().get("schema.registry.url"),
        "registry.schema.registry.url",
        role);
  }
}
