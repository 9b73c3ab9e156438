package dev.ichido.relay;

import dev.ichido.relay.RelayException.Code;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a lost slot anew, and sends from the table what was committed before its first change. The
 * new slot exports the snapshot it begins at: what that snapshot shows is read here, all else
 * arrives by the slot, so there is no gap and nothing twice. That a back-fill has begun is written
 * down first; one that was cut off is done again under a later snapshot, which overlaps with the
 * slot and leaves no gap either.
 */
final class Backfill {
  private static final Logger LOG = LoggerFactory.getLogger(Backfill.class);

  private final OutboxDatabase database;
  private final OutboxSource source;
  private final ChangeRouter router;
  private final int batch;

  /** Takes rows in order, and returns when they are acknowledged. */
  interface Sink {
    void send(List<RoutedRow> rows) throws InterruptedException;
  }

  Backfill(OutboxDatabase database, OutboxSource source, ChangeRouter router, int batch) {
    this.database = database;
    this.source = source;
    this.router = router;
    this.batch = batch;
  }

  /** Why a back-fill is due, if it is: SLOT_MISSING, SLOT_LOST or BACKFILL_UNFINISHED. */
  Optional<RelayException> findReason() throws SQLException {
    try (Connection connection = source.connect()) {
      return findReason(connection);
    }
  }

  private Optional<RelayException> findReason(Connection connection) throws SQLException {
    Optional<OutboxSource.Slot> slot = source.findSlot(connection);
    if (slot.isEmpty()) {
      return Optional.of(source.slotMissing());
    }
    if (slot.get().lost()) {
      return Optional.of(source.slotLost());
    }
    return source.findProgress(connection).filter(OutboxSource.Progress::backfill).isPresent()
        ? Optional.of(
            RelayException.of(
                Code.BACKFILL_UNFINISHED,
                "every row that slot " + database.slot() + " missed to be sent",
                "the back-fill was cut off",
                "the log for what cut it off; it is done again"))
        : Optional.empty();
  }

  /**
   * Does what is due, once only however many relays try.
   *
   * @return rows sent; empty when another relay is at it or has done it
   */
  OptionalLong run(Sink sink) throws SQLException, InterruptedException {
    try (Connection guard = source.connectPatiently()) {
      if (!lock(guard)) {
        return OptionalLong.empty();
      }
      Optional<RelayException> reason = findReason(guard);
      if (reason.isEmpty()) {
        return OptionalLong.empty();
      }
      mark(guard, true);
      boolean unfinished = reason.get().code() == Code.BACKFILL_UNFINISHED;
      if (reason.get().code() == Code.SLOT_LOST) {
        drop(guard);
      }
      long sent = unfinished ? send(sink, guard, null) : createAndSend(sink, guard);
      mark(guard, false);
      return OptionalLong.of(sent);
    }
  }

  private boolean lock(Connection guard) throws SQLException {
    try (PreparedStatement lock =
        guard.prepareStatement("select pg_try_advisory_lock(hashtext('ichido.outbox ' || ?))")) {
      lock.setString(1, database.slot());
      try (ResultSet result = lock.executeQuery()) {
        return result.next() && result.getBoolean(1);
      }
    }
  }

  private void mark(Connection guard, boolean begun) throws SQLException {
    try (PreparedStatement update =
        guard.prepareStatement(
            "update ichido.relay_slot r set backfill = ?, confirmed_at_least = null,"
                + " consistent_point = coalesce((select"
                + " s.confirmed_flush_lsn from pg_replication_slots s where s.slot_name ="
                + " r.slot_name), consistent_point) where slot_name = ?")) {
      update.setBoolean(1, begun);
      update.setString(2, database.slot());
      update.executeUpdate();
    }
  }

  private void drop(Connection guard) throws SQLException {
    try (PreparedStatement drop = guard.prepareStatement("select pg_drop_replication_slot(?)")) {
      drop.setString(1, database.slot());
      drop.execute();
    }
  }

  private long createAndSend(Sink sink, Connection guard)
      throws SQLException, InterruptedException {
    // The snapshot lives as long as this connection says nothing more.
    try (Connection exporter = source.connectForReplication()) {
      LOG.info(
          "Making slot {} anew; this waits for the transactions that are open", database.slot());
      try (Statement create = exporter.createStatement();
          ResultSet made =
              create.executeQuery(
                  "CREATE_REPLICATION_SLOT " + database.slot() + " LOGICAL pgoutput")) {
        if (!made.next()) {
          throw new SQLException("The server made no slot.");
        }
        return send(sink, guard, made.getString("snapshot_name"));
      }
    }
  }

  private long send(Sink sink, Connection guard, @Nullable String snapshot)
      throws SQLException, InterruptedException {
    long from = source.findProgress(guard).map(OutboxSource.Progress::acknowledgedBelow).orElse(0L);
    try (Connection reader = source.connectPatiently()) {
      reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      reader.setAutoCommit(false);
      if (snapshot != null) {
        try (Statement adopt = reader.createStatement()) {
          adopt.execute("set transaction snapshot '" + snapshot + "'");
        }
      }
      try (PreparedStatement select =
          reader.prepareStatement(OutboxRows.select(guard, "o.transaction_id >= ?"))) {
        select.setFetchSize(batch);
        select.setLong(1, from);
        try (ResultSet rows = select.executeQuery()) {
          return send(sink, rows);
        }
      }
    }
  }

  private long send(Sink sink, ResultSet rows) throws SQLException, InterruptedException {
    List<RoutedRow> routed = new ArrayList<>(batch);
    AtomicLong sent = new AtomicLong();
    OutboxRows.read(
        rows,
        router,
        row -> {
          routed.add(row);
          if (routed.size() == batch) {
            sink.send(routed);
            sent.addAndGet(routed.size());
            routed.clear();
          }
        });
    sink.send(routed);
    return sent.addAndGet(routed.size());
  }
}
