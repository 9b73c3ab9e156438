package dev.ichido.relay;

import dev.ichido.relay.RelayException.Code;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.flywaydb.core.Flyway;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The step before the first insert: tables, publication, and the replication slot. Idempotent, and
 * safe to run from several processes at once. A slot that was recorded once is never created again:
 * what was written between its loss and the second creation would be skipped in silence.
 */
public final class OutboxMigration {
  private static final Logger LOG = LoggerFactory.getLogger(OutboxMigration.class);
  private static final Pattern NAME = Pattern.compile("[a-z0-9_]{1,63}");

  private final OutboxDatabase database;
  private final OutboxSource source;

  /** What one run did. */
  public record Outcome(int migrations, SlotOutcome slot) {}

  /** What became of the slot. */
  public enum SlotOutcome {
    CREATED,
    THERE,
    /** It was recorded once and is gone. Only the relay makes it anew, with a back-fill. */
    GONE
  }

  /**
   * Opens nothing.
   *
   * @param database with a user that may create in the database and has the REPLICATION attribute
   */
  public OutboxMigration(OutboxDatabase database) {
    this.database = database;
    this.source = new OutboxSource(database, Duration.ofSeconds(15));
    requireName("slot", database.slot());
    requireName("publication", database.publication());
  }

  /** PostgreSQL takes no other slot names, and Debezium no other publication names. */
  private static void requireName(String what, String name) {
    if (!NAME.matcher(name).matches()) {
      throw RelayException.of(
          Code.NAME_UNUSABLE,
          "a " + what + " name of 1 to 63 lower-case letters, digits and underscores",
          "the configured one is none",
          "outbox." + what);
    }
  }

  /**
   * Brings the database to what the relay needs.
   *
   * @throws RelayException DATABASE_UNREACHABLE, DATABASE_ACCESS, DATABASE_MISSING, WAL_LEVEL,
   *     OUTBOX_NOT_EMPTY, SLOT_UNFIT, REPLICATION_DENIED
   */
  public Outcome run() {
    try (Connection connection = source.connect()) {
      if (!OutboxSource.text(connection, "show wal_level").equals("logical")) {
        throw RelayException.of(
            Code.WAL_LEVEL,
            "wal_level = logical",
            "the database at " + database.address() + " has another",
            "postgresql.conf; a restart of PostgreSQL is needed");
      }
      // The session's lock, not a transaction's: a slot is not created inside one that has written.
      try (Statement statement = connection.createStatement()) {
        statement.execute("select pg_advisory_lock(hashtext('ichido.outbox migration'))");
      }
      int migrations = migrate();
      requirePublication(connection);
      return new Outcome(migrations, requireSlot(connection));
    } catch (SQLException e) {
      throw source.named(e);
    }
  }

  private int migrate() {
    return Flyway.configure(OutboxMigration.class.getClassLoader())
        .dataSource(database.url(), database.user(), database.password())
        .locations("classpath:dev/ichido/outbox/migration")
        .defaultSchema("ichido")
        .table("flyway_outbox")
        .baselineOnMigrate(true)
        .baselineVersion("0")
        .load()
        .migrate()
        .migrationsExecuted;
  }

  private void requirePublication(Connection connection) throws SQLException {
    try (PreparedStatement find =
        connection.prepareStatement("select from pg_publication where pubname = ?")) {
      find.setString(1, database.publication());
      try (ResultSet found = find.executeQuery()) {
        if (found.next()) {
          return;
        }
      }
    }
    try (Statement create = connection.createStatement()) {
      create.execute(
          "create publication "
              + database.publication()
              + " for table ichido.outbox with (publish = 'insert', publish_via_partition_root = true)");
    }
  }

  private SlotOutcome requireSlot(Connection connection) throws SQLException {
    boolean recorded;
    try (PreparedStatement find =
        connection.prepareStatement("select from ichido.relay_slot where slot_name = ?")) {
      find.setString(1, database.slot());
      try (ResultSet found = find.executeQuery()) {
        recorded = found.next();
      }
    }
    var slot = source.findSlot(connection);
    if (slot.isPresent() && !slot.get().fit()) {
      throw RelayException.of(
          Code.SLOT_UNFIT,
          "replication slot "
              + database.slot()
              + " of plugin pgoutput in database "
              + source.name(),
          "it is of another plugin or database",
          "outbox.slot");
    }
    if (recorded) {
      return slot.isPresent() ? SlotOutcome.THERE : SlotOutcome.GONE;
    }
    boolean created = slot.isEmpty();
    // Before the look for rows: all that are written from here on have this id or a higher one.
    String firstTransaction =
        OutboxSource.text(connection, "select pg_snapshot_xmin(pg_current_snapshot())");
    if (created) {
      requireEmptyOutbox(connection);
      create(connection);
    }
    record(connection, created ? firstTransaction : null);
    return created ? SlotOutcome.CREATED : SlotOutcome.THERE;
  }

  private void requireEmptyOutbox(Connection connection) throws SQLException {
    if (!OutboxSource.text(connection, "select 1 from ichido.outbox limit 1").isEmpty()) {
      throw RelayException.of(
          Code.OUTBOX_NOT_EMPTY,
          "an empty outbox when slot " + database.slot() + " is created",
          "it holds rows, and no relay would see them",
          "outbox.slot; where the name is right, relay or remove those rows first");
    }
  }

  private void create(Connection connection) throws SQLException {
    try (PreparedStatement create =
        connection.prepareStatement("select pg_create_logical_replication_slot(?, 'pgoutput')")) {
      create.setString(1, database.slot());
      create.execute();
    }
    LOG.info("Created replication slot {}", database.slot());
  }

  private void record(Connection connection, @Nullable String acknowledgedBelow)
      throws SQLException {
    OptionalLong keep = findKeptBytes(connection);
    if (keep.isEmpty()) {
      LOG.warn(
          "max_slot_wal_keep_size is unlimited: while the relay is away the log grows until the disk is full."
              + " Set it, and ichido.relay_slot.refuse_above_bytes below it.");
    }
    try (PreparedStatement insert =
        connection.prepareStatement(
            "insert into ichido.relay_slot (slot_name, publication, consistent_point,"
                + " refuse_above_bytes, acknowledged_below, acknowledged_system) select slot_name, ?,"
                + " confirmed_flush_lsn, ?, ?::bigint, system_identifier from pg_replication_slots,"
                + " pg_control_system() where slot_name = ?")) {
      insert.setString(1, database.publication());
      if (keep.isPresent()) {
        insert.setLong(2, Math.max(1, keep.getAsLong() / 5 * 4));
      } else {
        insert.setNull(2, java.sql.Types.BIGINT);
      }
      insert.setString(3, acknowledgedBelow);
      insert.setString(4, database.slot());
      insert.executeUpdate();
    }
  }

  private static OptionalLong findKeptBytes(Connection connection) throws SQLException {
    String megabytes =
        OutboxSource.text(
            connection, "select setting from pg_settings where name = 'max_slot_wal_keep_size'");
    long value = megabytes.isEmpty() ? -1 : Long.parseLong(megabytes);
    return value < 0 ? OptionalLong.empty() : OptionalLong.of(value << 20);
  }
}
