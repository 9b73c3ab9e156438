package dev.ichido.inbox;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the journal says of operations, for people and for gateways. It follows the ledger by
 * a fraction of a second, and it knows of every operation, also of one whose executor died and whom
 * nobody waits for.
 */
public final class OperationReader {
  private static final String SUMMARIES = "select * from ichido.operation where true";

  private final DataSource dataSource;

  public OperationReader(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /**
   * What is known of an operation.
   *
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public Optional<OperationSummary> find(String tenant, String scope, String operationId) {
    return query(
            SUMMARIES + " and tenant = ? and scope = ? and operation_id = ?",
            List.of(tenant, scope, operationId),
            OperationReader::summary)
        .stream()
        .findFirst();
  }

  /**
   * A page of operations, the latest known first. The {@code seq} of the last one is the next
   * page's {@code before}.
   *
   * @param before {@link Long#MAX_VALUE} for the first page
   * @param limit at most as many
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public List<OperationSummary> list(OperationFilter filter, long before, int limit) {
    StringBuilder sql = new StringBuilder(SUMMARIES);
    List<Object> values = new ArrayList<>();
    equal(sql, values, "state", filter.state());
    equal(sql, values, "tenant", filter.tenant());
    equal(sql, values, "action", filter.action());
    equal(sql, values, "principal", filter.principal());
    sql.append(" and seq < ? order by seq desc limit ?");
    values.add(before);
    values.add(limit);
    return query(sql.toString(), values, OperationReader::summary);
  }

  private static void equal(
      StringBuilder sql, List<Object> values, String column, @Nullable String value) {
    if (value != null) {
      sql.append(" and ").append(column).append(" = ?");
      values.add(value);
    }
  }

  /**
   * The operations of a workflow, in the order in which they became known.
   *
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public List<OperationSummary> workflow(String tenant, String workflowId) {
    return query(
        SUMMARIES + " and tenant = ? and workflow_id = ? order by seq",
        List.of(tenant, workflowId),
        OperationReader::summary);
  }

  /**
   * Operations of one action that nobody knows the outcome of.
   *
   * @param since when the oldest of them came to be so
   */
  public record Unknowns(String tenant, String action, long count, Instant since) {}

  /**
   * What is in UNKNOWN_RECONCILIATION, by tenant and action.
   *
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public List<Unknowns> unknowns() {
    return query(
        "select tenant, coalesce(action, '') as action, count(*) as operations,"
            + " min(coalesce(state_since, known_since)) as since from ichido.operation"
            + " where state = 'UNKNOWN_RECONCILIATION' group by 1, 2",
        List.of(),
        row ->
            new Unknowns(
                row.getString("tenant"),
                row.getString("action"),
                row.getLong("operations"),
                row.getTimestamp("since").toInstant()));
  }

  /**
   * Every decision about an operation, oldest first: claims, reports, status reads, deadlines,
   * duplicates.
   *
   * @throws InboxException INBOX_UNAVAILABLE
   */
  public List<JournalLine> timeline(String tenant, String scope, String operationId) {
    return query(
        "select * from ichido.operation_event"
            + " where tenant = ? and scope = ? and operation_id = ? order by seq",
        List.of(tenant, scope, operationId),
        OperationReader::line);
  }

  private interface Reading<T> {
    T read(ResultSet row) throws SQLException;
  }

  private <T> List<T> query(String sql, List<?> values, Reading<T> reading) {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.size(); i++) {
        statement.setObject(i + 1, values.get(i));
      }
      List<T> found = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          found.add(reading.read(row));
        }
      }
      return found;
    } catch (SQLException e) {
      throw InboxException.databaseUnavailable(e);
    }
  }

  private static OperationSummary summary(ResultSet row) throws SQLException {
    return new OperationSummary(
        row.getLong("seq"),
        row.getString("tenant"),
        row.getString("scope"),
        row.getString("operation_id"),
        row.getLong("revision"),
        row.getString("state"),
        row.getInt("attempt"),
        row.getString("action"),
        row.getString("principal"),
        row.getInt("fingerprint_version"),
        row.getString("fingerprint"),
        row.getString("result_sha256"),
        row.getString("remote_reference"),
        instant(row, "first_attempt_at"),
        instant(row, "attempt_started_at"),
        instant(row, "settled_at"),
        instant(row, "lease_until"),
        instant(row, "retry_at"),
        instant(row, "reconcile_at"),
        instant(row, "retain_until"),
        instant(row, "forget_at"),
        row.getString("workflow_id"),
        row.getString("step"),
        row.getString("compensates"),
        row.getString("compensated_by"),
        row.getBoolean("alarm"),
        row.getTimestamp("known_since").toInstant(),
        instant(row, "state_since"),
        row.getTimestamp("changed_at").toInstant());
  }

  private static JournalLine line(ResultSet row) throws SQLException {
    return new JournalLine(
        row.getLong("seq"),
        row.getString("tenant"),
        row.getString("scope"),
        row.getString("operation_id"),
        row.getLong("revision"),
        row.getString("event"),
        row.getString("event_id"),
        row.getString("verdict"),
        row.getString("code"),
        row.getBoolean("alarm"),
        row.getString("state_before"),
        row.getString("state_after"),
        row.getInt("attempt"),
        row.getString("acted_by"),
        row.getString("evidence"),
        row.getString("remote_reference"),
        row.getString("other_reference"),
        row.getString("suspect_of"),
        row.getString("reported"),
        row.getObject("reported_attempt", Integer.class),
        row.getString("reason"),
        row.getTimestamp("at").toInstant());
  }

  private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
    Timestamp timestamp = row.getTimestamp(column);
    return timestamp == null ? null : timestamp.toInstant();
  }
}
