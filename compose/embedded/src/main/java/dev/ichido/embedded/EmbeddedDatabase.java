package dev.ichido.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * PostgreSQL 18 beside this process, on the loopback interface: fsync on, logical decoding on, a
 * password of its own. A start on the same folder keeps everything.
 *
 * <p>A server that a killed process left behind on the folder is stopped cleanly before a new one
 * is started: so port and settings are always the ones asked for, and nobody else's child serves
 * us.
 */
public final class EmbeddedDatabase implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedDatabase.class);
  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration GRACE = Duration.ofSeconds(2);
  private static final Duration STOP = Duration.ofSeconds(20);
  private static final int TRIES_ON_FREE_PORTS = 5;
  private static final String USER = "postgres";
  private static final String NAME = "ichido";

  private final Path cluster;
  private final Path log;
  private final EmbeddedPostgres server;
  private final String password;

  private EmbeddedDatabase(Path cluster, Path log, EmbeddedPostgres server, String password) {
    this.cluster = cluster;
    this.log = log;
    this.server = server;
    this.password = password;
  }

  /** Starts on a free port. */
  public static EmbeddedDatabase start(Path folder) {
    return start(folder, 0, Map.of());
  }

  /**
   * Starts the server and returns when it takes connections, after 0.3 to 3 s.
   *
   * @param folder created when it is missing; it holds the cluster, the password and the log
   * @param port 0 for a free one
   * @param settings server settings laid over the embedded ones; values without blanks
   * @throws EmbeddedServerException PORT_IN_USE, DATA_FOLDER_UNUSABLE, DISK_FULL, DATABASE_FAILED
   */
  public static EmbeddedDatabase start(Path folder, int port, Map<String, String> settings) {
    Path data = folder.toAbsolutePath().normalize();
    Path cluster = data.resolve("cluster");
    Path log = data.resolve("postgres.log");
    String password;
    try {
      Files.createDirectories(data);
      takeOver(cluster, log);
      dropHalfMade(cluster, data.resolve("made"));
      password = readOrMintPassword(data.resolve("password"));
    } catch (AccessDeniedException e) {
      throw EmbeddedServerException.folderUnusable(data, "the permission is denied", e);
    } catch (IOException e) {
      throw failed(data, log, "its folder can't be prepared (" + e.getMessage() + ")", e);
    }
    for (int left = TRIES_ON_FREE_PORTS; ; left--) {
      int chosen = LoopbackPorts.require("database", port);
      EmbeddedPostgres server;
      try {
        server = launch(cluster, log, data.resolve("password"), password, chosen, settings);
      } catch (IOException | RuntimeException e) {
        boolean taken = portIsTaken(chosen);
        if (taken && port == 0 && left > 1) {
          continue;
        }
        if (taken) {
          throw EmbeddedServerException.portInUse("database", chosen);
        }
        throw failed(data, log, "it did not (" + lastLine(log) + ")", e);
      }
      EmbeddedDatabase database = new EmbeddedDatabase(cluster, log, server, password);
      try {
        database.createDatabase();
        Files.writeString(data.resolve("made"), "", UTF_8);
      } catch (SQLException | IOException e) {
        database.close();
        throw failed(data, log, "it refused the first statements (" + e.getMessage() + ")", e);
      }
      return database;
    }
  }

  /** {@code jdbc:postgresql://…}, without user and password. */
  public String url() {
    return "jdbc:postgresql://" + LoopbackPorts.HOST + ":" + port() + "/" + NAME;
  }

  public String host() {
    return LoopbackPorts.HOST;
  }

  public int port() {
    return server.getPort();
  }

  public String databaseName() {
    return NAME;
  }

  /** A superuser: it may create publications and slots. */
  public String user() {
    return USER;
  }

  public String password() {
    return password;
  }

  /** Unpooled connections to the database. */
  public DataSource dataSource() {
    return dataSource(NAME);
  }

  /** The process id of the server, while it runs. */
  public Optional<Long> pid() {
    return findServer(cluster).map(ProcessHandle::pid);
  }

  /**
   * Stops the server by a fast shutdown. Idempotent.
   *
   * @throws EmbeddedServerException DATABASE_FAILED when it is still there after 20 s
   */
  @Override
  public void close() {
    try {
      server.close();
      findServer(cluster).ifPresent(process -> stop(process, log));
    } catch (IOException e) {
      throw EmbeddedServerException.database("it could not be stopped", log, e);
    }
  }

  private static EmbeddedPostgres launch(
      Path cluster,
      Path log,
      Path passwordFile,
      String password,
      int port,
      Map<String, String> settings)
      throws IOException {
    EmbeddedPostgres.Builder builder =
        EmbeddedPostgres.builder()
            .setDataDirectory(cluster)
            .setCleanDataDirectory(false)
            .setRegisterShutdownHook(false)
            .setPort(port)
            .setPGStartupWait(START)
            .setErrorRedirector(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .setOutputRedirector(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .setConnectConfig("password", password)
            // These become options of initdb; they win over its "trust".
            .setLocaleConfig("auth-host", "scram-sha-256")
            .setLocaleConfig("auth-local", "scram-sha-256")
            .setLocaleConfig("pwfile", passwordFile.toString())
            .setLocaleConfig("locale", "C")
            .setLocaleConfig("locale-provider", "builtin")
            .setLocaleConfig("builtin-locale", "C.UTF-8")
            // The library's own defaults give up durability.
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("full_page_writes", "on")
            .setServerConfig("wal_level", "logical")
            .setServerConfig("max_wal_senders", "10")
            .setServerConfig("max_replication_slots", "10")
            .setServerConfig("max_slot_wal_keep_size", "4GB")
            .setServerConfig("track_commit_timestamp", "on")
            .setServerConfig("max_connections", "100")
            .setServerConfig("shared_buffers", "128MB")
            // Plans that were made while the tables were empty read them whole until they are
            // analyzed.
            .setServerConfig("autovacuum_naptime", "5s")
            .setServerConfig("listen_addresses", LoopbackPorts.HOST)
            .setServerConfig("unix_socket_directories", "");
    settings.forEach(builder::setServerConfig);
    AtomicLong startedAt = new AtomicLong();
    builder.setDataDirectoryCustomizer(made -> startedAt.set(System.nanoTime()));
    FutureTask<EmbeddedPostgres> start = new FutureTask<>(builder::start);
    Thread thread = Thread.ofPlatform().daemon().name("ichido-postgres-start").start(start);
    while (true) {
      try {
        return start.get(100, TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        throw new IOException(e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      } catch (TimeoutException notYet) {
        if (startedAt.get() != 0 && hasEnded(cluster, startedAt.get())) {
          abandon(start, thread);
          throw new IOException("the server process ended");
        }
      }
    }
  }

  /** The library waits its whole time for a server that ended at once; this looks at processes. */
  private static boolean hasEnded(Path cluster, long startedAt) {
    return System.nanoTime() - startedAt > GRACE.toNanos()
        && ProcessHandle.current()
            .children()
            .noneMatch(child -> child.info().command().orElse("").endsWith("pg_ctl"))
        && findServer(cluster).isEmpty();
  }

  /** Interrupted, the library gives its handle back; closing that one lets the folder go. */
  private static void abandon(FutureTask<EmbeddedPostgres> start, Thread thread)
      throws IOException {
    thread.interrupt();
    try {
      start.get(STOP.toSeconds(), TimeUnit.SECONDS).close();
    } catch (ExecutionException | TimeoutException alreadyFailing) {
      LOG.debug("The start that failed left no handle", alreadyFailing);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void createDatabase() throws SQLException {
    try (Connection connection = dataSource("postgres").getConnection();
        Statement statement = connection.createStatement()) {
      try (ResultSet found =
          statement.executeQuery("select 1 from pg_database where datname = '" + NAME + "'")) {
        if (found.next()) {
          return;
        }
      }
      statement.execute("create database " + NAME);
    }
  }

  private DataSource dataSource(String name) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {LoopbackPorts.HOST});
    source.setPortNumbers(new int[] {port()});
    source.setDatabaseName(name);
    source.setUser(USER);
    source.setPassword(password);
    source.setApplicationName("ichido");
    return source;
  }

  private static void takeOver(Path cluster, Path log) throws IOException {
    Path pidFile = cluster.resolve("postmaster.pid");
    Optional<ProcessHandle> left = findServer(cluster);
    if (left.isPresent()) {
      LOG.info(
          "Found a database server of an earlier run (process {}); stopping it first",
          left.get().pid());
      stop(left.get(), log);
    }
    // What is left now names a process that is gone, or a number that another program got since.
    Files.deleteIfExists(pidFile);
  }

  /** A run killed while it made the cluster leaves one that never starts and holds nothing. */
  private static void dropHalfMade(Path cluster, Path made) throws IOException {
    if (Files.exists(made) || !Files.exists(cluster)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(cluster)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** The server of this folder, told from a re-used process id by its own words. */
  private static Optional<ProcessHandle> findServer(Path cluster) {
    List<String> lines;
    try {
      lines = Files.readAllLines(cluster.resolve("postmaster.pid"), UTF_8);
    } catch (IOException noServer) {
      return Optional.empty();
    }
    if (lines.isEmpty() || !lines.getFirst().strip().matches("[0-9]{1,9}")) {
      return Optional.empty();
    }
    return ProcessHandle.of(Long.parseLong(lines.getFirst().strip()))
        .filter(ProcessHandle::isAlive)
        .filter(process -> process.info().command().orElse("").contains("postgres"));
  }

  /** SIGINT is the fast shutdown: it does not wait for clients, and it is clean. */
  private static void stop(ProcessHandle process, Path log) {
    try {
      signal("-INT", process.pid());
      try {
        process.onExit().get(STOP.toSeconds(), TimeUnit.SECONDS);
        return;
      } catch (TimeoutException stillThere) {
        LOG.warn("The database server {} did not stop; stopping it at once", process.pid());
      }
      signal("-QUIT", process.pid());
      process.onExit().get(STOP.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw EmbeddedServerException.database("the wait for its stop was interrupted", log, e);
    } catch (IOException | ExecutionException | TimeoutException e) {
      throw EmbeddedServerException.database(
          "process " + process.pid() + " of an earlier run can't be stopped", log, e);
    }
  }

  private static void signal(String signal, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("kill", signal, String.valueOf(pid))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  private static String readOrMintPassword(Path file) throws IOException {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return Files.readString(file, UTF_8).strip();
    }
    byte[] bytes = new byte[18];
    new SecureRandom().nextBytes(bytes);
    String password = HexFormat.of().formatHex(bytes);
    Path draft = file.resolveSibling("password.new");
    Files.deleteIfExists(draft);
    if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createFile(
          draft,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    Files.writeString(
        draft, password + "\n", UTF_8, StandardOpenOption.CREATE, StandardOpenOption.SYNC);
    Files.move(draft, file);
    return password;
  }

  private static boolean portIsTaken(int port) {
    try {
      LoopbackPorts.require("database", port);
      return false;
    } catch (EmbeddedServerException e) {
      return true;
    }
  }

  private static EmbeddedServerException failed(Path data, Path log, String found, Exception e) {
    long free = data.toFile().getUsableSpace();
    if (free < 32L << 20 || lastLine(log).contains("No space left")) {
      return EmbeddedServerException.diskFull(data, free >> 20, e);
    }
    return EmbeddedServerException.database(found, log, e);
  }

  private static String lastLine(Path log) {
    try {
      return Files.readAllLines(log, UTF_8).stream()
          .filter(line -> line.contains("FATAL") || line.contains("error:"))
          .reduce((first, second) -> second)
          .orElse("no reason is in its log")
          .strip();
    } catch (IOException e) {
      return "it has no log";
    }
  }
}
