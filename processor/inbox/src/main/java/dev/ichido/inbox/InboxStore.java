package dev.ichido.inbox;

import dev.ichido.inbox.Positions.Work;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Applies replies to the tables {@code ichido.inbox_*}, and keeps how far it came with them. */
final class InboxStore {
  /**
   * One writer at a time for each database, so that rows become visible in the order of their seq.
   */
  private static final List<String> ONE_WRITER =
      List.of("select pg_advisory_xact_lock(hashtextextended('ichido.inbox', 0))");

  private static final String TELL_REPLIES =
      """
      insert into ichido.inbox_reply (tenant, scope, operation_id, delivery_id, principal, verdict, code, detail,
                                      state, attempt, revision, final, marker, remote_reference, body, body_sha256,
                                      body_bytes, result_schema, original_at, lease_until, retry_at, differing,
                                      decided_at, traceparent)
      select tenant, scope, operation_id, delivery_id, principal, verdict, code, detail, state, attempt, revision,
             final, marker, remote_reference, body, body_sha256, body_bytes, result_schema, original_at, lease_until,
             retry_at, case when differing is null then '{}' else array(select jsonb_array_elements_text(differing::jsonb)) end, decided_at, traceparent
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

  private static final String NOTIFY =
      "select pg_notify('ichido_inbox', delivery_id) from unnest(?::text[]) as n (delivery_id)";

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

  private final Positions positions;

  InboxStore(Positions positions) {
    this.positions = positions;
  }

  /**
   * What a record of the replies tells.
   *
   * @param resultHash digest of the released result, if any is released
   */
  record Told(InboxReply reply, @Nullable String resultHash) {}

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

  private record Conflict(Placed<Told> told, Known known) {
    InboxReply reply() {
      return told.row().reply();
    }
  }

  /** Applies replies in the order of their offsets. */
  Applied apply(List<Placed<Told>> received, Map<TopicPartition, Long> next) throws SQLException {
    Map<OperationName, Known> known = new HashMap<>();
    return positions.apply(
        ONE_WRITER,
        received,
        next,
        new Work<>() {
          @Override
          public void ask(Statements asking, List<Placed<Told>> all) throws SQLException {
            askKnown(asking, all, known);
          }

          @Override
          public Applied write(Statements writing, List<Placed<Told>> fresh) throws SQLException {
            return InboxStore.write(writing, fresh, received.size() - fresh.size(), known);
          }
        });
  }

  private static Applied write(
      Statements writing, List<Placed<Told>> fresh, int skipped, Map<OperationName, Known> known)
      throws SQLException {
    Map<OperationName, Told> put = new LinkedHashMap<>();
    Set<OperationName> flagged = new LinkedHashSet<>();
    List<Conflict> conflicts = new ArrayList<>();
    int lower = 0;
    for (Placed<Told> placed : fresh) {
      Told r = placed.row();
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
        conflicts.add(new Conflict(placed, k));
        known.put(name, new Known(k.revision(), k.state(), k.resultHash(), true));
        flagged.add(name);
      } else if (r.resultHash() != null && k.resultHash() == null) {
        known.put(name, new Known(k.revision(), k.state(), r.resultHash(), k.conflict()));
        put.put(name, r);
      }
    }
    List<InboxReply> replies = fresh.stream().map(p -> p.row().reply()).toList();
    insertReplies(writing, replies);
    putOperations(writing, put, known);
    flag(writing, List.copyOf(flagged));
    insertConflicts(writing, conflicts);
    return new Applied(fresh.size(), skipped, lower, conflicts.size());
  }

  private static void askKnown(
      Statements asking, List<Placed<Told>> received, Map<OperationName, Known> known)
      throws SQLException {
    List<OperationName> names =
        received.stream()
            .map(p -> p.row().reply())
            .filter(r -> r.operationId() != null)
            .map(
                r ->
                    new OperationName(
                        r.tenant(), r.scope(), Objects.requireNonNull(r.operationId())))
            .distinct()
            .toList();
    if (names.isEmpty()) {
      return;
    }
    asking.addRead(
        KNOWN,
        row ->
            known.put(
                new OperationName(row.getString(1), row.getString(2), row.getString(3)),
                new Known(row.getLong(4), row.getString(5), row.getString(6), row.getBoolean(7))),
        names(asking.connection(), names));
  }

  private static void insertReplies(Statements writing, List<InboxReply> replies)
      throws SQLException {
    if (replies.isEmpty()) {
      return;
    }
    Connection connection = writing.connection();
    writing.add(
        TELL_REPLIES,
        Columns.texts(connection, replies, InboxReply::tenant),
        Columns.texts(connection, replies, InboxReply::scope),
        Columns.texts(connection, replies, InboxReply::operationId),
        Columns.texts(connection, replies, InboxReply::deliveryId),
        Columns.texts(connection, replies, InboxReply::principal),
        Columns.texts(connection, replies, InboxReply::verdict),
        Columns.texts(connection, replies, InboxReply::code),
        Columns.texts(connection, replies, InboxReply::detail),
        Columns.texts(connection, replies, InboxReply::state),
        Columns.of(connection, "int4", replies, InboxReply::attempt),
        Columns.of(connection, "int8", replies, InboxReply::revision),
        Columns.of(connection, "bool", replies, InboxReply::isFinal),
        Columns.texts(connection, replies, InboxReply::marker),
        Columns.texts(connection, replies, InboxReply::remoteReference),
        Columns.texts(connection, replies, InboxReply::body),
        Columns.texts(connection, replies, InboxReply::bodySha256),
        Columns.of(connection, "int8", replies, InboxReply::bodyBytes),
        Columns.of(connection, "int4", replies, InboxReply::resultSchema),
        Columns.times(connection, replies, InboxReply::originalAt),
        Columns.times(connection, replies, InboxReply::leaseUntil),
        Columns.times(connection, replies, InboxReply::retryAt),
        Columns.texts(connection, replies, r -> jsonArray(r.differing())),
        Columns.times(connection, replies, InboxReply::decidedAt),
        Columns.texts(connection, replies, InboxReply::traceparent));
    List<String> deliveries = replies.stream().map(InboxReply::deliveryId).distinct().toList();
    writing.add(NOTIFY, Columns.texts(connection, deliveries, d -> d));
  }

  private static void putOperations(
      Statements writing, Map<OperationName, Told> put, Map<OperationName, Known> known)
      throws SQLException {
    if (put.isEmpty()) {
      return;
    }
    List<Told> rows = List.copyOf(put.values());
    List<OperationName> names = List.copyOf(put.keySet());
    List<Known> ends = names.stream().map(n -> Objects.requireNonNull(known.get(n))).toList();
    Connection connection = writing.connection();
    writing.add(
        PUT_OPERATIONS,
        Columns.texts(connection, names, OperationName::tenant),
        Columns.texts(connection, names, OperationName::scope),
        Columns.texts(connection, names, OperationName::operationId),
        Columns.of(connection, "int8", rows, r -> r.reply().revision()),
        Columns.texts(connection, rows, r -> r.reply().state()),
        Columns.texts(connection, rows, r -> r.reply().remoteReference()),
        Columns.texts(connection, rows, r -> r.reply().body()),
        Columns.texts(connection, rows, r -> r.reply().bodySha256()),
        Columns.of(connection, "int8", rows, r -> r.reply().bodyBytes()),
        Columns.of(connection, "int4", rows, r -> r.reply().resultSchema()),
        Columns.times(connection, rows, r -> r.reply().originalAt()),
        Columns.texts(connection, rows, Told::resultHash),
        Columns.of(connection, "bool", ends, Known::conflict));
  }

  private static void flag(Statements writing, List<OperationName> flagged) throws SQLException {
    if (!flagged.isEmpty()) {
      writing.add(FLAG, names(writing.connection(), flagged));
    }
  }

  private static void insertConflicts(Statements writing, List<Conflict> conflicts)
      throws SQLException {
    if (conflicts.isEmpty()) {
      return;
    }
    Connection connection = writing.connection();
    writing.add(
        INSERT_CONFLICTS,
        Columns.texts(connection, conflicts, c -> c.reply().tenant()),
        Columns.texts(connection, conflicts, c -> c.reply().scope()),
        Columns.texts(connection, conflicts, c -> c.reply().operationId()),
        Columns.of(connection, "int8", conflicts, c -> c.known().revision()),
        Columns.texts(connection, conflicts, c -> c.known().state()),
        Columns.texts(connection, conflicts, c -> c.known().resultHash()),
        Columns.texts(connection, conflicts, c -> c.reply().state()),
        Columns.texts(connection, conflicts, c -> c.told().row().resultHash()),
        Columns.texts(connection, conflicts, c -> c.reply().remoteReference()),
        Columns.texts(connection, conflicts, c -> c.reply().deliveryId()),
        Columns.texts(connection, conflicts, c -> c.told().partition().topic()),
        Columns.of(connection, "int4", conflicts, c -> c.told().partition().partition()),
        Columns.of(connection, "int8", conflicts, c -> c.told().offset()));
  }

  private static Array[] names(Connection connection, List<OperationName> names)
      throws SQLException {
    return new Array[] {
      Columns.texts(connection, names, OperationName::tenant),
      Columns.texts(connection, names, OperationName::scope),
      Columns.texts(connection, names, OperationName::operationId)
    };
  }

  /**
   * Arrays of arrays must have equal lengths in PostgreSQL, so a list travels as JSON text; null if
   * it is empty.
   */
  private static @Nullable String jsonArray(List<String> texts) {
    if (texts.isEmpty()) {
      return null;
    }
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
}
