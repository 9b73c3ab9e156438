package dev.ichido.inbox;

import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Columns of a batch as arrays, so that one statement writes all of its rows. */
final class Columns {
  private Columns() {}

  static <T> Array texts(Connection connection, List<T> rows, Function<T, @Nullable String> column)
      throws SQLException {
    // The driver sends an array of strings in binary form, one of objects as text.
    @Nullable String[] values = new String[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.apply(rows.get(i));
    }
    return connection.createArrayOf("text", values);
  }

  static <T> Array times(Connection connection, List<T> rows, Function<T, @Nullable Instant> column)
      throws SQLException {
    return of(
        connection,
        "timestamptz",
        rows,
        row -> {
          Instant instant = column.apply(row);
          return instant == null ? null : Timestamp.from(instant);
        });
  }

  static <T> Array of(
      Connection connection, String type, List<T> rows, Function<T, @Nullable Object> column)
      throws SQLException {
    @Nullable Object[] values = new Object[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.apply(rows.get(i));
    }
    return connection.createArrayOf(type, values);
  }
}
