package dev.ichido.gateway;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Reads the tables {@code ichido.inbox_*}, and what the journal says of operations. A caller sees
 * an operation that is bound to its principal, and one that the processor told it of. A reply that
 * tells of an operation carries its revision; a refusal and the answers to a read carry 0, and
 * nothing that is known of the operation is told beside them.
 */
final class ReplyStore {
  private static final String REPLIES =
      """
      select r.*, coalesce(o.conflict, false) as conflict
        from ichido.inbox_reply r
        left join ichido.inbox_operation o
          on r.revision > 0
             and o.tenant = r.tenant and o.scope = r.scope and o.operation_id = r.operation_id
      """;

  /**
   * Replies and journal arrive each in their own time, so the higher revision counts: nobody is
   * told an older state than before.
   */
  private static final String OPERATIONS =
      """
      select coalesce(o.seq, 0) as seq, k.scope, k.operation_id, coalesce(o.attempt, 0) as attempt, o.action,
             greatest(o.revision, i.revision) as revision,
             case when i.revision > coalesce(o.revision, -1) then i.state else o.state end as state,
             case when i.revision > coalesce(o.revision, -1) then null else o.lease_until end as lease_until,
             case when h.lasts then null
                  when i.revision > coalesce(o.revision, -1) then h.retry_at
                  else o.retry_at end as retry_at,
             coalesce(o.remote_reference, i.remote_reference) as remote_reference,
             coalesce(o.changed_at, i.updated_at) as changed_at, i.state as told_state,
             i.body, i.body_sha256, i.body_bytes, i.result_schema, i.original_at,
             coalesce(i.conflict, false) as conflict
        from (%s) as k (tenant, scope, operation_id)
        left join ichido.operation o
          on o.tenant = k.tenant and o.scope = k.scope and o.operation_id = k.operation_id
        left join ichido.inbox_operation i
          on i.tenant = k.tenant and i.scope = k.scope and i.operation_id = k.operation_id
        left join lateral (
               select max(t.retry_at) as retry_at,
                      bool_or(t.code in ('MAX_ATTEMPTS', 'RETRY_HORIZON')) as lasts
                 from (select operation_id, tenant, scope, revision, code, retry_at from ichido.inbox_reply
                       union all
                       select operation_id, tenant, scope, revision, code, null from ichido.operation_event) as t
                where 'FAILED_RETRYABLE' in (o.state, i.state)
                  and t.operation_id = k.operation_id and t.tenant = k.tenant and t.scope = k.scope
                  and t.revision = greatest(o.revision, i.revision)) as h on true
      """;

  private static final String ONE =
      OPERATIONS.formatted("values (?, ?, ?)")
          + """
             where (o.tenant is not null or i.tenant is not null)
               and (o.principal = ?
                    or exists (select from ichido.inbox_reply r
                                where r.operation_id = k.operation_id and r.tenant = k.tenant
                                  and r.scope = k.scope and r.principal = ?
                                  and r.revision > 0))
            """;

  private static final String EVENTS =
      """
      select * from ichido.operation_event
       where operation_id = ? and tenant = ? and scope = ? order by seq limit ?
      """;

  private final DataSource inbox;

  /**
   * The latest that is known of an operation.
   *
   * @param body null where none was told of this state
   * @param retryAt null also where only a person brings it on, as a reply would say
   */
  record Operation(
      long seq,
      String scope,
      String operationId,
      long revision,
      String state,
      int attempt,
      @Nullable String action,
      @Nullable String remoteReference,
      @Nullable String body,
      @Nullable String bodySha256,
      @Nullable Long bodyBytes,
      @Nullable Integer resultSchema,
      @Nullable Instant originalAt,
      @Nullable Instant leaseUntil,
      @Nullable Instant retryAt,
      Instant changedAt,
      boolean conflict) {}

  /** A line of the journal. */
  record Event(
      Instant at,
      String event,
      @Nullable String eventId,
      String verdict,
      @Nullable String code,
      String state,
      int attempt,
      long revision,
      @Nullable String remoteReference) {}

  ReplyStore(DataSource inbox) {
    this.inbox = inbox;
  }

  /** Replies to any of these deliveries, oldest first, on a connection of the caller's. */
  static List<Reply> to(Connection connection, Collection<String> deliveryIds) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(REPLIES + " where r.delivery_id = any(?) order by r.seq")) {
      Array ids = connection.createArrayOf("text", deliveryIds.toArray());
      statement.setArray(1, ids);
      return read(statement);
    }
  }

  /** What this caller was told of an operation, oldest first, at most as many as given. */
  List<Reply> told(
      Caller caller, String scope, String operationId, @Nullable String deliveryId, int limit) {
    return query(
        REPLIES
            + " where (r.operation_id = ? and r.tenant = ? and r.scope = ? and r.principal = ?)"
            + " or (r.delivery_id = ? and r.tenant = ? and r.principal = ?)"
            + " order by r.seq limit ?",
        s -> {
          s.setString(1, operationId);
          s.setString(2, caller.tenant());
          s.setString(3, scope);
          s.setString(4, caller.principal());
          s.setString(5, deliveryId);
          s.setString(6, caller.tenant());
          s.setString(7, caller.principal());
          s.setInt(8, limit);
          return read(s);
        });
  }

  /** What was decided on an operation, oldest first; whether the caller may see it is not asked. */
  List<Event> events(Caller caller, String scope, String operationId, int limit) {
    return query(
        EVENTS,
        s -> {
          s.setString(1, operationId);
          s.setString(2, caller.tenant());
          s.setString(3, scope);
          s.setInt(4, limit);
          List<Event> events = new ArrayList<>();
          try (ResultSet rows = s.executeQuery()) {
            while (rows.next()) {
              events.add(
                  new Event(
                      Objects.requireNonNull(instant(rows, "at")),
                      rows.getString("event"),
                      rows.getString("event_id"),
                      rows.getString("verdict"),
                      rows.getString("code"),
                      rows.getString("state_after"),
                      rows.getInt("attempt"),
                      rows.getLong("revision"),
                      rows.getString("remote_reference")));
            }
          }
          return events;
        });
  }

  /** The latest of an operation that the caller may see. */
  Optional<Operation> find(Caller caller, String scope, String operationId) {
    return query(
        ONE,
        s -> {
          s.setString(1, caller.tenant());
          s.setString(2, scope);
          s.setString(3, operationId);
          s.setString(4, caller.principal());
          s.setString(5, caller.principal());
          return operations(s).stream().findFirst();
        });
  }

  /**
   * Operations that are bound to the caller, the newest first.
   *
   * @param states any when empty
   * @param before the place of the last one of the page before
   */
  List<Operation> list(Caller caller, List<String> states, long before, int limit) {
    return query(
        OPERATIONS.formatted(
                "select tenant, scope, operation_id from ichido.operation"
                    + " where tenant = ? and principal = ? and seq < ?"
                    + (states.isEmpty() ? "" : " and state = any(?)")
                    + " order by seq desc limit ?")
            + " order by o.seq desc",
        s -> {
          int i = 1;
          s.setString(i++, caller.tenant());
          s.setString(i++, caller.principal());
          s.setLong(i++, before);
          if (!states.isEmpty()) {
            s.setArray(i++, s.getConnection().createArrayOf("text", states.toArray()));
          }
          s.setInt(i, limit);
          return operations(s);
        });
  }

  /** Replies to this caller after a place, oldest first. */
  List<Reply> after(Caller caller, long seq, int limit) {
    return query(
        REPLIES + " where r.seq > ? and r.tenant = ? and r.principal = ? order by r.seq limit ?",
        s -> {
          s.setLong(1, seq);
          s.setString(2, caller.tenant());
          s.setString(3, caller.principal());
          s.setInt(4, limit);
          return read(s);
        });
  }

  /** The place of the newest reply; 0 when there is none. */
  long newest() {
    return query(
        "select coalesce(max(seq), 0) from ichido.inbox_reply",
        s -> {
          try (ResultSet row = s.executeQuery()) {
            row.next();
            return row.getLong(1);
          }
        });
  }

  private interface Run<T> {
    T run(PreparedStatement statement) throws SQLException;
  }

  private <T> T query(String sql, Run<T> run) {
    try (Connection connection = inbox.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      return run.run(statement);
    } catch (SQLException e) {
      throw ProblemException.of(e);
    }
  }

  private static List<Operation> operations(PreparedStatement statement) throws SQLException {
    List<Operation> found = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        boolean conflict = rows.getBoolean("conflict");
        String state = rows.getString("state");
        boolean released = !conflict && state.equals(rows.getString("told_state"));
        found.add(
            new Operation(
                rows.getLong("seq"),
                rows.getString("scope"),
                rows.getString("operation_id"),
                rows.getLong("revision"),
                state,
                rows.getInt("attempt"),
                rows.getString("action"),
                conflict ? null : rows.getString("remote_reference"),
                released ? rows.getString("body") : null,
                released ? rows.getString("body_sha256") : null,
                released ? rows.getObject("body_bytes", Long.class) : null,
                released ? rows.getObject("result_schema", Integer.class) : null,
                released ? instant(rows, "original_at") : null,
                instant(rows, "lease_until"),
                instant(rows, "retry_at"),
                Objects.requireNonNull(instant(rows, "changed_at")),
                conflict));
      }
    }
    return found;
  }

  private static List<Reply> read(PreparedStatement statement) throws SQLException {
    List<Reply> replies = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        boolean conflict = rows.getBoolean("conflict");
        replies.add(
            new Reply(
                rows.getLong("seq"),
                rows.getString("scope"),
                rows.getString("operation_id"),
                rows.getString("delivery_id"),
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
                Objects.requireNonNull(instant(rows, "decided_at")),
                conflict));
      }
    }
    return replies;
  }

  private static @Nullable Instant instant(ResultSet rows, String column) throws SQLException {
    Timestamp timestamp = rows.getTimestamp(column);
    return timestamp == null ? null : timestamp.toInstant();
  }
}
