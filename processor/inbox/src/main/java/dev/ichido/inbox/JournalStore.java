package dev.ichido.inbox;

import dev.ichido.inbox.wire.JournalMapper.Told;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/** Keeps the tables {@code ichido.operation} and {@code ichido.operation_event}. */
final class JournalStore {
  /** One writer; and a lost commit is only read again, so that nothing waits for the disk. */
  private static final List<String> OPENING =
      List.of(
          "set local synchronous_commit = off",
          "select pg_advisory_xact_lock(hashtextextended('ichido.journal', 0))");

  private static final String FORGET_OPERATIONS =
      """
      delete from ichido.operation o using unnest(?::text[], ?::text[], ?::text[]) as a (tenant, scope, operation_id)
       where o.tenant = a.tenant and o.scope = a.scope and o.operation_id = a.operation_id
      """;

  private static final String FORGET_EVENTS =
      """
      delete from ichido.operation_event o using unnest(?::text[], ?::text[], ?::text[]) as a (tenant, scope, operation_id)
       where o.tenant = a.tenant and o.scope = a.scope and o.operation_id = a.operation_id
      """;

  private static final String INSERT_EVENTS =
      """
      insert into ichido.operation_event (tenant, scope, operation_id, revision, event, event_id, verdict, code, alarm,
                                          state_before, state_after, attempt, acted_by, evidence, remote_reference,
                                          other_reference, suspect_of, reported, reported_attempt, reason, at)
      select tenant, scope, operation_id, revision, event, event_id, verdict, code, alarm, state_before, state_after,
             attempt, acted_by, evidence, remote_reference, other_reference, suspect_of, reported, reported_attempt,
             reason, at
        from unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::bool[], ?::text[], ?::text[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
                    ?::text[], ?::int[], ?::text[], ?::timestamptz[])
          with ordinality
          as e (tenant, scope, operation_id, revision, event, event_id, verdict, code, alarm, state_before,
                state_after, attempt, acted_by, evidence, remote_reference, other_reference, suspect_of, reported,
                reported_attempt, reason, at, ord)
       order by ord
      """;

  private static final String PUT_OPERATIONS =
      """
      insert into ichido.operation as o (tenant, scope, operation_id, revision, state, attempt, action, principal,
                                         fingerprint_version, fingerprint, result_sha256, remote_reference,
                                         first_attempt_at, attempt_started_at, settled_at, lease_until, retry_at,
                                         reconcile_at, retain_until, forget_at, workflow_id, step, compensates,
                                         compensated_by, alarm, known_since, state_since, changed_at)
      select * from unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::int[], ?::text[], ?::text[],
                           ?::int[], ?::text[], ?::text[], ?::text[], ?::timestamptz[], ?::timestamptz[],
                           ?::timestamptz[], ?::timestamptz[], ?::timestamptz[], ?::timestamptz[], ?::timestamptz[],
                           ?::timestamptz[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bool[],
                           ?::timestamptz[], ?::timestamptz[], ?::timestamptz[])
      on conflict (tenant, scope, operation_id) do update
         set revision = excluded.revision, state = excluded.state, attempt = excluded.attempt,
             action = excluded.action, principal = excluded.principal,
             fingerprint_version = excluded.fingerprint_version, fingerprint = excluded.fingerprint,
             result_sha256 = excluded.result_sha256, remote_reference = excluded.remote_reference,
             first_attempt_at = coalesce(excluded.first_attempt_at, o.first_attempt_at),
             attempt_started_at = coalesce(excluded.attempt_started_at, o.attempt_started_at),
             settled_at = excluded.settled_at, lease_until = excluded.lease_until, retry_at = excluded.retry_at,
             reconcile_at = excluded.reconcile_at, retain_until = excluded.retain_until,
             forget_at = excluded.forget_at, workflow_id = excluded.workflow_id, step = excluded.step,
             compensates = excluded.compensates, compensated_by = excluded.compensated_by,
             alarm = o.alarm or excluded.alarm, state_since = coalesce(excluded.state_since, o.state_since),
             changed_at = excluded.changed_at
       where o.revision <> excluded.revision or (excluded.alarm and not o.alarm)
      """;

  private final Positions positions;

  JournalStore(Positions positions) {
    this.positions = positions;
  }

  private record Name(String tenant, String scope, String operationId) {
    static Name of(JournalLine line) {
      return new Name(line.tenant(), line.scope(), line.operationId());
    }
  }

  /** Applies lines in their order. */
  int apply(List<Placed<Told>> received, Map<TopicPartition, Long> next) throws SQLException {
    return positions.apply(
        OPENING,
        received,
        next,
        (writing, fresh) -> {
          write(writing, fresh.stream().map(Placed::row).toList());
          return fresh.size();
        });
  }

  private static void write(Statements writing, List<Told> lines) throws SQLException {
    Set<Name> forgotten = new LinkedHashSet<>();
    Map<Name, List<JournalLine>> events = new LinkedHashMap<>();
    Map<Name, OperationSummary> operations = new LinkedHashMap<>();
    for (Told told : lines) {
      Name name = Name.of(told.line());
      if (told.forgets()) {
        forgotten.add(name);
        events.remove(name);
        operations.remove(name);
        continue;
      }
      events.computeIfAbsent(name, n -> new ArrayList<>()).add(told.line());
      if (told.after() != null) {
        operations.merge(name, told.after(), JournalStore::later);
      }
    }
    forget(writing, List.copyOf(forgotten));
    insert(writing, events.values().stream().flatMap(List::stream).toList());
    put(writing, List.copyOf(operations.values()));
  }

  /** Two lines of one batch as one. */
  private static OperationSummary later(OperationSummary before, OperationSummary after) {
    Instant stateSince = after.stateSince() == null ? before.stateSince() : after.stateSince();
    boolean changed = after.revision() != before.revision();
    return new OperationSummary(
        0,
        after.tenant(),
        after.scope(),
        after.operationId(),
        after.revision(),
        after.state(),
        after.attempt(),
        after.action(),
        after.principal(),
        after.fingerprintVersion(),
        after.fingerprint(),
        after.resultSha256(),
        after.remoteReference(),
        after.firstAttemptAt() == null ? before.firstAttemptAt() : after.firstAttemptAt(),
        after.attemptStartedAt() == null ? before.attemptStartedAt() : after.attemptStartedAt(),
        after.settledAt(),
        after.leaseUntil(),
        after.retryAt(),
        after.reconcileAt(),
        after.retainUntil(),
        after.forgetAt(),
        after.workflowId(),
        after.step(),
        after.compensates(),
        after.compensatedBy(),
        before.alarm() || after.alarm(),
        before.knownSince(),
        stateSince,
        changed ? after.changedAt() : before.changedAt());
  }

  private static void forget(Statements writing, List<Name> names) throws SQLException {
    if (names.isEmpty()) {
      return;
    }
    Connection connection = writing.connection();
    for (String sql : List.of(FORGET_OPERATIONS, FORGET_EVENTS)) {
      writing.add(
          sql,
          Columns.texts(connection, names, Name::tenant),
          Columns.texts(connection, names, Name::scope),
          Columns.texts(connection, names, Name::operationId));
    }
  }

  private static void insert(Statements writing, List<JournalLine> lines) throws SQLException {
    if (lines.isEmpty()) {
      return;
    }
    Connection connection = writing.connection();
    writing.add(
        INSERT_EVENTS,
        Columns.texts(connection, lines, JournalLine::tenant),
        Columns.texts(connection, lines, JournalLine::scope),
        Columns.texts(connection, lines, JournalLine::operationId),
        Columns.of(connection, "int8", lines, JournalLine::revision),
        Columns.texts(connection, lines, JournalLine::event),
        Columns.texts(connection, lines, JournalLine::eventId),
        Columns.texts(connection, lines, JournalLine::verdict),
        Columns.texts(connection, lines, JournalLine::code),
        Columns.of(connection, "bool", lines, JournalLine::alarm),
        Columns.texts(connection, lines, JournalLine::stateBefore),
        Columns.texts(connection, lines, JournalLine::stateAfter),
        Columns.of(connection, "int4", lines, JournalLine::attempt),
        Columns.texts(connection, lines, JournalLine::by),
        Columns.texts(connection, lines, JournalLine::evidence),
        Columns.texts(connection, lines, JournalLine::remoteReference),
        Columns.texts(connection, lines, JournalLine::otherReference),
        Columns.texts(connection, lines, JournalLine::suspectOf),
        Columns.texts(connection, lines, JournalLine::reported),
        Columns.of(connection, "int4", lines, JournalLine::reportedAttempt),
        Columns.texts(connection, lines, JournalLine::reason),
        Columns.times(connection, lines, JournalLine::at));
  }

  private static void put(Statements writing, List<OperationSummary> operations)
      throws SQLException {
    if (operations.isEmpty()) {
      return;
    }
    Connection connection = writing.connection();
    writing.add(
        PUT_OPERATIONS,
        Columns.texts(connection, operations, OperationSummary::tenant),
        Columns.texts(connection, operations, OperationSummary::scope),
        Columns.texts(connection, operations, OperationSummary::operationId),
        Columns.of(connection, "int8", operations, OperationSummary::revision),
        Columns.texts(connection, operations, OperationSummary::state),
        Columns.of(connection, "int4", operations, OperationSummary::attempt),
        Columns.texts(connection, operations, OperationSummary::action),
        Columns.texts(connection, operations, OperationSummary::principal),
        Columns.of(connection, "int4", operations, OperationSummary::fingerprintVersion),
        Columns.texts(connection, operations, OperationSummary::fingerprint),
        Columns.texts(connection, operations, OperationSummary::resultSha256),
        Columns.texts(connection, operations, OperationSummary::remoteReference),
        Columns.times(connection, operations, OperationSummary::firstAttemptAt),
        Columns.times(connection, operations, OperationSummary::attemptStartedAt),
        Columns.times(connection, operations, OperationSummary::settledAt),
        Columns.times(connection, operations, OperationSummary::leaseUntil),
        Columns.times(connection, operations, OperationSummary::retryAt),
        Columns.times(connection, operations, OperationSummary::reconcileAt),
        Columns.times(connection, operations, OperationSummary::retainUntil),
        Columns.times(connection, operations, OperationSummary::forgetAt),
        Columns.texts(connection, operations, OperationSummary::workflowId),
        Columns.texts(connection, operations, OperationSummary::step),
        Columns.texts(connection, operations, OperationSummary::compensates),
        Columns.texts(connection, operations, OperationSummary::compensatedBy),
        Columns.of(connection, "bool", operations, OperationSummary::alarm),
        Columns.times(connection, operations, OperationSummary::knownSince),
        Columns.times(connection, operations, OperationSummary::stateSince),
        Columns.times(connection, operations, OperationSummary::changedAt));
  }
}
