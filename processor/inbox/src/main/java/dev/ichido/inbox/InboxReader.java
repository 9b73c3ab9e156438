package dev.ichido.inbox;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Reads what the inbox holds, for runtimes. The result of an operation about which two different
 * truths were told is withheld: {@code conflict} says so. A reply that tells of no operation, such
 * as that of a read, has revision 0 and is not touched by it.
 */
public final class InboxReader {
  private static final String REPLIES =
      """
      select r.*,
             coalesce((select o.conflict
                         from ichido.inbox_operation o
                        where r.revision > 0
                          and o.tenant = r.tenant and o.scope = r.scope and o.operation_id = r.operation_id),
                      false) as conflict
        from ichido.inbox_reply r
      """;

  private final DataSource dataSource;

  public InboxReader(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /**
   * The reply after which none follows for this delivery.
   *
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public Optional<InboxReply> findFinal(String deliveryId) {
    List<InboxReply> replies =
        query(
            REPLIES + " where r.delivery_id = ? and r.final order by r.seq desc limit 1",
            s -> s.setString(1, deliveryId));
    return replies.stream().findFirst();
  }

  /**
   * All replies to a delivery so far, oldest first.
   *
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public List<InboxReply> repliesTo(String deliveryId) {
    return query(
        REPLIES + " where r.delivery_id = ? order by r.seq", s -> s.setString(1, deliveryId));
  }

  /**
   * Waits for the final reply to a delivery.
   *
   * @return empty when there is none after this time
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public Optional<InboxReply> awaitFinal(String deliveryId, Duration atMost)
      throws InterruptedException {
    return await(atMost, () -> findFinal(deliveryId));
  }

  /**
   * Replies after a cursor, oldest first. The {@code seq} of the last one is the next cursor;
   * nothing appears before it later.
   *
   * @param cursor 0 for the beginning
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public List<InboxReply> listAfter(long cursor, int limit) {
    return query(
        REPLIES + " where r.seq > ? order by r.seq limit ?",
        s -> {
          s.setLong(1, cursor);
          s.setInt(2, limit);
        });
  }

  /**
   * Replies after a cursor, waiting for the first one.
   *
   * @return empty when there is none after this time
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public List<InboxReply> awaitAfter(long cursor, int limit, Duration atMost)
      throws InterruptedException {
    return await(
            atMost,
            () -> {
              List<InboxReply> found = listAfter(cursor, limit);
              return found.isEmpty() ? Optional.empty() : Optional.of(found);
            })
        .orElse(List.of());
  }

  /**
   * Hands on replies after a cursor, oldest first, as they come: on one connection that listens,
   * and reads when it is notified. Returns when it is told to, at most a second later.
   *
   * @param cursor 0 for the beginning
   * @param limit most replies that are handed on at a time
   * @throws InboxException INBOX_UNAVAILABLE; going on from the last {@code seq} misses nothing
   */
  public void follow(
      long cursor, int limit, BooleanSupplier going, Consumer<List<InboxReply>> consumer) {
    try (Connection listening = dataSource.getConnection()) {
      listening.setAutoCommit(true);
      try (Statement statement = listening.createStatement()) {
        statement.execute("listen ichido_inbox");
        // One plan for every notice, which follows the order of the rows.
        statement.execute("set plan_cache_mode = force_generic_plan; set enable_seqscan = off");
      }
      try (PreparedStatement statement =
          listening.prepareStatement(REPLIES + " where r.seq > ? order by r.seq limit ?")) {
        PGConnection notices = listening.unwrap(PGConnection.class);
        long next = cursor;
        while (going.getAsBoolean()) {
          statement.setLong(1, next);
          statement.setInt(2, limit);
          List<InboxReply> replies = replies(statement);
          if (!replies.isEmpty()) {
            next = replies.get(replies.size() - 1).seq();
            consumer.accept(replies);
          }
          // Whatever is committed from here on notifies, and a notice that came meanwhile is kept.
          if (replies.size() < limit) {
            notices.getNotifications(1_000);
          }
        }
      } finally {
        try (Statement statement = listening.createStatement()) {
          statement.execute("unlisten ichido_inbox");
          statement.execute("reset plan_cache_mode; reset enable_seqscan");
        }
      }
    } catch (SQLException e) {
      throw InboxException.databaseUnavailable(e);
    }
  }

  /**
   * The latest that is known of an operation.
   *
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public Optional<InboxOperation> findOperation(String tenant, String scope, String operationId) {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement s =
            connection.prepareStatement(
                "select * from ichido.inbox_operation"
                    + " where tenant = ? and scope = ? and operation_id = ?")) {
      s.setString(1, tenant);
      s.setString(2, scope);
      s.setString(3, operationId);
      try (ResultSet rows = s.executeQuery()) {
        if (!rows.next()) {
          return Optional.empty();
        }
        boolean conflict = rows.getBoolean("conflict");
        return Optional.of(
            new InboxOperation(
                tenant,
                scope,
                operationId,
                rows.getLong("revision"),
                rows.getString("state"),
                conflict ? null : rows.getString("remote_reference"),
                conflict ? null : rows.getString("body"),
                conflict ? null : rows.getString("body_sha256"),
                instant(rows, "original_at"),
                conflict));
      }
    } catch (SQLException e) {
      throw InboxException.databaseUnavailable(e);
    }
  }

  private interface Look<T> {
    Optional<T> look();
  }

  private <T> Optional<T> await(Duration atMost, Look<T> look) throws InterruptedException {
    long until = System.nanoTime() + atMost.toNanos();
    try (Connection listening = dataSource.getConnection()) {
      try (Statement statement = listening.createStatement()) {
        statement.execute("listen ichido_inbox");
      }
      try {
        PGConnection notices = listening.unwrap(PGConnection.class);
        while (true) {
          Optional<T> found = look.look();
          long left = until - System.nanoTime();
          if (found.isPresent() || left <= 0) {
            return found;
          }
          if (Thread.interrupted()) {
            throw new InterruptedException();
          }
          notices.getNotifications(Math.clamp(left / 1_000_000, 1, 1_000));
        }
      } finally {
        try (Statement statement = listening.createStatement()) {
          statement.execute("unlisten ichido_inbox");
        }
      }
    } catch (SQLException e) {
      throw InboxException.databaseUnavailable(e);
    }
  }

  private interface Binding {
    void bind(PreparedStatement statement) throws SQLException;
  }

  private List<InboxReply> query(String sql, Binding binding) {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      binding.bind(statement);
      return replies(statement);
    } catch (SQLException e) {
      throw InboxException.databaseUnavailable(e);
    }
  }

  private static List<InboxReply> replies(PreparedStatement statement) throws SQLException {
    List<InboxReply> replies = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        replies.add(reply(rows));
      }
    }
    return replies;
  }

  private static InboxReply reply(ResultSet rows) throws SQLException {
    boolean conflict = rows.getBoolean("conflict");
    return new InboxReply(
        rows.getLong("seq"),
        rows.getString("tenant"),
        rows.getString("scope"),
        rows.getString("operation_id"),
        rows.getString("delivery_id"),
        rows.getString("principal"),
        rows.getString("verdict"),
        rows.getString("code"),
        rows.getString("detail"),
        rows.getString("state"),
        rows.getInt("attempt"),
        rows.getLong("revision"),
        rows.getBoolean("final"),
        rows.getString("marker"),
        conflict ? null : rows.getString("remote_reference"),
        conflict ? null : rows.getString("body"),
        conflict ? null : rows.getString("body_sha256"),
        conflict ? null : rows.getObject("body_bytes", Long.class),
        rows.getObject("result_schema", Integer.class),
        instant(rows, "original_at"),
        instant(rows, "lease_until"),
        instant(rows, "retry_at"),
        List.of((String[]) rows.getArray("differing").getArray()),
        rows.getTimestamp("decided_at").toInstant(),
        rows.getString("traceparent"),
        conflict);
  }

  private static @Nullable Instant instant(ResultSet rows, String column) throws SQLException {
    Timestamp timestamp = rows.getTimestamp(column);
    return timestamp == null ? null : timestamp.toInstant();
  }
}
