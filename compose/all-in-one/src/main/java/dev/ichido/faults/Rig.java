package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.app.LoneRole.Kind;
import dev.ichido.app.Migration;
import dev.ichido.cli.CommandException;
import dev.ichido.cli.Main;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.embedded.EmbeddedServerException;
import dev.ichido.embedded.LoopbackPorts;
import dev.ichido.registry.InMemoryRegistryLog;
import dev.ichido.registry.RegistryServer;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.schemas.Topics;
import dev.ichido.topology.policy.PolicyLoader;
import dev.ichido.topology.policy.PolicySet;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All processes of the battery. What clients are told of broker, database and remotes are wires,
 * whose ports outlive every kill. The schema registry alone runs in this process.
 */
final class Rig implements AutoCloseable {
  /** Those that an operation passes. */
  static final List<Kind> ROLES = List.of(Kind.RELAY, Kind.PROCESSOR, Kind.EXECUTOR, Kind.INBOX);

  private static final Duration UP = Duration.ofSeconds(60);
  private static final Duration ASK = Duration.ofSeconds(2);
  private static final Duration TOLD = Duration.ofSeconds(10);
  private static final int MOST_STARTS = 5;
  private static final JsonMapper JSON = new JsonMapper();

  private final Path folder;
  private final Guard guard;
  private final Consumer<String> progress;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(ASK).build();
  private final Map<RemoteKind, Remote> remotes = new EnumMap<>(RemoteKind.class);
  private final Audits audits = new Audits(http);
  private final Map<Kind, Instance> roles = new EnumMap<>(Kind.class);
  private final List<Instance> others = new ArrayList<>();
  private final int brokerPort = LoopbackPorts.free();
  private final Wire brokerWire = new Wire(brokerPort);
  private final Jvm broker;
  private final Map<Kind, Wire> databaseWires = new EnumMap<>(Kind.class);
  private final RegistryServer registry;
  private final Path configFile;
  private final Path releasedFile;
  private final IchidoConfig config;
  private final PolicySet policies;
  private final HikariDataSource runtimePool;
  private @Nullable Journal journal;
  private EmbeddedDatabase database;

  /** A role's process and the port of its health. */
  record Instance(Jvm jvm, int port) {
    /** Whether the process itself, and not another one that has its port, says so. */
    boolean isReady(HttpClient http) throws InterruptedException {
      try {
        HttpResponse<String> answer = get(http, "/health");
        return answer.statusCode() == 200
            && jvm.isProcess(JSON.readTree(answer.body()).path("pid").asLong());
      } catch (IOException notYet) {
        return false;
      }
    }

    /** Sum of its counters of that name and with that label, since it started. */
    double meter(HttpClient http, String name, String label)
        throws IOException, InterruptedException {
      return get(http, "/metrics")
          .body()
          .lines()
          .filter(line -> line.startsWith(name) && line.contains(label))
          .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
          .sum();
    }

    private HttpResponse<String> get(HttpClient http, String path)
        throws IOException, InterruptedException {
      return http.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
              .timeout(ASK)
              .build(),
          BodyHandlers.ofString());
    }
  }

  private Rig(Path folder, String actions, Consumer<String> progress) throws IOException {
    this.folder = folder;
    guard = new Guard(folder.resolve("postgres/cluster/postmaster.pid"));
    this.progress = progress;
    broker =
        new Jvm(
            guard,
            "broker",
            256,
            folder.resolve("broker.log"),
            Map.of(),
            BrokerProcess.class.getName(),
            List.of(
                folder.resolve("kafka").toString(),
                String.valueOf(brokerPort),
                String.valueOf(brokerWire.port())));
    for (RemoteKind kind : List.of(RemoteKind.LEGACY, RemoteKind.IETF, RemoteKind.GCLOUD)) {
      remotes.put(kind, new Remote(kind, folder, guard));
    }
    progress.accept("starting database, broker and remotes, each a process; logs in " + folder);
    database = EmbeddedDatabase.start(folder.resolve("postgres"), 0, DATABASE_SETTINGS);
    for (Kind role : List.of(Kind.RELAY, Kind.EXECUTOR, Kind.INBOX)) {
      databaseWires.put(role, new Wire(database.port()));
    }
    registry = RegistryServer.start(new InMemoryRegistryLog(), 0);
    runtimePool = runtimePool();
    String text = configuration(actions);
    configFile = Files.writeString(folder.resolve("ichido.yaml"), text, UTF_8);
    releasedFile =
        Files.writeString(folder.resolve("released.yaml"), RigConfig.released(text), UTF_8);
    config = new ConfigLoader(name -> folder.resolve("state").toString()).load(configFile);
    policies = PolicyLoader.released().load(config.policy());
  }

  private void up() throws InterruptedException {
    broker.start();
    remotes.values().forEach(Remote::start);
    for (Remote remote : remotes.values()) {
      remote.awaitUp();
    }
    awaitBroker();
    progress.accept("migrating, starting relay, processor, executor and inbox, each a process");
    Migration migration = new Migration(config);
    migration.outbox();
    migration.executor();
    migration.inbox();
    migration.topics();
    migration.schemas();
    for (Kind role : ROLES) {
      Instance instance = instance(role, "");
      roles.put(role, instance);
      instance.jvm().start();
    }
    journal = new Journal(config);
    awaitReady();
  }

  private static final Map<String, String> DATABASE_SETTINGS =
      Map.of("max_connections", "120", "wal_sender_timeout", "6s");

  /**
   * Returns when every role does its work.
   *
   * @param actions lines of further actions
   */
  static Rig start(Path folder, String actions, Consumer<String> progress)
      throws IOException, InterruptedException {
    Rig rig = new Rig(folder, actions, progress);
    try {
      rig.up();
      return rig;
    } catch (RuntimeException | InterruptedException e) {
      rig.close();
      throw e;
    }
  }

  IchidoConfig config() {
    return config;
  }

  /** What the processor goes by. */
  PolicySet policies() {
    return policies;
  }

  /** Connections of an agent runtime, without auto-commit, past every wire. */
  HikariDataSource runtime() {
    return runtimePool;
  }

  Journal journal() {
    return Objects.requireNonNull(journal);
  }

  Remote remote(RemoteKind kind) {
    Remote remote = remotes.get(kind);
    if (remote == null) {
      throw new IllegalArgumentException("Expected a remote of the rig, but it has no " + kind);
    }
    return remote;
  }

  List<Remote> remotes() {
    return List.copyOf(remotes.values());
  }

  Jvm role(Kind role) {
    return of(role).jvm();
  }

  Wire brokerWire() {
    return brokerWire;
  }

  /** Between a role and the database. */
  Wire databaseWire(Kind role) {
    Wire wire = databaseWires.get(role);
    if (wire == null) {
      throw new IllegalArgumentException("Expected a role with a database, but it was " + role);
    }
    return wire;
  }

  /** SIGKILL, then a new process. Returns when that does its work. */
  void killAndStart(Kind role) throws InterruptedException {
    role(role).kill();
    role(role).start();
    awaitReady(of(role));
  }

  /** A second process of a role, with a state folder of its own. It is gone after the scenario. */
  Instance startAnother(Kind role) throws InterruptedException {
    Instance instance = instance(role, "-" + (others.size() + 2));
    others.add(instance);
    instance.jvm().start();
    return instance;
  }

  /** As {@link #startAnother}, in place of the first one and with its clock moved. */
  Instance replaceByMoved(Kind role, Duration by) {
    return replace(
        role,
        "-moved",
        Map.of(),
        MovedRole.class.getName(),
        port -> List.of(role.name(), configFile.toString(), port, by.toString()));
  }

  /** As {@link #startAnother}, in place of the first one and with the tools' next release. */
  Instance replaceByReleased(Kind role) {
    return replace(
        role,
        "-released",
        Map.of(),
        Main.class.getName(),
        port -> arguments(role, releasedFile, port));
  }

  /** As {@link #startAnother}, in place of the first one and with the gate on its way to names. */
  Instance replaceByGated(Kind role, Gate gate) {
    return replace(
        role,
        "-gated",
        Map.of("JDK_JAVA_OPTIONS", gate.javaOption()),
        Main.class.getName(),
        port -> arguments(role, configFile, port));
  }

  /** To be closed by who asked for it. */
  Gate gate() throws InterruptedException {
    return new Gate(folder.resolve("hosts"));
  }

  private Instance replace(
      Kind role,
      String suffix,
      Map<String, String> environment,
      String mainClass,
      Function<String, List<String>> arguments) {
    role(role).end();
    Map<String, String> all = new HashMap<>(environment);
    all.putAll(state(""));
    Instance instance = instance(role, suffix, all, mainClass, arguments);
    others.add(instance);
    instance.jvm().start();
    return instance;
  }

  void awaitReady(Instance instance) throws InterruptedException {
    if (!Patience.until(UP, () -> instance.isReady(http))) {
      throw notReady(instance);
    }
  }

  /** SIGKILL, then a start on the same folder. */
  void killAndStartBroker() throws InterruptedException {
    killBroker();
    startBroker();
  }

  /** SIGKILL. */
  void killBroker() {
    broker.kill();
  }

  /** On the same folder; returns when it listens. */
  void startBroker() throws InterruptedException {
    broker.start();
    awaitBroker();
  }

  /** A clean stop and a start with broker properties beside its own. */
  void restartBroker(String... settings) throws InterruptedException {
    broker.end();
    broker.start(settings);
    awaitBroker();
  }

  /** A topic as bytes. */
  Topic topic(Function<Topics, String> which) {
    return new Topic(config, which.apply(new Topics(config.topics().prefix())));
  }

  /** Runs another command of the command line on this rig's configuration; returns its code. */
  int command(String... arguments) throws InterruptedException {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--config", configFile.toString()));
    return new Jvm(
            guard,
            "command",
            128,
            folder.resolve("command.log"),
            state(""),
            Main.class.getName(),
            all)
        .run();
  }

  /**
   * Sum of a role's counters of that name and with that label, since the role started.
   *
   * @throws BrokeOff when the role does not tell
   */
  double meter(Kind role, String name, String label) throws InterruptedException {
    return meter(of(role), name, label);
  }

  double meter(Instance instance, String name, String label) throws InterruptedException {
    double[] sum = new double[1];
    boolean told =
        Patience.until(
            TOLD,
            () -> {
              try {
                sum[0] = instance.meter(http, name, label);
                return true;
              } catch (IOException away) {
                return false;
              }
            });
    if (!told) {
      throw new BrokeOff("the meters of the " + instance.jvm().name() + " can't be read");
    }
    return sum[0];
  }

  /** The code of what a role waits out; empty while it waits for nothing, or says nothing. */
  String problem(Kind role) throws InterruptedException {
    try {
      return JSON.readTree(of(role).get(http, "/health").body())
          .path("problems")
          .path(role.word())
          .asText();
    } catch (IOException away) {
      return "";
    }
  }

  /** What the audits of its relays found. */
  Audits audits() {
    return audits;
  }

  /** SIGKILL of every process of the database, as when the machine loses power. */
  void killDatabase() throws InterruptedException {
    List<ProcessHandle> all = new ArrayList<>();
    Optional<ProcessHandle> postmaster = database.pid().flatMap(ProcessHandle::of);
    postmaster.ifPresent(it -> it.descendants().forEach(all::add));
    postmaster.ifPresent(ProcessHandle::destroyForcibly);
    all.forEach(ProcessHandle::destroyForcibly);
    postmaster.ifPresent(all::add);
    Patience.until(UP, () -> all.stream().noneMatch(ProcessHandle::isAlive));
  }

  /** On the same folder and port. */
  void startDatabase() {
    int port = database.port();
    try {
      database.close();
    } catch (EmbeddedServerException killed) {
      progress.accept("the database's own stop says: " + killed.getMessage());
    }
    database = EmbeddedDatabase.start(folder.resolve("postgres"), port, DATABASE_SETTINGS);
  }

  /** Everything runs, everything is connected, no remote is told to fail. */
  void heal() throws InterruptedException {
    brokerWire.open();
    databaseWires.values().forEach(Wire::open);
    for (Remote remote : remotes.values()) {
      remote.wire().open();
      remote.start();
      remote.awaitUp();
      remote.clear();
    }
    startBroker();
    roles.values().stream().map(Instance::jvm).filter(Jvm::isAlive).forEach(Jvm::resume);
    awaitReady();
  }

  /** Second processes end. */
  void endOthers() {
    others.forEach(it -> it.jvm().kill());
    others.clear();
  }

  @Override
  public void close() {
    if (journal != null) {
      journal.close();
    }
    others.forEach(it -> it.jvm().close());
    roles.values().forEach(it -> it.jvm().close());
    remotes.values().forEach(Remote::close);
    broker.close();
    runtimePool.close();
    registry.close();
    brokerWire.close();
    databaseWires.values().forEach(Wire::close);
    try {
      database.close();
    } catch (EmbeddedServerException e) {
      progress.accept("the database did not stop: " + e.getMessage());
    }
    http.close();
    guard.close();
  }

  private Instance of(Kind role) {
    Instance instance = roles.get(role);
    if (instance == null) {
      throw new IllegalStateException("Expected the " + role.word() + " to be there.");
    }
    return instance;
  }

  private Instance instance(Kind role, String suffix) {
    return instance(
        role,
        suffix,
        state(suffix),
        Main.class.getName(),
        port -> arguments(role, configFile, port));
  }

  private Map<String, String> state(String suffix) {
    return Map.of("ICHIDO_STATE", folder.resolve("state" + suffix).toString());
  }

  private Instance instance(
      Kind role,
      String suffix,
      Map<String, String> environment,
      String mainClass,
      Function<String, List<String>> arguments) {
    int port = LoopbackPorts.free();
    Instance instance =
        new Instance(
            new Jvm(
                guard,
                role.word() + suffix,
                role == Kind.PROCESSOR ? 192 : 128,
                folder.resolve(role.word() + suffix + ".log"),
                environment,
                mainClass,
                arguments.apply(String.valueOf(port))),
            port);
    if (role == Kind.RELAY) {
      audits.watch(instance);
    }
    return instance;
  }

  private static List<String> arguments(Kind role, Path configFile, String port) {
    return List.of(
        role.word(), "--config", configFile.toString(), "--http-port", port, "--verbose");
  }

  /** As a supervisor does: what is down is started, for a few times. */
  private void awaitReady() throws InterruptedException {
    roles.values().forEach(it -> it.jvm().start());
    for (Instance instance : roles.values()) {
      AtomicInteger starts = new AtomicInteger();
      boolean ready =
          Patience.until(
              UP,
              () -> {
                if (!instance.jvm().isAlive() && starts.incrementAndGet() > MOST_STARTS) {
                  throw notReady(instance);
                }
                instance.jvm().start();
                return instance.isReady(http);
              });
      if (!ready) {
        throw notReady(instance);
      }
    }
  }

  private static CommandException notReady(Instance instance) {
    return CommandException.failed(
        "ROLE_NOT_READY",
        "Expected the %s to be ready, but it is not. Check the end of its log:%n%s"
            .formatted(instance.jvm().name(), instance.jvm().tail()),
        null);
  }

  private void awaitBroker() throws InterruptedException {
    if (!Patience.until(UP, this::brokerListens)) {
      throw new IllegalStateException(
          "Expected the broker to listen, but it does not.\n" + broker.tail());
    }
  }

  private boolean brokerListens() {
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), brokerPort),
          (int) ASK.toMillis());
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  private HikariDataSource runtimePool() {
    HikariConfig pool = new HikariConfig();
    pool.setPoolName("ichido-runtime");
    pool.setJdbcUrl(database.url());
    pool.setUsername(database.user());
    pool.setPassword(database.password());
    pool.setAutoCommit(false);
    pool.setMaximumPoolSize(20);
    pool.setMinimumIdle(2);
    pool.setConnectionTimeout(2_000);
    return new HikariDataSource(pool);
  }

  private String configuration(String actions) {
    return RigConfig.text(
        actions,
        brokerWire.port(),
        registry.url().toString(),
        database,
        Map.copyOf(databaseWires),
        Map.copyOf(remotes));
  }
}
