package dev.ichido.junit;

import com.fasterxml.jackson.databind.JsonNode;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.app.LivePolicy;
import dev.ichido.app.Migration;
import dev.ichido.app.RoleGroup;
import dev.ichido.app.Roles;
import dev.ichido.app.RunningRole;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.DatabaseSection;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.DataFolder;
import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.executor.ExecutorConfig;
import dev.ichido.executor.ExecutorRole;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.http.ExecutorContracts;
import dev.ichido.executor.http.HttpRemotes;
import dev.ichido.inbox.InboxOperation;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import dev.ichido.registry.InMemoryRegistryLog;
import dev.ichido.registry.RegistryServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * The stack as a test sees it: an outbox to write to, replies to wait for, handlers to give, and
 * roles to take away. Safe for use by several threads.
 */
public final class Ichido {
  private static final Duration READY = Duration.ofSeconds(90);
  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final Duration DRAIN = Duration.ofSeconds(2);

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Map<String, ToolHandler> handlers = new ConcurrentHashMap<>();
  private final Map<Role, RoleGroup> running = new EnumMap<>(Role.class);
  private final Path folder;
  private final IchidoConfig config;
  private final LivePolicy policy;
  private final DataSource server;
  private final HikariDataSource runtime;
  private final InboxReader inbox;

  private Ichido(String source, String text) throws IOException {
    IchidoConfig given = ConfigLoader.ofProcess().load(source, text);
    folder = Files.createTempDirectory("ichido-junit");
    opened.push(() -> delete(folder));
    try {
      DataFolder data = DataFolder.open(folder.resolve("data"));
      opened.push(data);
      EmbeddedDatabase database = EmbeddedDatabase.start(data.resolve("postgres"));
      opened.push(database);
      EmbeddedBroker broker = EmbeddedBroker.start(data.resolve("kafka"));
      opened.push(broker);
      RegistryServer registry = RegistryServer.start(new InMemoryRegistryLog(), 0);
      opened.push(registry);
      policy = LivePolicy.fixed(given);
      config =
          given.on(
              broker.bootstrapServers(),
              registry.url().toString(),
              new DatabaseSection(database.url(), database.user(), database.password()),
              data.resolve("processor").toString(),
              DRAIN);
      migrate();
      server = database.dataSource();
      runtime = pool(server, false);
      opened.push(runtime);
      inbox = new InboxReader(server);
      for (Role role : Role.values()) {
        start(role);
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  static Ichido start(String source, String text) {
    try {
      return new Ichido("@IchidoStack of " + source, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The runtime's database, with the outbox and the inbox in the schema {@code ichido}. Connections
   * do not commit by themselves: publish in the transaction that writes your own state.
   */
  public DataSource database() {
    return runtime;
  }

  /**
   * Publishes in a transaction of its own.
   *
   * @return the delivery id
   */
  public String publish(OutboxIntent intent) {
    try (Connection connection = runtime.getConnection()) {
      String delivery = Outbox.publish(connection, intent);
      connection.commit();
      return delivery;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The final reply to a delivery.
   *
   * @throws AssertionError when none comes within a minute; it names what came
   */
  public InboxReply await(String deliveryId) {
    return await(deliveryId, ANSWER);
  }

  /**
   * The final reply to a delivery.
   *
   * @throws AssertionError when none comes in time; it names what came
   */
  public InboxReply await(String deliveryId, Duration atMost) {
    try {
      return inbox
          .awaitFinal(deliveryId, atMost)
          .orElseThrow(
              () ->
                  new AssertionError(
                      "Expected a final reply to %s within %d s, but there were %s. Check the remote and the roles."
                          .formatted(deliveryId, atMost.toSeconds(), replies(deliveryId))));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("Interrupted while waiting for " + deliveryId, e);
    }
  }

  /** Every reply to a delivery so far, in order. */
  public List<InboxReply> replies(String deliveryId) {
    return inbox.repliesTo(deliveryId);
  }

  /** The latest result of an operation, as the runtime has it. */
  public Optional<InboxOperation> findOperation(String tenant, String scope, String operationId) {
    return inbox.findOperation(tenant, scope, operationId);
  }

  /**
   * Who performs an action from now on.
   *
   * @throws IllegalArgumentException when the configuration has no such action, or one with an
   *     {@code http} contract
   */
  public void handle(String action, ToolHandler handler) {
    JsonNode known = config.policy().root().path("actions").path(action);
    if (known.isMissingNode() || known.has("http")) {
      throw new IllegalArgumentException(
          "Expected an action without an http contract, but %s %s. Check the configuration of @IchidoStack."
              .formatted(action, known.isMissingNode() ? "is not there" : "has one"));
    }
    handlers.put(action, handler);
  }

  /** Stops a role, as for a deployment: what runs is given a moment to end. */
  public synchronized void stop(Role role) {
    RoleGroup group = running.remove(role);
    if (group != null) {
      group.close();
    }
  }

  /**
   * Starts a role and returns when it does its work.
   *
   * @throws IllegalStateException when it runs
   */
  public synchronized void start(Role role) {
    if (running.containsKey(role)) {
      throw new IllegalStateException(
          "Expected a role that is stopped, but the %s runs. Stop it first."
              .formatted(role.name().toLowerCase(Locale.ROOT)));
    }
    RoleGroup group = new RoleGroup(List.of(make(role)));
    running.put(role, group);
    try {
      group.start();
      group.awaitReady(READY);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Stops a role, whether it still works or not, and starts it again. */
  public synchronized void restart(Role role) {
    stop(role);
    start(role);
  }

  void close() {
    for (Role role : List.of(Role.RELAY, Role.EXECUTOR, Role.PROCESSOR, Role.INBOX)) {
      stop(role);
    }
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private void migrate() {
    Migration migration = new Migration(config);
    var unusedOutbox = migration.outbox();
    migration.executor();
    migration.inbox();
    var unusedTopics = migration.topics();
    var unusedSchemas = migration.schemas();
  }

  private RunningRole make(Role role) {
    // A registry of meters for each life, since a role registers its own again.
    Roles roles = new Roles(config, policy, new SimpleMeterRegistry(), false);
    return switch (role) {
      case RELAY -> roles.relay();
      case PROCESSOR -> roles.processor();
      case EXECUTOR -> executor();
      case INBOX -> roles.inbox();
    };
  }

  private RunningRole executor() {
    HttpRemotes remotes =
        HttpRemotes.of(
            ExecutorContracts.parse(config.policy().root().path("actions")), Clock.systemUTC());
    Map<String, ToolHandler> all = new HashMap<>(remotes.handlers());
    config
        .policy()
        .root()
        .path("actions")
        .fieldNames()
        .forEachRemaining(action -> all.putIfAbsent(action, new GivenHandler(action, handlers)));
    HikariDataSource pool = pool(server, true);
    ExecutorRole executor =
        new ExecutorRole(
            ExecutorConfig.of(config.kafka().values(), config.registry().values()),
            pool,
            all,
            new SimpleMeterRegistry());
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

  private static HikariDataSource pool(DataSource database, boolean autoCommit) {
    HikariConfig pool = new HikariConfig();
    pool.setDataSource(database);
    pool.setAutoCommit(autoCommit);
    pool.setMaximumPoolSize(8);
    pool.setMinimumIdle(1);
    return new HikariDataSource(pool);
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
