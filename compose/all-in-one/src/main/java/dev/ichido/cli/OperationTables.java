package dev.ichido.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.outbox.RecordKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What the tables of inbox and executor say about operations, as documents. */
final class OperationTables {
  private static final JsonMapper JSON = new JsonMapper();

  private final DataSource inbox;
  private final Optional<DataSource> claims;

  /**
   * Of these databases, which may be one.
   *
   * @param claims empty when nobody says where the executor's tables are
   */
  OperationTables(DataSource inbox, Optional<DataSource> claims) {
    this.inbox = inbox;
    this.claims = claims;
  }

  /** The result that was released to the runtime. */
  Optional<ObjectNode> result(String tenant, String scope, String id) throws SQLException {
    return query(
            inbox,
            "select * from ichido.inbox_operation"
                + " where tenant = ? and scope = ? and operation_id = ?",
            OperationTables::result,
            tenant,
            scope,
            id)
        .stream()
        .findFirst();
  }

  /** All that was told about it, oldest first. */
  List<ObjectNode> replies(String tenant, String scope, String id) throws SQLException {
    return query(
        inbox,
        "select * from ichido.inbox_reply"
            + " where tenant = ? and scope = ? and operation_id = ? order by seq",
        OperationTables::reply,
        tenant,
        scope,
        id);
  }

  /**
   * Claims and revocations with what was recorded, oldest first.
   *
   * @return empty when nobody says where the executor's table is
   */
  Optional<List<ObjectNode>> attempts(String tenant, String scope, String id) throws SQLException {
    if (claims.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        query(
            claims.get(),
            "select * from ichido.claim where record_key = ? order by attempt",
            OperationTables::attempt,
            RecordKey.of(tenant, scope, id)));
  }

  private static ObjectNode result(ResultSet row) throws SQLException {
    boolean conflict = row.getBoolean("conflict");
    return JSON.createObjectNode()
        .put("body", conflict ? null : row.getString("body"))
        .put("body_sha256", conflict ? null : row.getString("body_sha256"))
        .put("conflict", conflict);
  }

  private static ObjectNode reply(ResultSet row) throws SQLException {
    return JSON.createObjectNode()
        .put("decided_at", time(row, "decided_at"))
        .put("delivery_id", row.getString("delivery_id"))
        .put("principal", row.getString("principal"))
        .put("verdict", row.getString("verdict"))
        .put("code", row.getString("code"))
        .put("detail", row.getString("detail"))
        .put("state", row.getString("state"))
        .put("attempt", row.getInt("attempt"))
        .put("revision", row.getLong("revision"))
        .put("final", row.getBoolean("final"))
        .put("marker", row.getString("marker"))
        .put("lease_until", time(row, "lease_until"))
        .put("retry_at", time(row, "retry_at"))
        .put("received_at", time(row, "received_at"));
  }

  private static ObjectNode attempt(ResultSet row) throws SQLException {
    return JSON.createObjectNode()
        .put("attempt", row.getInt("attempt"))
        .put("kind", row.getString("kind"))
        .put("command_id", row.getString("command_id"))
        .put("action", row.getString("action"))
        .put("owner", row.getString("owner"))
        .put("started_at", time(row, "started_at"))
        .put("deadline", time(row, "deadline"))
        .put("outcome", row.getString("outcome"))
        .put("reason", row.getString("reason"))
        .put("remote_reference", row.getString("remote_reference"))
        .put("remote_status", row.getObject("remote_status", Integer.class))
        .put("remote_calls", row.getObject("remote_calls", Integer.class))
        .put("result_id", row.getString("result_id"))
        .put("recorded_at", time(row, "recorded_at"));
  }

  private interface Reading {
    ObjectNode read(ResultSet row) throws SQLException;
  }

  private static List<ObjectNode> query(
      DataSource database, String sql, Reading reading, @Nullable String... values)
      throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setString(i + 1, values[i]);
      }
      List<ObjectNode> found = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          found.add(reading.read(row));
        }
      }
      return found;
    }
  }

  private static @Nullable String time(ResultSet row, String column) throws SQLException {
    Timestamp time = row.getTimestamp(column);
    return time == null ? null : time.toInstant().toString();
  }
}
