package dev.ichido.relay;

import dev.ichido.relay.RelayException.Code;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

/**
 * What the relay asks of the outbox database over plain connections: whether it is fit, and who
 * holds the slot.
 */
final class OutboxSource {
  private static final String APPLICATION = "ichido-relay";

  private static final String BACKFILL_WAYS =
      "Rows written since then stay in ichido.outbox: ichido relay --backfill, or relay.slot_lost:"
          + " backfill, makes the slot anew and sends them";

  private static final String JDBC = "jdbc:";
  private static final int DEFAULT_PORT = 5432;

  private final OutboxDatabase database;
  private final URI address;
  private final Duration timeout;

  /**
   * Parses the URL; opens nothing.
   *
   * @throws RelayException DATABASE_URL
   */
  OutboxSource(OutboxDatabase database, Duration timeout) {
    this.database = database;
    this.timeout = timeout;
    address =
        find(database.url())
            .orElseThrow(
                () ->
                    RelayException.of(
                        Code.DATABASE_URL,
                        "an address like jdbc:postgresql://host:5432/database, of one host since a"
                            + " replication slot lives on one server",
                        "the outbox's url is none",
                        "outbox.url"));
  }

  private static Optional<URI> find(String url) {
    if (!url.startsWith(JDBC + "postgresql://")) {
      return Optional.empty();
    }
    try {
      URI uri = new URI(url.substring(JDBC.length()));
      boolean whole = uri.getHost() != null && uri.getPath() != null && uri.getPath().length() > 1;
      return whole ? Optional.of(uri) : Optional.empty();
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  String host() {
    return address.getHost().replaceAll("[\\[\\]]", "");
  }

  static String bracketed(String host) {
    return host.indexOf(':') < 0 ? host : "[" + host + "]";
  }

  int port() {
    return address.getPort() < 0 ? DEFAULT_PORT : address.getPort();
  }

  String name() {
    return address.getPath().substring(1);
  }

  /** The driver's settings behind the URL's question mark, such as sslmode. */
  Map<String, String> driverSettings() {
    Map<String, String> settings = new TreeMap<>();
    if (address.getRawQuery() == null) {
      return settings;
    }
    for (String setting : address.getRawQuery().split("&", -1)) {
      int equals = setting.indexOf('=');
      if (equals > 0) {
        settings.put(
            setting.substring(0, equals),
            URLDecoder.decode(setting.substring(equals + 1), StandardCharsets.UTF_8));
      }
    }
    return settings;
  }

  /**
   * A connection that commits every statement by itself.
   *
   * @throws RelayException DATABASE_UNREACHABLE, DATABASE_ACCESS, DATABASE_MISSING
   */
  Connection connect() {
    Properties properties = new Properties();
    properties.put("socketTimeout", seconds());
    return connect(properties);
  }

  /** As {@link #connect()}, for statements that may take any time. */
  Connection connectPatiently() {
    return connect(new Properties());
  }

  /** Speaks the protocol of replication; waits as long as it takes. */
  Connection connectForReplication() {
    Properties properties = new Properties();
    properties.put("replication", "database");
    properties.put("preferQueryMode", "simple");
    properties.put("assumeMinServerVersion", "13");
    return connect(properties);
  }

  private Connection connect(Properties properties) {
    properties.put("user", database.user());
    properties.put("password", database.password());
    properties.put("ApplicationName", APPLICATION);
    properties.put("connectTimeout", seconds());
    properties.put("loginTimeout", seconds());
    try {
      return DriverManager.getConnection(database.url(), properties);
    } catch (SQLException e) {
      throw named(e);
    }
  }

  private String seconds() {
    return String.valueOf(Math.max(1, timeout.toSeconds()));
  }

  /** The relay's own word for a failure of the database. */
  RelayException named(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return switch (state) {
      case "28P01", "28000" ->
          RelayException.of(
              Code.DATABASE_ACCESS,
              "the database at " + database.address() + " to let user " + database.user() + " in",
              "it refused the password or the user",
              "outbox.user and outbox.password, and pg_hba.conf",
              e);
      case "3D000" ->
          RelayException.of(
              Code.DATABASE_MISSING,
              "the database " + name(),
              "the server at " + host() + ":" + port() + " has none of that name",
              "outbox.url",
              e);
      case "42501" ->
          RelayException.of(
              Code.REPLICATION_DENIED,
              "user " + database.user() + " to have the rights of a relay",
              "the database denied one",
              "the grants named at the head of V1__outbox.sql, and the REPLICATION attribute",
              e);
      default ->
          state.startsWith("08") || state.startsWith("57P") || state.equals("53300")
              ? RelayException.of(
                  Code.DATABASE_UNREACHABLE,
                  "a database that takes connections at " + database.address(),
                  "there is no answer or it is going down (SQLSTATE " + state + ")",
                  "that it runs, and outbox.url",
                  e)
              : RelayException.of(
                  Code.DATABASE_FAILED,
                  "the database at " + database.address() + " to answer",
                  "it failed (SQLSTATE " + state + ")",
                  "its log",
                  e);
    };
  }

  /**
   * All that must hold before a row can be relayed.
   *
   * @param onLoss BACKFILL: a slot that was recorded once may be lost
   * @throws RelayException WAL_LEVEL, OUTBOX_MISSING, PUBLICATION_MISSING, PUBLICATION_UNFIT,
   *     SLOT_MISSING, SLOT_LOST, SLOT_UNFIT or one of {@link #connect()}
   */
  void requireReady(SlotLoss onLoss) {
    try (Connection connection = connect()) {
      String level = text(connection, "show wal_level");
      if (!level.equals("logical")) {
        throw RelayException.of(
            Code.WAL_LEVEL,
            "wal_level = logical",
            "the database at " + database.address() + " has " + level,
            "postgresql.conf; a restart of PostgreSQL is needed");
      }
      requireOutbox(connection);
      requirePublication(connection);
      requireSlot(connection, onLoss);
    } catch (SQLException e) {
      throw named(e);
    }
  }

  void requireOutbox(Connection connection) throws SQLException {
    if (text(
            connection,
            "select 1 from pg_attribute where attrelid = to_regclass('ichido.relay_slot') and attname"
                + " = 'confirmed_at_least' and to_regclass('ichido.outbox') is not null")
        .isEmpty()) {
      throw RelayException.of(
          Code.OUTBOX_MISSING,
          "the table ichido.outbox as this version needs it",
          "database " + name() + " has none",
          "outbox.url, and that the migrations of the outbox ran");
    }
  }

  private void requirePublication(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select p.pubinsert, p.pubviaroot, p.puballtables or exists (select from pg_publication_rel r where"
                + " r.prpubid = p.oid and r.prrelid = 'ichido.outbox'::regclass) from pg_publication p where"
                + " p.pubname = ?")) {
      statement.setString(1, database.publication());
      try (ResultSet result = statement.executeQuery()) {
        if (!result.next()) {
          throw RelayException.of(
              Code.PUBLICATION_MISSING,
              "the publication " + database.publication(),
              "database " + name() + " has none of that name",
              "outbox.publication, and that the migrations of the outbox ran");
        }
        if (!result.getBoolean(1) || !result.getBoolean(2) || !result.getBoolean(3)) {
          throw RelayException.of(
              Code.PUBLICATION_UNFIT,
              "publication "
                  + database.publication()
                  + " to hold ichido.outbox with publish = 'insert', publish_via_partition_root = true",
              "it does not",
              "its definition");
        }
      }
    }
  }

  private void requireSlot(Connection connection, SlotLoss onLoss) throws SQLException {
    Optional<Slot> slot = findSlot(connection);
    Optional<Progress> progress = findProgress(connection);
    boolean mayBeLost =
        progress.isPresent() && (onLoss == SlotLoss.BACKFILL || progress.get().backfill());
    if (slot.isEmpty() && !mayBeLost) {
      throw slotMissing();
    }
    if (slot.isPresent() && slot.get().lost() && !mayBeLost) {
      throw slotLost();
    }
    if (slot.isPresent() && !slot.get().fit()) {
      throw RelayException.of(
          Code.SLOT_UNFIT,
          "replication slot " + database.slot() + " of plugin pgoutput in database " + name(),
          "it is of another plugin or database",
          "outbox.slot");
    }
  }

  /** Going on from "now" would skip what was written since the slot went. */
  RelayException slotMissing() {
    return RelayException.of(
        Code.SLOT_MISSING,
        "replication slot " + database.slot(),
        "the server has none of that name, so the relay's position is lost",
        "that the migration step ran; where the slot once was there, who dropped it. "
            + BACKFILL_WAYS);
  }

  RelayException slotLost() {
    return RelayException.of(
        Code.SLOT_LOST,
        "the log that replication slot " + database.slot() + " still needs",
        "the server has removed it",
        "max_slot_wal_keep_size and how long the relay was away. " + BACKFILL_WAYS);
  }

  /**
   * What is known of the relay beside its slot.
   *
   * @param backfill one has begun and not ended
   * @param acknowledgedBelow every row of a transaction with a lower id is acknowledged; 0 when
   *     nothing is known
   */
  record Progress(boolean backfill, long acknowledgedBelow) {}

  /** Empty for a slot that was never recorded. */
  Optional<Progress> findProgress(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select backfill, case when acknowledged_system = (select system_identifier::text from"
                + " pg_control_system()) then coalesce(acknowledged_below, 0) else 0 end from"
                + " ichido.relay_slot where slot_name = ?")) {
      statement.setString(1, database.slot());
      try (ResultSet result = statement.executeQuery()) {
        return result.next()
            ? Optional.of(new Progress(result.getBoolean(1), result.getLong(2)))
            : Optional.empty();
      }
    }
  }

  /**
   * The slot as the server shows it.
   *
   * @param fit pgoutput, and of this database
   * @param holder process that streams from it; 0 for none
   */
  record Slot(boolean fit, boolean lost, int holder) {}

  Optional<Slot> findSlot(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select plugin = 'pgoutput' and database = current_database() and not temporary, coalesce(wal_status ="
                + " 'lost', false) or restart_lsn is null, coalesce(active_pid, 0) from pg_replication_slots where"
                + " slot_name = ?")) {
      statement.setString(1, database.slot());
      try (ResultSet result = statement.executeQuery()) {
        return result.next()
            ? Optional.of(new Slot(result.getBoolean(1), result.getBoolean(2), result.getInt(3)))
            : Optional.empty();
      }
    }
  }

  /** The application name of the connection that streams from the slot; empty when nobody does. */
  Optional<String> findHolder(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select a.application_name from pg_replication_slots s join pg_stat_activity a on a.pid = s.active_pid"
                + " where s.slot_name = ?")) {
      statement.setString(1, database.slot());
      try (ResultSet result = statement.executeQuery()) {
        return result.next() ? Optional.ofNullable(result.getString(1)) : Optional.empty();
      }
    }
  }

  /** Tells servers apart: two of them may have a slot of the same name. */
  String systemIdentifier() {
    try (Connection connection = connect()) {
      return text(connection, "select system_identifier from pg_control_system()");
    } catch (SQLException e) {
      throw named(e);
    }
  }

  static String text(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet result = statement.executeQuery()) {
      String value = result.next() ? result.getString(1) : null;
      return value == null ? "" : value;
    }
  }
}
