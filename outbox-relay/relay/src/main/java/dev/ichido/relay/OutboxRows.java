package dev.ichido.relay;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rows as the table has them, in the order of their commits where the server keeps their times
 * ({@code track_commit_timestamp}). Where it does not, in that of the transactions' ids: then two
 * transactions may change places that overlapped, never two of which one had ended before the other
 * wrote.
 */
final class OutboxRows {
  private OutboxRows() {}

  /** Takes one row. */
  interface Taker {
    void take(RoutedRow row) throws InterruptedException;
  }

  /**
   * A statement for {@link #read}.
   *
   * @param condition on {@code o}
   */
  static String select(Connection connection, String condition) throws SQLException {
    boolean timed = OutboxSource.text(connection, "show track_commit_timestamp").equals("on");
    return "select o.*"
        + (timed
            ? ", (extract(epoch from pg_xact_commit_timestamp(o.xmin)) * 1000)::bigint"
            : ", null::bigint")
        + " from ichido.outbox o where "
        + condition
        + " order by "
        // Those without a time are older than the setting.
        + (timed ? "pg_xact_commit_timestamp(o.xmin) nulls first, " : "")
        + "o.transaction_id, o.cmin::text::bigint, o.ctid";
  }

  static void read(ResultSet rows, ChangeRouter router, Taker taker)
      throws SQLException, InterruptedException {
    ResultSetMetaData names = rows.getMetaData();
    int columns = names.getColumnCount() - 1;
    while (rows.next()) {
      Map<String, @Nullable Object> row = new LinkedHashMap<>();
      for (int i = 1; i <= columns; i++) {
        row.put(names.getColumnName(i), rows.getObject(i));
      }
      taker.take(router.route(row, -1, rows.getLong(columns + 1)));
    }
  }
}
