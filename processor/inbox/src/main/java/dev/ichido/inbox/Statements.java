package dev.ichido.inbox;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Statements that go to the server in one round trip. Each has a snapshot of its own, so it sees
 * what those before it did or waited for.
 */
final class Statements {
  private final Connection connection;
  private final List<String> texts = new ArrayList<>();
  private final List<Array> values = new ArrayList<>();
  private final List<@Nullable Reader> readers = new ArrayList<>();

  Statements(Connection connection) {
    this.connection = connection;
  }

  interface Reader {
    void read(ResultSet rows) throws SQLException;
  }

  /** For the arrays that are added. */
  Connection connection() {
    return connection;
  }

  void add(String sql, Array... arrays) {
    addRead(sql, null, arrays);
  }

  /** One whose rows are read, each by one call. */
  void addRead(String sql, @Nullable Reader each, Array... arrays) {
    texts.add(sql);
    values.addAll(List.of(arrays));
    readers.add(each);
  }

  void execute() throws SQLException {
    if (texts.isEmpty()) {
      return;
    }
    try (PreparedStatement statement = connection.prepareStatement(String.join(";\n", texts))) {
      for (int i = 0; i < values.size(); i++) {
        statement.setArray(i + 1, values.get(i));
      }
      boolean rows = statement.execute();
      for (Reader each : readers) {
        if (each != null && rows) {
          ResultSet found = statement.getResultSet();
          while (found.next()) {
            each.read(found);
          }
        }
        rows = statement.getMoreResults();
      }
    }
  }
}
