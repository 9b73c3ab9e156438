package dev.ichido.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.RemoteServer;
import dev.ichido.schemas.Topics;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Ends an executor at the point where one wants it, without its knowing: what it waits for is held
 * by the database, the remote or the broker. The operations are all at that point at once.
 */
record Killing(
    Stack stack, Topics topics, List<RemoteServer> remotes, Set<String> keys, Runnable submit) {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  void kill(ExecutorProcess victim, KillPoint point) throws Exception {
    switch (point) {
      case BEFORE_THE_CLAIM -> beforeTheClaim(victim);
      case AFTER_THE_CLAIM -> afterTheClaim(victim);
      case AFTER_THE_EFFECT -> afterTheEffect(victim);
      case AFTER_RECORDING -> afterRecording(victim);
    }
  }

  /** Another transaction has taken the same rows, and has not ended yet. */
  private void beforeTheClaim(ExecutorProcess victim) throws Exception {
    try (Connection holder = stack.pool.getConnection()) {
      holder.setAutoCommit(false);
      on(
          holder,
          """
          insert into ichido.claim (record_key, attempt, kind, command_id, action, owner, started_at)
          select key, 1, 'CLAIM', 'held', 'held', 'held', now() from unnest(?) as key
          """);
      submit.run();
      awaitStuck(victim);
      kill(victim);
      holder.rollback();
    }
    assertThat(count("true")).isZero();
    assertThat(effects()).isZero();
  }

  /** The remotes have read their requests and will drop them. */
  private void afterTheClaim(ExecutorProcess victim) throws Exception {
    for (RemoteServer remote : remotes) {
      remote.faults().add(FaultKind.TIMEOUT_BEFORE_COMMIT);
    }
    submit.run();
    awaitHeld();
    kill(victim);
    remotes.forEach(remote -> remote.faults().release());
    assertThat(count("recorded_at is null")).isEqualTo(keys.size());
    assertThat(effects()).isZero();
  }

  /** The remotes hold their requests until the claims are locked, and then do and answer them. */
  private void afterTheEffect(ExecutorProcess victim) throws Exception {
    for (RemoteServer remote : remotes) {
      remote.faults().add(Fault.of(FaultKind.HOLD_BEFORE_COMMIT));
    }
    submit.run();
    awaitHeld();
    try (Connection holder = stack.pool.getConnection()) {
      holder.setAutoCommit(false);
      on(holder, "select 1 from ichido.claim where record_key = any (?) for update");
      remotes.forEach(remote -> remote.faults().release());
      await().atMost(PATIENCE).until(() -> effects() == keys.size());
      awaitStuck(victim);
      kill(victim);
      holder.rollback();
    }
    assertThat(count("recorded_at is null")).isEqualTo(keys.size());
    assertThat(effects()).isEqualTo(keys.size());
  }

  /** The broker is down from before the remotes answer until after the kill. */
  private void afterRecording(ExecutorProcess victim) throws Exception {
    for (RemoteServer remote : remotes) {
      remote.faults().add(Fault.of(FaultKind.HOLD_BEFORE_COMMIT));
    }
    submit.run();
    awaitHeld();
    int before = stack.raw(topics.results()).size();
    stack.whileTheBrokerIsDown(
        () -> {
          remotes.forEach(remote -> remote.faults().release());
          await().atMost(PATIENCE).until(() -> count("recorded_at is not null") == keys.size());
          kill(victim);
        });
    assertThat(stack.raw(topics.results())).hasSize(before);
    assertThat(effects()).isEqualTo(keys.size());
  }

  private void kill(ExecutorProcess victim) throws Exception {
    victim.kill();
    // What it had sent to the database must not go on without it.
    query(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = ?",
        victim.name());
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                query(
                        "select count(*) from pg_stat_activity where application_name = ?",
                        victim.name())
                    == 0);
  }

  private void awaitHeld() throws InterruptedException {
    for (RemoteServer remote : remotes) {
      assertThat(remote.faults().awaitHeld(1, PATIENCE)).isTrue();
    }
  }

  private void awaitStuck(ExecutorProcess victim) {
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                query(
                        "select count(*) from pg_stat_activity where application_name = ? and"
                            + " wait_event_type = 'Lock'",
                        victim.name())
                    > 0);
  }

  private int effects() {
    return remotes.stream()
        .mapToInt(
            remote ->
                (int)
                    remote.book().reading().effects().stream()
                        .filter(e -> keys.stream().anyMatch(k -> k.endsWith("/" + e.naturalKey())))
                        .count())
        .sum();
  }

  private long count(String condition) throws SQLException {
    try (Connection connection = stack.pool.getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                "select count(*) from ichido.claim where record_key = any (?) and " + condition)) {
      statement.setArray(1, connection.createArrayOf("text", keys.toArray()));
      return first(statement);
    }
  }

  private long query(String sql, String parameter) throws SQLException {
    try (Connection connection = stack.pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, parameter);
      return first(statement);
    }
  }

  private static long first(PreparedStatement statement) throws SQLException {
    try (ResultSet rows = statement.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private void on(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setArray(1, connection.createArrayOf("text", keys.toArray()));
      statement.execute();
    }
  }
}
