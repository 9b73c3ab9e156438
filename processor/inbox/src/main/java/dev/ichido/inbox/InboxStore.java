package dev.ichido.inbox;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import javax.sql.DataSource;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Applies replies to the tables {@code ichido.inbox_*}, and keeps how far it came with them. */
final class InboxStore {
  /**
   * One writer at a time for each database, so that rows become visible in the order of their seq.
   */
  private static final String ONE_WRITER =
      "select pg_advisory_xact_lock(hashtextextended('ichido.inbox', 0))";

  private static final String OFFSETS =
      """
      select o.topic, o.partition, o.next_offset from ichido.inbox_offset o
        join unnest(?::text[], ?::int[]) as a (topic, partition) on o.topic = a.topic and o.partition = a.partition
      """;

  private static final String INSERT_REPLIES =
      """
      insert into ichido.inbox_reply (tenant, scope, operation_id, delivery_id, principal, verdict, code, detail,
                                      state, attempt, revision, final, marker, remote_reference, body, body_sha256,
                                      body_bytes, result_schema, original_at, lease_until, retry_at, differing,
                                      decided_at, traceparent)
      select tenant, scope, operation_id, delivery_id, principal, verdict, code, detail, state, attempt, revision,
             final, marker, remote_reference, body, body_sha256, body_bytes, result_schema, original_at, lease_until,
             retry_at, array(select jsonb_array_elements_text(differing::jsonb)), decided_at, traceparent
        from unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::int[], ?::bigint[], ?::bool[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[],
                    ?::int[], ?::timestamptz[], ?::timestamptz[], ?::timestamptz[], ?::text[], ?::timestamptz[],
                    ?::text[])
          with ordinality
          as r (tenant, scope, operation_id, delivery_id, principal, verdict, code, detail, state, attempt, revision,
                final, marker, remote_reference, body, body_sha256, body_bytes, result_schema, original_at,
                lease_until, retry_at, differing, decided_at, traceparent, ord)
       order by ord
      on conflict do nothing
      """;

  private static final String KNOWN =
      """
      select o.tenant, o.scope, o.operation_id, o.revision, o.state, o.result_hash, o.conflict
        from ichido.inbox_operation o
        join unnest(?::text[], ?::text[], ?::text[]) as a (tenant, scope, operation_id)
          on o.tenant = a.tenant and o.scope = a.scope and o.operation_id = a.operation_id
         for update of o
      """;

  private static final String PUT_OPERATIONS =
      """
      insert into ichido.inbox_operation (tenant, scope, operation_id, revision, state, remote_reference, body,
                                          body_sha256, body_bytes, result_schema, original_at, result_hash, conflict)
      select * from unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
                           ?::bigint[], ?::int[], ?::timestamptz[], ?::text[], ?::bool[])
      on conflict (tenant, scope, operation_id) do update
         set revision = excluded.revision, state = excluded.state, remote_reference = excluded.remote_reference,
             body = excluded.body, body_sha256 = excluded.body_sha256, body_bytes = excluded.body_bytes,
             result_schema = excluded.result_schema, original_at = excluded.original_at,
             result_hash = excluded.result_hash, conflict = excluded.conflict, updated_at = now()
      """;

  private static final String FLAG =
      """
      update ichido.inbox_operation o set conflict = true, updated_at = now()
        from unnest(?::text[], ?::text[], ?::text[]) as a (tenant, scope, operation_id)
       where o.tenant = a.tenant and o.scope = a.scope and o.operation_id = a.operation_id
      """;

  private static final String INSERT_CONFLICTS =
      """
      insert into ichido.inbox_conflict (tenant, scope, operation_id, revision, known_state, known_hash, told_state,
                                         told_hash, told_reference, delivery_id, source_topic, source_partition,
                                         source_offset)
      select * from unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
                           ?::text[], ?::text[], ?::text[], ?::int[], ?::bigint[])
      on conflict do nothing
      """;

  private static final String PUT_OFFSETS =
      """
      insert into ichido.inbox_offset (topic, partition, next_offset)
      select * from unnest(?::text[], ?::int[], ?::bigint[])
      on conflict (topic, partition) do update set next_offset = excluded.next_offset, updated_at = now()
      """;

  private static final String NOTIFY =
      "select pg_notify('ichido_inbox', delivery_id) from unnest(?::text[]) as n (delivery_id)";

  private final DataSource dataSource;

  InboxStore(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /**
   * A reply with its place.
   *
   * @param resultHash digest of the released result, if any is released
   */
  record Received(
      TopicPartition partition, long offset, InboxReply reply, @Nullable String resultHash) {}

  /**
   * What came of a batch.
   *
   * @param skipped records that had been applied before
   * @param lower replies with a lower revision than the one known
   * @param conflicts other truths under a known revision
   */
  record Applied(int applied, int skipped, int lower, int conflicts) {}

  private record OperationName(String tenant, String scope, String operationId) {}

  private record Known(
      long revision, String state, @Nullable String resultHash, boolean conflict) {}

  private record Conflict(Received told, Known known) {}

  /** Where to go on, for those partitions that were ever read. */
  Map<TopicPartition, Long> nextOffsets(Collection<TopicPartition> partitions) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      return nextOffsets(connection, List.copyOf(partitions));
    }
  }

  private static Map<TopicPartition, Long> nextOffsets(
      Connection connection, List<TopicPartition> partitions) throws SQLException {
    Map<TopicPartition, Long> offsets = new HashMap<>();
    try (PreparedStatement statement = connection.prepareStatement(OFFSETS)) {
      statement.setArray(1, texts(connection, partitions, TopicPartition::topic));
      statement.setArray(2, array(connection, "int4", partitions, TopicPartition::partition));
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          offsets.put(new TopicPartition(rows.getString(1), rows.getInt(2)), rows.getLong(3));
        }
      }
    }
    return offsets;
  }

  /** Forgets how far a partition was read: its topic is another one now. */
  void forgetOffsets(Collection<TopicPartition> partitions) throws SQLException {
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

  /**
   * Applies a batch and moves the offsets, in one transaction. Records before the stored offsets
   * are skipped, so that a batch that is handed out again, or that a paused twin still holds,
   * changes nothing.
   *
   * @param received in the order of their offsets
   * @param next the offset after the last record of each partition, refused records included
   */
  Applied apply(List<Received> received, Map<TopicPartition, Long> next) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        Applied applied = apply(connection, received, next);
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

  private static Applied apply(
      Connection connection, List<Received> received, Map<TopicPartition, Long> next)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(ONE_WRITER)) {
      statement.execute();
    }
    Map<TopicPartition, Long> stored = nextOffsets(connection, List.copyOf(next.keySet()));
    List<Received> fresh =
        received.stream()
            .filter(r -> r.offset() >= stored.getOrDefault(r.partition(), 0L))
            .toList();
    Map<OperationName, Known> known = known(connection, fresh);
    Map<OperationName, Received> put = new LinkedHashMap<>();
    Set<OperationName> flagged = new LinkedHashSet<>();
    List<Conflict> conflicts = new ArrayList<>();
    int lower = 0;
    for (Received r : fresh) {
      InboxReply reply = r.reply();
      // A refusal tells nothing about the operation.
      if (reply.operationId() == null || reply.state() == null || reply.revision() < 1) {
        continue;
      }
      OperationName name = new OperationName(reply.tenant(), reply.scope(), reply.operationId());
      Known k = known.get(name);
      if (k != null && reply.revision() < k.revision()) {
        lower++;
      } else if (k == null || reply.revision() > k.revision()) {
        boolean conflict = k != null && k.conflict();
        known.put(name, new Known(reply.revision(), reply.state(), r.resultHash(), conflict));
        put.put(name, r);
      } else if (!reply.state().equals(k.state())
          || (r.resultHash() != null
              && k.resultHash() != null
              && !r.resultHash().equals(k.resultHash()))) {
        conflicts.add(new Conflict(r, k));
        known.put(name, new Known(k.revision(), k.state(), k.resultHash(), true));
        flagged.add(name);
      } else if (r.resultHash() != null && k.resultHash() == null) {
        known.put(name, new Known(k.revision(), k.state(), r.resultHash(), k.conflict()));
        put.put(name, r);
      }
    }
    insertReplies(connection, fresh.stream().map(Received::reply).toList());
    putOperations(connection, put, known);
    flag(connection, List.copyOf(flagged));
    insertConflicts(connection, conflicts);
    putOffsets(connection, next, stored);
    notify(connection, fresh);
    return new Applied(fresh.size(), received.size() - fresh.size(), lower, conflicts.size());
  }

  private static Map<OperationName, Known> known(Connection connection, List<Received> fresh)
      throws SQLException {
    Map<OperationName, Known> known = new HashMap<>();
    List<OperationName> names =
        fresh.stream()
            .map(Received::reply)
            .filter(r -> r.operationId() != null)
            .map(
                r ->
                    new OperationName(
                        r.tenant(), r.scope(), Objects.requireNonNull(r.operationId())))
            .distinct()
            .toList();
    if (names.isEmpty()) {
      return known;
    }
    try (PreparedStatement statement = connection.prepareStatement(KNOWN)) {
      setNames(connection, statement, names);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          known.put(
              new OperationName(rows.getString(1), rows.getString(2), rows.getString(3)),
              new Known(rows.getLong(4), rows.getString(5), rows.getString(6), rows.getBoolean(7)));
        }
      }
    }
    return known;
  }

  private static void insertReplies(Connection connection, List<InboxReply> replies)
      throws SQLException {
    if (replies.isEmpty()) {
      return;
    }
    try (PreparedStatement s = connection.prepareStatement(INSERT_REPLIES)) {
      int i = 1;
      s.setArray(i++, texts(connection, replies, InboxReply::tenant));
      s.setArray(i++, texts(connection, replies, InboxReply::scope));
      s.setArray(i++, texts(connection, replies, InboxReply::operationId));
      s.setArray(i++, texts(connection, replies, InboxReply::deliveryId));
      s.setArray(i++, texts(connection, replies, InboxReply::principal));
      s.setArray(i++, texts(connection, replies, InboxReply::verdict));
      s.setArray(i++, texts(connection, replies, InboxReply::code));
      s.setArray(i++, texts(connection, replies, InboxReply::detail));
      s.setArray(i++, texts(connection, replies, InboxReply::state));
      s.setArray(i++, array(connection, "int4", replies, InboxReply::attempt));
      s.setArray(i++, array(connection, "int8", replies, InboxReply::revision));
      s.setArray(i++, array(connection, "bool", replies, InboxReply::isFinal));
      s.setArray(i++, texts(connection, replies, InboxReply::marker));
      s.setArray(i++, texts(connection, replies, InboxReply::remoteReference));
      s.setArray(i++, texts(connection, replies, InboxReply::body));
      s.setArray(i++, texts(connection, replies, InboxReply::bodySha256));
      s.setArray(i++, array(connection, "int8", replies, InboxReply::bodyBytes));
      s.setArray(i++, array(connection, "int4", replies, InboxReply::resultSchema));
      s.setArray(i++, times(connection, replies, InboxReply::originalAt));
      s.setArray(i++, times(connection, replies, InboxReply::leaseUntil));
      s.setArray(i++, times(connection, replies, InboxReply::retryAt));
      s.setArray(i++, texts(connection, replies, r -> jsonArray(r.differing())));
      s.setArray(i++, times(connection, replies, InboxReply::decidedAt));
      s.setArray(i, texts(connection, replies, InboxReply::traceparent));
      s.executeUpdate();
    }
  }

  private static void putOperations(
      Connection connection, Map<OperationName, Received> put, Map<OperationName, Known> known)
      throws SQLException {
    if (put.isEmpty()) {
      return;
    }
    List<Received> rows = List.copyOf(put.values());
    List<OperationName> names = List.copyOf(put.keySet());
    List<Known> ends = names.stream().map(n -> Objects.requireNonNull(known.get(n))).toList();
    try (PreparedStatement s = connection.prepareStatement(PUT_OPERATIONS)) {
      setNames(connection, s, names);
      s.setArray(4, array(connection, "int8", rows, r -> r.reply().revision()));
      s.setArray(5, texts(connection, rows, r -> r.reply().state()));
      s.setArray(6, texts(connection, rows, r -> r.reply().remoteReference()));
      s.setArray(7, texts(connection, rows, r -> r.reply().body()));
      s.setArray(8, texts(connection, rows, r -> r.reply().bodySha256()));
      s.setArray(9, array(connection, "int8", rows, r -> r.reply().bodyBytes()));
      s.setArray(10, array(connection, "int4", rows, r -> r.reply().resultSchema()));
      s.setArray(11, times(connection, rows, r -> r.reply().originalAt()));
      s.setArray(12, texts(connection, rows, Received::resultHash));
      s.setArray(13, array(connection, "bool", ends, Known::conflict));
      s.executeUpdate();
    }
  }

  private static void flag(Connection connection, List<OperationName> flagged) throws SQLException {
    if (flagged.isEmpty()) {
      return;
    }
    try (PreparedStatement s = connection.prepareStatement(FLAG)) {
      setNames(connection, s, flagged);
      s.executeUpdate();
    }
  }

  private static void insertConflicts(Connection connection, List<Conflict> conflicts)
      throws SQLException {
    if (conflicts.isEmpty()) {
      return;
    }
    try (PreparedStatement s = connection.prepareStatement(INSERT_CONFLICTS)) {
      s.setArray(1, texts(connection, conflicts, c -> c.told().reply().tenant()));
      s.setArray(2, texts(connection, conflicts, c -> c.told().reply().scope()));
      s.setArray(3, texts(connection, conflicts, c -> c.told().reply().operationId()));
      s.setArray(4, array(connection, "int8", conflicts, c -> c.known().revision()));
      s.setArray(5, texts(connection, conflicts, c -> c.known().state()));
      s.setArray(6, texts(connection, conflicts, c -> c.known().resultHash()));
      s.setArray(7, texts(connection, conflicts, c -> c.told().reply().state()));
      s.setArray(8, texts(connection, conflicts, c -> c.told().resultHash()));
      s.setArray(9, texts(connection, conflicts, c -> c.told().reply().remoteReference()));
      s.setArray(10, texts(connection, conflicts, c -> c.told().reply().deliveryId()));
      s.setArray(11, texts(connection, conflicts, c -> c.told().partition().topic()));
      s.setArray(12, array(connection, "int4", conflicts, c -> c.told().partition().partition()));
      s.setArray(13, array(connection, "int8", conflicts, c -> c.told().offset()));
      s.executeUpdate();
    }
  }

  private static void putOffsets(
      Connection connection, Map<TopicPartition, Long> next, Map<TopicPartition, Long> stored)
      throws SQLException {
    List<Map.Entry<TopicPartition, Long>> moved =
        next.entrySet().stream()
            .filter(e -> e.getValue() > stored.getOrDefault(e.getKey(), -1L))
            .toList();
    if (moved.isEmpty()) {
      return;
    }
    try (PreparedStatement s = connection.prepareStatement(PUT_OFFSETS)) {
      s.setArray(1, texts(connection, moved, e -> e.getKey().topic()));
      s.setArray(2, array(connection, "int4", moved, e -> e.getKey().partition()));
      s.setArray(3, array(connection, "int8", moved, Map.Entry::getValue));
      s.executeUpdate();
    }
  }

  private static void notify(Connection connection, List<Received> fresh) throws SQLException {
    if (fresh.isEmpty()) {
      return;
    }
    List<String> deliveries = fresh.stream().map(r -> r.reply().deliveryId()).distinct().toList();
    try (PreparedStatement s = connection.prepareStatement(NOTIFY)) {
      s.setArray(1, texts(connection, deliveries, d -> d));
      s.execute();
    }
  }

  private static void setNames(
      Connection connection, PreparedStatement statement, List<OperationName> names)
      throws SQLException {
    statement.setArray(1, texts(connection, names, OperationName::tenant));
    statement.setArray(2, texts(connection, names, OperationName::scope));
    statement.setArray(3, texts(connection, names, OperationName::operationId));
  }

  /** Arrays of arrays must have equal lengths in PostgreSQL, so a list travels as JSON text. */
  private static String jsonArray(List<String> texts) {
    StringBuilder json = new StringBuilder("[");
    for (String text : texts) {
      json.append(json.length() == 1 ? "\"" : ",\"");
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c == '"' || c == '\\' || c < ' ') {
          json.append(String.format("\\u%04x", (int) c));
        } else {
          json.append(c);
        }
      }
      json.append('"');
    }
    return json.append(']').toString();
  }

  private static <T> Array texts(
      Connection connection, List<T> rows, Function<T, @Nullable String> column)
      throws SQLException {
    return array(connection, "text", rows, column::apply);
  }

  private static <T> Array times(
      Connection connection, List<T> rows, Function<T, @Nullable Instant> column)
      throws SQLException {
    return array(
        connection,
        "timestamptz",
        rows,
        row -> {
          Instant instant = column.apply(row);
          return instant == null ? null : Timestamp.from(instant);
        });
  }

  private static <T> Array array(
      Connection connection, String type, List<T> rows, Function<T, @Nullable Object> column)
      throws SQLException {
    @Nullable Object[] values = new Object[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.apply(rows.get(i));
    }
    return connection.createArrayOf(type, values);
  }
}
