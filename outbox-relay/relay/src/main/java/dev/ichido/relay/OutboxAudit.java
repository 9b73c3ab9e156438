package dev.ichido.relay;

import dev.ichido.relay.RelayException.Code;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the rows of the table against the records that the broker acknowledged, all the time, and
 * sends again what is missing: whatever it was that lost it, such as a slot that somebody moved, or
 * a table that was out of the publication for a while.
 *
 * <p>A round takes the transactions that had ended when it began, and looks when the slot has
 * confirmed the position of that moment: by then all their rows must be acknowledged. What this
 * process sent it remembers; what it does not remember is looked for in the topics, once, after a
 * restart. Where nothing was written, nothing is done.
 */
final class OutboxAudit implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(OutboxAudit.class);
  private static final Duration UNTIL_CONFIRMED = Duration.ofMillis(200);

  /** Remembered rows; older ones are looked for in the topics. */
  private static final int REMEMBERED = 500_000;

  /** Without rows the position is written down this seldom, so that a quiet outbox stays quiet. */
  private static final long TRANSACTIONS_WITHOUT_ROWS = 1_000_000;

  private static final int FETCH = 10_000;

  private final OutboxDatabase database;
  private final OutboxSource source;
  private final ChangeRouter router;
  private final RelayMeters meters;
  private final TopicSearch topics;
  private final Duration interval;
  private final BooleanSupplier holding;
  private final Repair repair;
  private final CountDownLatch stop;
  private final List<long[]> remembered = new ArrayList<>();
  private int rows;
  private long from = -1;
  private long writtenDown;
  private @Nullable Mark mark;
  private volatile @Nullable RelayException gap;

  /** Sends rows in the place of the relay. */
  interface Repair {
    /** Returns false while the relay can't send. */
    boolean send(List<RoutedRow> rows) throws InterruptedException;
  }

  /** Finds deliveries in the topics. */
  interface TopicSearch {
    /**
     * Removes what was found.
     *
     * @param since milliseconds; records that the broker took in before are not looked at
     */
    void remove(Set<String> deliveries, long since);
  }

  /** A moment: the transactions below had ended, and all that they wrote is before the position. */
  private record Mark(long transaction, String position) {}

  OutboxAudit(
      OutboxDatabase database,
      OutboxSource source,
      ChangeRouter router,
      RelayMeters meters,
      TopicSearch topics,
      Duration interval,
      BooleanSupplier holding,
      Repair repair,
      CountDownLatch stop) {
    this.database = database;
    this.source = source;
    this.router = router;
    this.meters = meters;
    this.topics = topics;
    this.interval = interval;
    this.holding = holding;
    this.repair = repair;
    this.stop = stop;
  }

  /** Rows that are missing and not sent again yet. */
  Optional<RelayException> gap() {
    return Optional.ofNullable(gap);
  }

  /** Called for each batch when all of it is acknowledged. */
  void acknowledged(List<RoutedRow> batch) {
    long[] pairs = new long[2 * batch.size()];
    int count = 0;
    for (RoutedRow routed : batch) {
      RoutedRow.Row row =
          switch (routed) {
            case RoutedRow.Intent intent -> intent.row();
            case RoutedRow.Refused refused -> refused.row();
            case RoutedRow.Nothing nothing -> null;
          };
      if (row != null) {
        pairs[count++] = row.transaction();
        pairs[count++] = digest(row.delivery());
      }
    }
    if (count == 0) {
      return;
    }
    long[] kept = count == pairs.length ? pairs : Arrays.copyOf(pairs, count);
    synchronized (remembered) {
      remembered.add(kept);
      rows += count / 2;
      while (rows > REMEMBERED) {
        rows -= remembered.removeFirst().length / 2;
      }
    }
  }

  /** FNV-1a: ids of deliveries need not be UUIDs. */
  private static long digest(String delivery) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < delivery.length(); i++) {
      hash = (hash ^ delivery.charAt(i)) * 0x100000001b3L;
    }
    return hash;
  }

  @Override
  public void run() {
    try {
      boolean stopped = false;
      while (!stopped) {
        boolean failed = false;
        if (holding.getAsBoolean()) {
          try (Connection connection = source.connect()) {
            look(connection);
          } catch (SQLException | RuntimeException e) {
            LOG.warn("The audit of the outbox could not look and tries again: {}", e.getMessage());
            failed = true;
          }
        }
        Duration pause = mark == null || failed ? interval : UNTIL_CONFIRMED;
        stopped = stop.await(pause.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look(Connection connection) throws SQLException, InterruptedException {
    Mark open = mark;
    if (open == null) {
      begin(connection);
    } else if (isConfirmed(connection, open)) {
      Set<Long> sent = takeRemembered(open.transaction());
      boolean whole = false;
      try {
        Set<String> missing = missing(connection, open, sent);
        whole = missing.isEmpty() || isRepaired(connection, open, missing);
      } finally {
        if (!whole) {
          remember(sent, open.transaction());
        }
      }
      if (whole) {
        gap = null;
        from = open.transaction();
        mark = null;
        writeDown(connection);
      }
    }
  }

  private void begin(Connection connection) throws SQLException {
    Mark now;
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint,"
                    + " pg_current_wal_insert_lsn()::text")) {
      row.next();
      now = new Mark(row.getLong(1), row.getString(2));
    }
    if (from < 0) {
      writtenDown =
          source.findProgress(connection).map(OutboxSource.Progress::acknowledgedBelow).orElse(0L);
      // Nothing is known of what was written before: the slot alone answers for it.
      from = writtenDown == 0 ? now.transaction() : writtenDown;
    }
    if (!hasRows(connection, now)) {
      from = now.transaction();
      if (from - writtenDown > TRANSACTIONS_WITHOUT_ROWS) {
        writeDown(connection);
      }
      return;
    }
    mark = now;
    // Confirmed like a row, so that the position moves past the moment where nothing else does it.
    SlotMonitor.emit(connection);
  }

  private boolean hasRows(Connection connection, Mark until) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "select from ichido.outbox where transaction_id >= ? and transaction_id < ? limit 1")) {
      select.setLong(1, from);
      select.setLong(2, until.transaction());
      try (ResultSet row = select.executeQuery()) {
        return row.next();
      }
    }
  }

  private boolean isConfirmed(Connection connection, Mark open) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "select confirmed_flush_lsn >= ?::pg_lsn from pg_replication_slots where slot_name ="
                + " ?")) {
      select.setString(1, open.position());
      select.setString(2, database.slot());
      try (ResultSet row = select.executeQuery()) {
        return row.next() && row.getBoolean(1);
      }
    }
  }

  private Set<Long> takeRemembered(long below) {
    Set<Long> sent = new HashSet<>();
    synchronized (remembered) {
      List<long[]> later = new ArrayList<>();
      for (long[] pairs : remembered) {
        long[] kept = new long[pairs.length];
        int count = 0;
        for (int i = 0; i < pairs.length; i += 2) {
          if (pairs[i] < below) {
            sent.add(pairs[i + 1]);
          } else {
            kept[count++] = pairs[i];
            kept[count++] = pairs[i + 1];
          }
        }
        if (count > 0) {
          later.add(Arrays.copyOf(kept, count));
        }
      }
      remembered.clear();
      remembered.addAll(later);
      rows = later.stream().mapToInt(pairs -> pairs.length / 2).sum();
    }
    return sent;
  }

  private void remember(Set<Long> sent, long below) {
    long[] pairs = new long[2 * sent.size()];
    int count = 0;
    for (long digest : sent) {
      pairs[count++] = below - 1;
      pairs[count++] = digest;
    }
    synchronized (remembered) {
      remembered.add(0, pairs);
      rows += sent.size();
    }
  }

  /** Ids of the rows of the round that nobody acknowledged. */
  private Set<String> missing(Connection connection, Mark until, Set<Long> sent)
      throws SQLException {
    Set<String> missing = new LinkedHashSet<>();
    long oldest = Long.MAX_VALUE;
    connection.setAutoCommit(false);
    try (PreparedStatement select =
        connection.prepareStatement(
            "select id, created_at from ichido.outbox where transaction_id >= ? and transaction_id"
                + " < ?")) {
      select.setFetchSize(FETCH);
      select.setLong(1, from);
      select.setLong(2, until.transaction());
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          if (!sent.contains(digest(row.getString(1)))) {
            missing.add(row.getString(1));
            oldest = Math.min(oldest, row.getLong(2) / 1_000);
          }
        }
      }
    } finally {
      connection.setAutoCommit(true);
    }
    if (!missing.isEmpty()) {
      topics.remove(missing, oldest);
    }
    return missing;
  }

  private boolean isRepaired(Connection connection, Mark until, Set<String> missing)
      throws SQLException, InterruptedException {
    if (gap == null) {
      RelayException found =
          RelayException.of(
              Code.OUTBOX_GAP,
              "every row of the outbox to be acknowledged once slot "
                  + database.slot()
                  + " has passed it",
              missing.size() + " are not",
              "who moved the slot or changed the publication; they are sent again now");
      gap = found;
      meters.missing(missing.size());
      LOG.error("{}: {}", found.code(), found.getMessage());
    }
    List<RoutedRow> lost = new ArrayList<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            OutboxRows.select(
                connection, "o.transaction_id >= ? and o.transaction_id < ? and o.id = any (?)"))) {
      select.setLong(1, from);
      select.setLong(2, until.transaction());
      select.setArray(3, connection.createArrayOf("text", missing.toArray()));
      try (ResultSet rowsFound = select.executeQuery()) {
        OutboxRows.read(rowsFound, router, lost::add);
      }
    }
    if (!repair.send(lost)) {
      return false;
    }
    meters.repaired(lost.size());
    LOG.warn("{} rows that were missing were sent again", lost.size());
    return true;
  }

  private void writeDown(Connection connection) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "update ichido.relay_slot set acknowledged_below = ?, acknowledged_system = (select"
                + " system_identifier::text from pg_control_system()) where slot_name = ?")) {
      update.setLong(1, from);
      update.setString(2, database.slot());
      update.executeUpdate();
      writtenDown = from;
    }
  }
}
