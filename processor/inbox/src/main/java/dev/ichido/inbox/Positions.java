package dev.ichido.inbox;

import java.sql.Connection;
import java.sql.PreparedStatement;
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

  interface Work<R, A> {
    /** What is asked, under the lock, before anything is written. */
    default void ask(Statements asking, List<Placed<R>> received) throws SQLException {}

    /** What is to be written of records that were not applied before. */
    A write(Statements writing, List<Placed<R>> fresh) throws SQLException;
  }

  /**
   * Applies a batch and moves the positions, in one transaction. Records before the stored
   * positions are skipped, so that a batch that is handed out again, or that a paused twin still
   * holds, changes nothing.
   *
   * @param opening first statements of the transaction; they take the lock of the one writer
   * @param received in the order of their offsets
   * @param next the offset after the last record of each partition, refused records included
   */
  <R, A> A apply(
      List<String> opening,
      List<Placed<R>> received,
      Map<TopicPartition, Long> next,
      Work<R, A> work)
      throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        Map<TopicPartition, Long> stored = new HashMap<>();
        Statements asking = new Statements(connection);
        opening.forEach(asking::add);
        ask(asking, next.keySet(), stored);
        work.ask(asking, received);
        asking.execute();
        Statements writing = new Statements(connection);
        A applied =
            work.write(
                writing,
                received.stream()
                    .filter(r -> r.offset() >= stored.getOrDefault(r.partition(), 0L))
                    .toList());
        put(writing, next, stored);
        writing.execute();
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
    Map<TopicPartition, Long> offsets = new HashMap<>();
    try (Connection connection = dataSource.getConnection()) {
      Statements asking = new Statements(connection);
      ask(asking, partitions, offsets);
      asking.execute();
    }
    return offsets;
  }

  private static void ask(
      Statements asking, Collection<TopicPartition> partitions, Map<TopicPartition, Long> offsets)
      throws SQLException {
    Connection connection = asking.connection();
    List<TopicPartition> asked = List.copyOf(partitions);
    asking.addRead(
        NEXT,
        row -> offsets.put(new TopicPartition(row.getString(1), row.getInt(2)), row.getLong(3)),
        Columns.texts(connection, asked, TopicPartition::topic),
        Columns.of(connection, "int4", asked, TopicPartition::partition));
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
      Statements writing, Map<TopicPartition, Long> next, Map<TopicPartition, Long> stored)
      throws SQLException {
    List<Map.Entry<TopicPartition, Long>> moved =
        next.entrySet().stream()
            .filter(e -> e.getValue() > stored.getOrDefault(e.getKey(), -1L))
            .toList();
    if (moved.isEmpty()) {
      return;
    }
    Connection connection = writing.connection();
    writing.add(
        PUT,
        Columns.texts(connection, moved, e -> e.getKey().topic()),
        Columns.of(connection, "int4", moved, e -> e.getKey().partition()),
        Columns.of(connection, "int8", moved, Map.Entry::getValue));
  }
}
