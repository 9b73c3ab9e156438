package dev.ichido.inbox;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.kafka.common.TopicPartition;

/**
 * How far each partition was read, kept in the transactions that apply what lies before. That is
 * what makes every record count once, whatever the broker hands out again.
 */
final class Positions {
  private static final String NEXT =
      """
      select o.topic, o.partition, o.next_offset from ichido.inbox_offset o
        join unnest(?::text[], ?::int[]) as a (topic, partition) on o.topic = a.topic and o.partition = a.partition
      """;

  private static final String PUT =
      """
      insert into ichido.inbox_offset (topic, partition, next_offset)
      select * from unnest(?::text[], ?::int[], ?::bigint[])
      on conflict (topic, partition) do update set next_offset = excluded.next_offset, updated_at = now()
      """;

  private final DataSource dataSource;

  Positions(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** What is to be written of records that were not applied before. */
  interface Work<R, A> {
    A apply(Connection connection, List<Placed<R>> fresh) throws SQLException;
  }

  /**
   * Applies a batch and moves the positions, in one transaction. Records before the stored
   * positions are skipped, so that a batch that is handed out again, or that a paused twin still
   * holds, changes nothing.
   *
   * @param opening first statements of the transaction, each with its semicolon; they take the lock
   *     of the one writer
   * @param received in the order of their offsets
   * @param next the offset after the last record of each partition, refused records included
   */
  <R, A> A apply(
      String opening, List<Placed<R>> received, Map<TopicPartition, Long> next, Work<R, A> work)
      throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        Map<TopicPartition, Long> stored = next(connection, opening, List.copyOf(next.keySet()));
        A applied =
            work.apply(
                connection,
                received.stream()
                    .filter(r -> r.offset() >= stored.getOrDefault(r.partition(), 0L))
                    .toList());
        put(connection, next, stored);
        connection.commit();
        return applied;
      } catch (SQLException | RuntimeException e) {
        connection.rollback();
        throw e;
      } finally {
        connection.setAutoCommit(true);
      }
    }
  }

  /** Where to go on, for those partitions that were ever read. */
  Map<TopicPartition, Long> next(Collection<TopicPartition> partitions) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      return next(connection, "", List.copyOf(partitions));
    }
  }

  /**
   * After other statements, in one round trip. Each has a snapshot of its own, so what is read here
   * is as it was after the opening had its lock.
   */
  private static Map<TopicPartition, Long> next(
      Connection connection, String opening, List<TopicPartition> partitions) throws SQLException {
    Map<TopicPartition, Long> offsets = new HashMap<>();
    try (PreparedStatement statement = connection.prepareStatement(opening + NEXT)) {
      statement.setArray(1, Columns.texts(connection, partitions, TopicPartition::topic));
      statement.setArray(2, Columns.of(connection, "int4", partitions, TopicPartition::partition));
      boolean rows = statement.execute();
      while (rows || statement.getUpdateCount() >= 0) {
        if (rows) {
          read(statement.getResultSet(), offsets);
        }
        rows = statement.getMoreResults();
      }
    }
    return offsets;
  }

  /** The opening's own results have one column. */
  private static void read(ResultSet rows, Map<TopicPartition, Long> offsets) throws SQLException {
    while (rows.getMetaData().getColumnCount() == 3 && rows.next()) {
      offsets.put(new TopicPartition(rows.getString(1), rows.getInt(2)), rows.getLong(3));
    }
  }

  /** Forgets how far a partition was read: its topic is another one now. */
  void forget(Collection<TopicPartition> partitions) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                "delete from ichido.inbox_offset where topic = ? and partition = ?")) {
      for (TopicPartition partition : partitions) {
        statement.setString(1, partition.topic());
        statement.setInt(2, partition.partition());
        statement.executeUpdate();
      }
    }
  }

  private static void put(
      Connection connection, Map<TopicPartition, Long> next, Map<TopicPartition, Long> stored)
      throws SQLException {
    List<Map.Entry<TopicPartition, Long>> moved =
        next.entrySet().stream()
            .filter(e -> e.getValue() > stored.getOrDefault(e.getKey(), -1L))
            .toList();
    if (moved.isEmpty()) {
      return;
    }
    try (PreparedStatement s = connection.prepareStatement(PUT)) {
      s.setArray(1, Columns.texts(connection, moved, e -> e.getKey().topic()));
      s.setArray(2, Columns.of(connection, "int4", moved, e -> e.getKey().partition()));
      s.setArray(3, Columns.of(connection, "int8", moved, Map.Entry::getValue));
      s.executeUpdate();
    }
  }
}
