package dev.ichido.executor.claim;

import dev.ichido.executor.Report;
import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.ResultBody;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Claims in {@code ichido.claim}. The primary key (record_key, attempt) is the whole protocol: it
 * decides between two executors, and between an executor and a revocation.
 */
public final class ClaimStore {
  private static final String RESULT_COLUMNS =
      "result_id, outcome, reason, remote_reference, remote_status, remote_calls, retry_after_ms,"
          + " result_schema, body, body_sha256, body_bytes, recorded_at";

  /* The last select is not run where all were taken. It has the snapshot of the statement, so it
  sees neither the rows of its own insert (they are told by RETURNING) nor a row that another
  transaction committed meanwhile. */
  private static final String TAKE =
      """
      with asked as (
        select * from unnest(?::text[], ?::int[], ?::text[], ?::text[], ?::timestamptz[], ?::text[], ?::text[],
                             ?::text[])
          as t (record_key, attempt, command_id, action, deadline, result_id, outcome, reason)
      ), taken as (
        insert into ichido.claim (record_key, attempt, kind, command_id, action, owner, started_at, deadline,
                                  result_id, outcome, reason, remote_calls, recorded_at)
        select record_key, attempt, case when result_id is null then 'CLAIM' else 'REVOCATION' end, command_id,
               action, ?, ?, deadline, result_id, outcome, reason, case when result_id is null then null else 0 end,
               case when result_id is null then null else ?::timestamptz end
        from asked order by record_key, attempt
        on conflict do nothing
        returning record_key, attempt, owner, %s
      )
      select true as won, t.* from taken t
      union all
      select false, c.record_key, c.attempt, c.owner, %s
        from asked a
        join ichido.claim c on c.record_key = a.record_key and c.attempt = a.attempt
       where (select count(*) from taken) < (select count(*) from asked)
      """
          .formatted(RESULT_COLUMNS, prefixed("c."));

  private static final String FIND =
      "select c.owner, "
          + prefixed("c.")
          + " from ichido.claim c where c.record_key = ? and c.attempt = ?";

  private static final String RECORD =
      """
      update ichido.claim c
         set result_id = r.result_id, outcome = r.outcome, reason = r.reason,
             remote_reference = r.remote_reference, remote_status = r.remote_status,
             remote_calls = r.remote_calls, retry_after_ms = r.retry_after_ms, result_schema = r.result_schema,
             body = r.body, body_sha256 = r.body_sha256, body_bytes = r.body_bytes, recorded_at = r.recorded_at,
             kept_at = now()
        from unnest(?::text[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::int[], ?::int[], ?::bigint[],
                    ?::int[], ?::text[], ?::text[], ?::bigint[], ?::timestamptz[])
          as r (record_key, attempt, result_id, outcome, reason, remote_reference, remote_status, remote_calls,
                retry_after_ms, result_schema, body, body_sha256, body_bytes, recorded_at)
       where c.record_key = r.record_key and c.attempt = r.attempt and c.recorded_at is null
      """;

  private static final String KEEP_BODIES =
      """
      insert into ichido.result_body (sha256, bytes, body) values (?, ?, ?)
        on conflict (sha256) do update set stored_at = excluded.stored_at
      """;

  private final DataSource dataSource;
  private final String owner;

  private record Attempt(String recordKey, int attempt) {}

  /**
   * Claims under this name.
   *
   * @param owner the executor and its life, so that a claim of an earlier life can be told
   */
  public ClaimStore(DataSource dataSource, String owner) {
    this.dataSource = dataSource;
    this.owner = owner;
  }

  private static String prefixed(String prefix) {
    return prefix + RESULT_COLUMNS.replace(", ", ", " + prefix);
  }

  /**
   * Takes attempts, in one round trip. Answers come in the order of the requests.
   *
   * @param requests at most one for a (record key, attempt)
   * @throws SQLException when nothing was taken, or it can't be known; asking again is safe, and a
   *     row that was taken after all is answered as {@link ClaimAnswer.Open} under our own name
   */
  public List<ClaimAnswer> take(List<ClaimRequest> requests, Instant now) throws SQLException {
    if (requests.isEmpty()) {
      return List.of();
    }
    Map<Attempt, Integer> places = new HashMap<>();
    for (ClaimRequest request : requests) {
      Attempt attempt = new Attempt(request.recordKey(), request.attempt());
      if (places.putIfAbsent(attempt, places.size()) != null) {
        throw new IllegalArgumentException(
            "Expected one request for an attempt, but there are two. Order them by key.");
      }
    }
    @Nullable ClaimAnswer[] answers = new ClaimAnswer[requests.size()];
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement = connection.prepareStatement(TAKE)) {
      connection.setAutoCommit(true);
      statement.setArray(1, texts(connection, requests, ClaimRequest::recordKey));
      statement.setArray(2, array(connection, "int4", requests, ClaimRequest::attempt));
      statement.setArray(3, texts(connection, requests, ClaimRequest::commandId));
      statement.setArray(4, texts(connection, requests, ClaimRequest::action));
      statement.setArray(
          5, array(connection, "timestamptz", requests, r -> timestamp(r.deadline())));
      statement.setArray(
          6,
          texts(
              connection,
              requests,
              r -> r.revocation() == null ? null : r.revocation().resultId()));
      statement.setArray(
          7,
          texts(
              connection,
              requests,
              r -> r.revocation() == null ? null : r.revocation().finding().name()));
      statement.setArray(
          8,
          texts(
              connection, requests, r -> r.revocation() == null ? null : r.revocation().reason()));
      statement.setString(9, owner);
      statement.setTimestamp(10, Timestamp.from(now));
      statement.setTimestamp(11, Timestamp.from(now));
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          Attempt attempt = new Attempt(rows.getString("record_key"), rows.getInt("attempt"));
          answers[Objects.requireNonNull(places.get(attempt))] =
              rows.getBoolean("won") ? new ClaimAnswer.Won() : answer(rows);
        }
      }
    }
    List<ClaimAnswer> ordered = new ArrayList<>(answers.length);
    for (int i = 0; i < answers.length; i++) {
      ClaimAnswer answer = answers[i];
      if (answer == null) {
        ClaimRequest request = requests.get(i);
        answer =
            find(request.recordKey(), request.attempt())
                .orElseThrow(
                    () ->
                        new SQLException(
                            "Expected the row that the insert met, but it is gone. Check who deletes"
                                + " claims.",
                            "40001"));
      }
      ordered.add(answer);
    }
    return ordered;
  }

  /** Whose an attempt is, if anybody's. Never {@link ClaimAnswer.Won}. */
  public Optional<ClaimAnswer> find(String recordKey, int attempt) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement = connection.prepareStatement(FIND)) {
      connection.setAutoCommit(true);
      statement.setString(1, recordKey);
      statement.setInt(2, attempt);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? Optional.of(answer(rows)) : Optional.empty();
      }
    }
  }

  /**
   * Keeps results in their claim rows, and large bodies beside them, in one transaction. A result
   * that is there already stays.
   */
  public void record(Collection<Recording> recordings) throws SQLException {
    List<Recording> results = recordings.stream().filter(r -> r.attempt() > 0).toList();
    List<Recording> bodies = recordings.stream().filter(r -> r.largeBody() != null).toList();
    if (results.isEmpty() && bodies.isEmpty()) {
      return;
    }
    try (Connection connection = dataSource.getConnection()) {
      // One statement is one round trip and its own transaction; only large bodies need more.
      connection.setAutoCommit(bodies.isEmpty());
      try {
        if (!bodies.isEmpty()) {
          keepBodies(connection, bodies);
        }
        if (!results.isEmpty()) {
          recordResults(connection, results);
        }
        if (!bodies.isEmpty()) {
          connection.commit();
        }
      } catch (SQLException e) {
        if (!connection.getAutoCommit()) {
          connection.rollback();
        }
        throw e;
      } finally {
        connection.setAutoCommit(true);
      }
    }
  }

  /** The bytes behind a handle. */
  public Optional<ResultBody> findBody(String sha256) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement =
            connection.prepareStatement("select body from ichido.result_body where sha256 = ?")) {
      statement.setString(1, sha256);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? Optional.of(ResultBody.of(rows.getBytes(1))) : Optional.empty();
      }
    }
  }

  private static void keepBodies(Connection connection, List<Recording> bodies)
      throws SQLException {
    // The driver has no arrays of bytea; these rows are few.
    try (PreparedStatement statement = connection.prepareStatement(KEEP_BODIES)) {
      for (Recording recording : bodies) {
        ResultBody body = recording.largeBody();
        if (body != null) {
          statement.setString(1, recording.report().bodySha256());
          statement.setLong(2, body.length());
          statement.setBytes(3, body.bytes());
          statement.addBatch();
        }
      }
      statement.executeBatch();
    }
  }

  private static void recordResults(Connection connection, List<Recording> results)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(RECORD)) {
      statement.setArray(1, texts(connection, results, Recording::recordKey));
      statement.setArray(2, array(connection, "int4", results, Recording::attempt));
      statement.setArray(3, texts(connection, results, r -> r.report().resultId()));
      statement.setArray(4, texts(connection, results, r -> r.report().finding().name()));
      statement.setArray(5, texts(connection, results, r -> r.report().reason()));
      statement.setArray(6, texts(connection, results, r -> r.report().reference()));
      statement.setArray(7, array(connection, "int4", results, r -> r.report().remoteStatus()));
      statement.setArray(8, array(connection, "int4", results, r -> r.report().remoteCalls()));
      statement.setArray(
          9, array(connection, "int8", results, r -> millis(r.report().retryAfter())));
      statement.setArray(10, array(connection, "int4", results, r -> r.report().schema()));
      statement.setArray(11, texts(connection, results, r -> r.report().body()));
      statement.setArray(12, texts(connection, results, r -> r.report().bodySha256()));
      statement.setArray(13, array(connection, "int8", results, r -> r.report().bodyBytes()));
      statement.setArray(
          14, array(connection, "timestamptz", results, r -> timestamp(r.report().at())));
      statement.executeUpdate();
    }
  }

  private static ClaimAnswer answer(ResultSet rows) throws SQLException {
    String resultId = rows.getString("result_id");
    if (resultId == null) {
      return new ClaimAnswer.Open(rows.getString("owner"));
    }
    Long retryAfter = rows.getObject("retry_after_ms", Long.class);
    return new ClaimAnswer.Recorded(
        new Report(
            Report.Kind.ATTEMPT,
            Finding.valueOf(rows.getString("outcome")),
            resultId,
            rows.getString("remote_reference"),
            rows.getString("body"),
            rows.getString("body_sha256"),
            rows.getLong("body_bytes"),
            rows.getObject("result_schema", Integer.class),
            rows.getString("reason"),
            rows.getObject("remote_status", Integer.class),
            rows.getInt("remote_calls"),
            retryAfter == null ? null : Duration.ofMillis(retryAfter),
            rows.getTimestamp("recorded_at").toInstant()));
  }

  private static @Nullable Timestamp timestamp(@Nullable Instant instant) {
    return instant == null ? null : Timestamp.from(instant);
  }

  private static @Nullable Long millis(@Nullable Duration duration) {
    return duration == null ? null : duration.toMillis();
  }

  private static <T> Array texts(
      Connection connection, List<T> rows, Function<T, @Nullable String> column)
      throws SQLException {
    // The driver sends an array of strings in binary form, one of objects as text.
    @Nullable String[] values = new String[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = column.apply(rows.get(i));
    }
    return connection.createArrayOf("text", values);
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
