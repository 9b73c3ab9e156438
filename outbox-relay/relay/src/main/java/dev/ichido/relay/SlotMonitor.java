package dev.ichido.relay;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the slot, and moves it where the outbox is quiet while other tables write: a message in
 * the log is delivered to the relay like a row, so confirming it confirms all that is before it.
 */
final class SlotMonitor implements Runnable {
  static final String MESSAGE_PREFIX = "ichido-relay";

  private static final Logger LOG = LoggerFactory.getLogger(SlotMonitor.class);
  private static final Duration UNTIL_HOLDING = Duration.ofMillis(200);
  private static final Duration PARTITIONS = Duration.ofHours(1);

  /* What is noted need only be near enough for publish_intent, which asks the server otherwise. */
  private static final String NOTE =
      "update ichido.relay_slot r set confirmed_at_least = s.confirmed_flush_lsn from"
          + " pg_replication_slots s where r.slot_name = (select slot_name from ichido.relay_slot where"
          + " slot_name = ? for update skip locked) and s.slot_name = r.slot_name and"
          + " r.refuse_above_bytes is not null and (r.confirmed_at_least is null or not"
          + " pg_wal_lsn_diff(s.confirmed_flush_lsn, r.confirmed_at_least) between 0 and"
          + " r.refuse_above_bytes / 8)";

  /** A confirmed message leaves its own tail behind; less than a page of log is no lag. */
  private static final long NO_LAG_BYTES = 8_192;

  private final OutboxDatabase database;
  private final OutboxSource source;
  private final RelayMeters meters;
  private final Duration interval;
  private final String token;
  private final CountDownLatch stop;
  private volatile boolean holding;
  private boolean warned;
  private volatile boolean greeted;
  private long partitionsDue = System.nanoTime();

  /**
   * Starts nothing.
   *
   * @param token application name of the connection that should hold the slot
   */
  SlotMonitor(
      OutboxDatabase database,
      OutboxSource source,
      RelayMeters meters,
      Duration interval,
      String token,
      CountDownLatch stop) {
    this.database = database;
    this.source = source;
    this.meters = meters;
    this.interval = interval;
    this.token = token;
    this.stop = stop;
  }

  /** Whether the relay held the slot when it was last looked at. */
  boolean holding() {
    return holding;
  }

  /**
   * A new engine is to be sent a message, which fences the relay before it and shows that this one
   * goes on.
   */
  void greet() {
    greeted = false;
  }

  @Override
  public void run() {
    Connection connection = null;
    try {
      boolean stopped = false;
      while (!stopped) {
        try {
          if (connection == null) {
            connection = source.connect();
          }
          look(connection);
        } catch (SQLException | RelayException e) {
          holding = false;
          LOG.debug("Could not look at slot {}", database.slot(), e);
          connection = closed(connection);
        }
        Duration pause = holding ? interval : UNTIL_HOLDING;
        stopped = stop.await(pause.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      holding = false;
      closed(connection);
    }
  }

  private void look(Connection connection) throws SQLException {
    long lag;
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select pg_wal_lsn_diff(pg_current_wal_lsn(), s.confirmed_flush_lsn)::bigint,"
                + " pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)::bigint, s.wal_status, a.application_name"
                + " from pg_replication_slots s left join pg_stat_activity a on a.pid = s.active_pid"
                + " where s.slot_name = ?")) {
      statement.setString(1, database.slot());
      try (ResultSet result = statement.executeQuery()) {
        if (!result.next()) {
          holding = false;
          return;
        }
        lag = Math.max(0, result.getLong(1));
        meters.slot(lag, Math.max(0, result.getLong(2)));
        holding = token.equals(result.getString(4));
        warn("unreserved".equals(result.getString(3)));
      }
    }
    if (!holding) {
      greeted = false;
      return;
    }
    if (!greeted || lag > NO_LAG_BYTES) {
      greeted = true;
      emit(connection);
    }
    try (PreparedStatement note = connection.prepareStatement(NOTE)) {
      note.setString(1, database.slot());
      note.executeUpdate();
    }
    if (System.nanoTime() - partitionsDue >= 0) {
      partitionsDue = System.nanoTime() + PARTITIONS.toNanos();
      addPartitions(connection);
    }
  }

  static void emit(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("select pg_logical_emit_message(false, '" + MESSAGE_PREFIX + "', '')");
    }
  }

  private void addPartitions(Connection connection) {
    try (Statement statement = connection.createStatement()) {
      statement.execute("select ichido.outbox_add_partitions()");
    } catch (SQLException e) {
      // The default partition takes the rows meanwhile.
      LOG.warn(
          "Could not add the outbox's next partitions (SQLSTATE {}); trying again in an hour",
          e.getSQLState());
    }
  }

  private void warn(boolean unreserved) {
    if (unreserved && !warned) {
      LOG.warn(
          "Slot {} lags so far that the server may remove the log that it needs. Check that records are acknowledged,"
              + " and max_slot_wal_keep_size.",
          database.slot());
    }
    warned = unreserved;
  }

  private static @Nullable Connection closed(@Nullable Connection connection) {
    if (connection != null) {
      try {
        connection.close();
      } catch (SQLException e) {
        LOG.debug("Could not close a connection that failed", e);
      }
    }
    return null;
  }
}
