package dev.ichido.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.app.Endpoints;
import dev.ichido.config.ConfigException;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.DatabaseSection;
import dev.ichido.config.IchidoConfig;
import dev.ichido.config.Settings;
import dev.ichido.demo.DemoSetup;
import dev.ichido.embedded.DataFolder;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.schemas.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The runtime's database, from wherever it is: that of a configuration, that of an all-in-one that
 * runs on the data folder, or, when none runs, the one in the folder, started for this command.
 */
final class DatabaseAccess implements AutoCloseable {
  @Mixin private DataOption data = new DataOption();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Use the servers of this configuration rather than the embedded ones.")
  private @Nullable Path config;

  private @Nullable IchidoConfig loaded;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private @Nullable DataSource embedded;

  /** Connects to nothing yet, except that it starts an embedded server that does not run. */
  DataSource open(Function<IchidoConfig, DatabaseSection> section, String path) {
    if (config != null) {
      IchidoConfig given = given(config);
      DatabaseSection database = section.apply(given);
      if (database.url() == null) {
        throw ConfigException.valueMissing(given.source(), path + ".url", "command");
      }
      return source(database.url(), database.user(), database.password());
    }
    Path folder = data.folder();
    Optional<Endpoints> running = Endpoints.find(folder);
    try {
      if (running.isPresent()) {
        return source(
            running.get().databaseUrl(),
            running.get().databaseUser(),
            Files.readString(folder.resolve("postgres/password"), UTF_8).strip());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!Files.exists(folder.resolve("postgres"))) {
      throw CommandException.usage(
          "NO_STACK",
          "Expected an embedded stack in "
              + folder
              + ", but there is none. Start one with ichido up or ichido demo, or give --data or"
              + " --config.");
    }
    if (embedded == null) {
      DataFolder owned = DataFolder.open(folder);
      opened.push(owned);
      EmbeddedDatabase database = EmbeddedDatabase.start(owned.resolve("postgres"));
      opened.push(database);
      embedded = database.dataSource();
    }
    return embedded;
  }

  /**
   * As {@link #open}, if that is told and has a table.
   *
   * @param table qualified name
   */
  Optional<DataSource> find(Function<IchidoConfig, DatabaseSection> section, String table)
      throws SQLException {
    if (config != null && section.apply(given(config)).url() == null) {
      return Optional.empty();
    }
    DataSource source = open(section, table);
    try (Connection connection = source.getConnection();
        PreparedStatement look = connection.prepareStatement("select to_regclass(?) is not null")) {
      look.setString(1, table);
      try (ResultSet row = look.executeQuery()) {
        return row.next() && row.getBoolean(1) ? Optional.of(source) : Optional.empty();
      }
    }
  }

  /**
   * The configuration that the processor of these servers runs under: tenants, actions, names.
   *
   * @throws CommandException STACK_DOWN when no stack runs on the data folder
   */
  IchidoConfig processorConfig() {
    if (config != null) {
      return given(config);
    }
    String running = running().config();
    return running == null
        ? DemoSetup.gettingStarted(data.folder())
        : ConfigLoader.ofProcess().load(Path.of(running));
  }

  /**
   * The broker and the registry that belong to the database; connects to nothing.
   *
   * @throws CommandException STACK_DOWN when no stack runs on the data folder
   */
  TopicAccess topics() {
    if (config != null) {
      IchidoConfig given = given(config);
      require(given, given.kafka(), "bootstrap.servers", "kafka");
      require(given, given.registry(), "schema.registry.url", "registry");
      return new TopicAccess(
          given.kafka().values(), given.registry().values(), new Topics(given.topics().prefix()));
    }
    Endpoints running = running();
    return new TopicAccess(
        Map.of("bootstrap.servers", running.bootstrapServers()),
        Map.of("schema.registry.url", running.registryUrl()),
        new Topics(running.topicPrefix()));
  }

  private IchidoConfig given(Path file) {
    if (loaded == null) {
      loaded = ConfigLoader.ofProcess().load(file);
    }
    return loaded;
  }

  private Endpoints running() {
    return Endpoints.find(data.folder())
        .orElseThrow(
            () ->
                CommandException.failed(
                    "STACK_DOWN",
                    "Expected an embedded stack that runs on "
                        + data.folder()
                        + ", but none does. Start it with ichido up, or give --data or --config.",
                    null));
  }

  private static void require(IchidoConfig loaded, Settings settings, String name, String section) {
    String value = settings.values().get(name);
    if (value == null || value.isBlank()) {
      throw ConfigException.valueMissing(loaded.source(), section + "." + name, "command");
    }
  }

  /** Whether the server was started for this command, so that no role runs on it. */
  boolean isAlone() {
    return !opened.isEmpty();
  }

  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        throw CommandException.failed(
            "DATABASE_FAILED", "Expected the embedded database to stop, but it did not.", e);
      }
    }
  }

  private static DataSource source(String url, @Nullable String user, @Nullable String password) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url);
    source.setUser(user);
    source.setPassword(password);
    source.setApplicationName("ichido");
    source.setConnectTimeout(10);
    return source;
  }
}
