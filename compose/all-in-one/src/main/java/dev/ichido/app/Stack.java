package dev.ichido.app;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.config.DatabaseSection;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.DataFolder;
import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.embedded.LoopbackPorts;
import dev.ichido.gateway.GatewayConfig;
import dev.ichido.registry.JdbcRegistryLog;
import dev.ichido.registry.RegistryServer;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The embedded stack: database, broker, registry and the five roles in this process, their data in
 * one folder. Closing stops all of it within 10 s; what is in the folder is kept.
 */
public final class Stack implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Stack.class);

  /** Calls that still run this long after the wish to end are reported as unknown. */
  private static final Duration DRAIN = Duration.ofSeconds(4);

  /** A processor may have to restore its stores: ten million operations take some minutes. */
  private static final Duration READY = Duration.ofMinutes(10);

  /**
   * Settings of a stack that was given none: one stream thread gains nothing from more partitions.
   */
  public static final String DEFAULTS = "topics: { partitions: 1 }\n";

  private final Deque<AutoCloseable> opened;
  private final EmbeddedDatabase database;
  private final EmbeddedBroker broker;
  private final RoleGroup roles;
  private final IchidoConfig config;
  private final Endpoints endpoints;

  /** Ports of the loopback interface; 0 is a free one. */
  public record Ports(int kafka, int postgres, int registry, int http, int gateway) {
    public static final Ports FREE = new Ports(0, 0, 0, 0, 0);
  }

  private Stack(
      Deque<AutoCloseable> opened,
      EmbeddedDatabase database,
      EmbeddedBroker broker,
      RoleGroup roles,
      IchidoConfig config,
      Endpoints endpoints) {
    this.opened = opened;
    this.database = database;
    this.broker = broker;
    this.roles = roles;
    this.config = config;
    this.endpoints = endpoints;
  }

  /**
   * Starts everything and returns when every role does its work.
   *
   * @param folder owned by the caller, who closes it after the stack
   * @param given tenants, actions and tuning; where the servers are is decided here
   * @param progress told what is being done, one line at a time
   */
  public static Stack start(
      DataFolder folder, Ports ports, IchidoConfig given, Consumer<String> progress)
      throws InterruptedException {
    return start(folder, ports, LivePolicy.fixed(given), progress);
  }

  /**
   * Starts everything with a policy that may change.
   *
   * @param policy closed by the caller, after the stack
   */
  public static Stack start(
      DataFolder folder, Ports ports, LivePolicy policy, Consumer<String> progress)
      throws InterruptedException {
    IchidoConfig given = policy.config();
    requireFree("schema registry", ports.registry());
    requireFree("health and metrics", ports.http());
    requireFree("HTTP door", ports.gateway());

    Deque<AutoCloseable> opened = new ArrayDeque<>();
    try {
      progress.accept("starting PostgreSQL and Kafka in " + folder.path());
      Pair<EmbeddedDatabase, EmbeddedBroker> servers =
          together(
              opened,
              () -> EmbeddedDatabase.start(folder.resolve("postgres"), ports.postgres(), Map.of()),
              () -> EmbeddedBroker.start(folder.resolve("kafka"), ports.kafka(), Map.of()));
      EmbeddedDatabase database = servers.one();
      EmbeddedBroker broker = servers.other();

      progress.accept("starting the schema registry, migrating");
      RegistryServer registry =
          RegistryServer.start(JdbcRegistryLog.migrated(database.dataSource()), ports.registry());
      opened.push(registry);
      IchidoConfig config =
          given
              .on(
                  broker.bootstrapServers(),
                  registry.url().toString(),
                  new DatabaseSection(database.url(), database.user(), database.password()),
                  folder.resolve("processor").toString(),
                  DRAIN)
              .withGateway(door(given.gateway(), folder, ports.gateway(), policy.rules()));
      Migration migration = new Migration(config);
      together(
          new ArrayDeque<>(),
          () -> {
            migration.outbox();
            migration.executor();
            migration.inbox();
            migration.gateway();
            return migration;
          },
          () -> {
            migration.topics();
            return migration.schemas();
          });

      progress.accept("starting relay, processor, executor, inbox and gateway");
      PrometheusMeterRegistry meters = Meters.create();
      opened.push(meters::close);
      policy.bindTo(meters);
      Roles made = new Roles(config, policy, meters, false);
      Roles.Door door = made.gateway();
      RoleGroup roles =
          new RoleGroup(
              List.of(made.relay(), made.processor(), made.executor(), made.inbox(), door.role()));
      opened.push(roles);
      HealthEndpoint health =
          HealthEndpoint.start(LoopbackPorts.HOST, ports.http(), roles.roles(), meters);
      opened.push(health);
      roles.start();
      roles.awaitReady(READY);
      Endpoints endpoints =
          new Endpoints(
              ProcessHandle.current().pid(),
              broker.bootstrapServers(),
              database.url(),
              database.user(),
              registry.url().toString(),
              health.url(),
              door.url().get(),
              config.topics().prefix(),
              file(given.source()));
      endpoints.write(folder.path());
      opened.push(() -> Endpoints.delete(folder.path()));
      return new Stack(opened, database, broker, roles, config, endpoints);
    } catch (IOException e) {
      close(opened);
      throw new UncheckedIOException(e);
    } catch (RuntimeException | InterruptedException e) {
      close(opened);
      throw e;
    }
  }

  /** What was not read from a file has a source that names none. */
  private static @Nullable String file(String source) {
    Path file = Path.of(source);
    return Files.isRegularFile(file) ? file.toAbsolutePath().toString() : null;
  }

  public Endpoints endpoints() {
    return endpoints;
  }

  /** As the roles see it: with the servers' addresses. */
  public IchidoConfig config() {
    return config;
  }

  /** The runtime's database. */
  public DataSource dataSource() {
    return database.dataSource();
  }

  /** The process id of the database's server, while it runs. */
  public Optional<Long> databasePid() {
    return database.pid();
  }

  /** A pool as an agent runtime has one: each of its transactions is committed by the caller. */
  public HikariDataSource runtimeConnections(int size) {
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("ichido-runtime");
    pool.setConnectionInitSql("set application_name = 'ichido-runtime'");
    pool.setDataSource(database.dataSource());
    pool.setAutoCommit(false);
    pool.setMaximumPoolSize(size);
    pool.setMinimumIdle(2);
    return new HikariDataSource(pool);
  }

  /** Password of the database's user. */
  public String databasePassword() {
    return database.password();
  }

  /** Returns only by an interrupt or because something stopped by itself. */
  public void awaitFailure() throws InterruptedException {
    roles.awaitFailure(broker::failure);
  }

  /** Says what stopped by itself, if something did. */
  public void requireAlive() {
    roles.requireAlive(broker::failure);
  }

  @Override
  public void close() {
    close(opened);
  }

  private static void close(Deque<AutoCloseable> opened) {
    boolean interrupted = Thread.interrupted();
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        LOG.warn("A part of the stack did not close cleanly", e);
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Before anything is started; a free port is only chosen when it is used. */
  private static void requireFree(String what, int port) {
    if (port != 0) {
      LoopbackPorts.require(what, port);
    }
  }

  /** On loopback; where no credential is configured, one is minted for each principal. */
  private static GatewayConfig door(
      GatewayConfig given, DataFolder folder, int port, PolicySet policy) throws IOException {
    GatewayConfig here = given.at(LoopbackPorts.HOST, port);
    if (given.tokens() != null || given.jwt() != null || !given.certificates().isEmpty()) {
      return here;
    }
    Path tokens = folder.resolve(DevelopmentTokens.FILE);
    DevelopmentTokens.mint(tokens, policy);
    return here.withTokens(tokens);
  }

  private record Pair<A, B>(A one, B other) {}

  /** Runs both at once; when one fails, the other is still closed later. */
  private static <A, B> Pair<A, B> together(
      Deque<AutoCloseable> opened, Callable<A> first, Callable<B> second)
      throws InterruptedException {
    try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread::new)) {
      Future<A> one = threads.submit(first);
      Future<B> other = threads.submit(second);
      Optional<Throwable> failed = await(opened, one);
      Optional<Throwable> failedToo = await(opened, other);
      Throwable cause = failed.or(() -> failedToo).orElse(null);
      if (cause instanceof RuntimeException known) {
        throw known;
      }
      if (cause instanceof InterruptedException interrupted) {
        throw interrupted;
      }
      if (cause != null) {
        throw new IllegalStateException(cause);
      }
      return new Pair<>(one.resultNow(), other.resultNow());
    }
  }

  /** Waits to the end even when interrupted: a server that comes up later must be closed too. */
  private static Optional<Throwable> await(Deque<AutoCloseable> opened, Future<?> work) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          if (work.get() instanceof AutoCloseable server) {
            opened.push(server);
          }
          return interrupted ? Optional.of(new InterruptedException()) : Optional.empty();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      return Optional.of(e.getCause() == null ? e : e.getCause());
    }
  }
}
