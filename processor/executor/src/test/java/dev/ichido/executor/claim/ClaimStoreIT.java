package dev.ichido.executor.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.executor.Commands;
import dev.ichido.executor.Report;
import dev.ichido.executor.ResultBody;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClaimStoreIT {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir private static Path folder;
  private static EmbeddedDatabase database;
  private static HikariDataSource pool;

  @BeforeAll
  static void start() {
    database = EmbeddedDatabase.start(folder);
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setUsername(database.user());
    config.setPassword(database.password());
    config.setMaximumPoolSize(24);
    pool = new HikariDataSource(config);
    ExecutorMigration.migrate(pool);
    ExecutorMigration.migrate(pool);
  }

  @AfterAll
  static void stop() {
    pool.close();
    database.close();
  }

  @Test
  void anAttemptIsTakenOnceAndItsOwnerIsTold() throws SQLException {
    ClaimStore first = new ClaimStore(pool, "a/1");
    ClaimStore second = new ClaimStore(pool, "b/1");
    assertThat(first.take(List.of(claim("once", 1)), NOW)).containsExactly(new ClaimAnswer.Won());
    assertThat(second.take(List.of(claim("once", 1), claim("once", 2)), NOW))
        .containsExactly(new ClaimAnswer.Open("a/1"), new ClaimAnswer.Won());
    assertThat(first.take(List.of(claim("once", 1)), NOW))
        .containsExactly(new ClaimAnswer.Open("a/1"));
  }

  @Test
  void aRecordedResultIsToldAsItWasAndIsNotOverwritten() throws SQLException {
    ClaimStore store = new ClaimStore(pool, "a/1");
    store.take(List.of(claim("kept", 1), claim("kept", 2)), NOW);
    Report told =
        new Report(
            Report.Kind.ATTEMPT,
            Report.Finding.SUCCEEDED,
            "r-1",
            "ref-ü",
            "{\"a\":\"\u0001\"}",
            null,
            0,
            3,
            null,
            201,
            1,
            Duration.ofMillis(1500),
            NOW);
    store.record(List.of(new Recording("kept", 1, told, null)));
    store.record(List.of(new Recording("kept", 1, Commands.revoked("r-2", NOW), null)));
    assertThat(store.take(List.of(claim("kept", 1), claim("kept", 2)), NOW))
        .containsExactly(new ClaimAnswer.Recorded(told), new ClaimAnswer.Open("a/1"));
  }

  @Test
  void aRevocationThatWinsIsTheResultAndOneThatLosesIsNot() throws SQLException {
    ClaimStore store = new ClaimStore(pool, "a/1");
    assertThat(store.take(List.of(revocation("rev", 1)), NOW))
        .containsExactly(new ClaimAnswer.Won());
    assertThat(store.take(List.of(claim("rev", 1)), NOW))
        .containsExactly(new ClaimAnswer.Recorded(Commands.revoked("rev-rev-1", NOW)));
    store.take(List.of(claim("rev", 2)), NOW);
    assertThat(store.take(List.of(revocation("rev", 2)), NOW))
        .containsExactly(new ClaimAnswer.Open("a/1"));
  }

  @Test
  void aBatchOfClaimsAndABatchOfResultsAreOneStatementEach() throws SQLException {
    CountingDataSource counting = new CountingDataSource(pool);
    ClaimStore store = new ClaimStore(counting.dataSource(), "a/1");
    List<ClaimRequest> requests = new ArrayList<>();
    List<Recording> recordings = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      requests.add(i % 5 == 0 ? revocation("batch" + i, 1) : claim("batch" + i, 1));
      recordings.add(new Recording("batch" + i, 1, Commands.revoked("r-" + i, NOW), null));
    }
    store.take(requests, NOW);
    assertThat(counting.executions()).isEqualTo(1);
    store.record(recordings);
    assertThat(counting.executions()).isEqualTo(2);
  }

  @Test
  void oneAttemptTwiceInABatchIsRefused() {
    ClaimStore store = new ClaimStore(pool, "a/1");
    assertThatThrownBy(() -> store.take(List.of(claim("two", 1), revocation("two", 1)), NOW))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aLargeBodyIsKeptUnderItsDigestInTheSameTransaction() throws SQLException {
    ClaimStore store = new ClaimStore(pool, "a/1");
    ResultBody body = ResultBody.of(new byte[] {0, 1, 2, (byte) 0xff});
    store.take(List.of(claim("large", 1), claim("large", 2)), NOW);
    for (int attempt = 1; attempt <= 2; attempt++) {
      Report told =
          new Report(
              Report.Kind.ATTEMPT,
              Report.Finding.SUCCEEDED,
              "large-" + attempt,
              null,
              null,
              body.sha256(),
              body.length(),
              null,
              null,
              200,
              1,
              null,
              NOW);
      store.record(List.of(new Recording("large", attempt, told, body)));
    }
    assertThat(store.findBody(body.sha256()).orElseThrow().bytes()).isEqualTo(body.bytes());
    assertThat(store.find("large", 2)).containsInstanceOf(ClaimAnswer.Recorded.class);
  }

  /** The race that decides whether an effect can double: exactly one of all contenders wins. */
  @Test
  @Tag("FR-01")
  @Tag("FR-32")
  void ofManyClaimsAndRevocationsOfOneAttemptExactlyOneWins() throws Exception {
    int threads = 16;
    int rounds = 60;
    int keys = 20;
    int[][] wins = new int[rounds * keys][1];
    int[][] revoked = new int[rounds * keys][1];
    CyclicBarrier barrier = new CyclicBarrier(threads);
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<@Nullable Void>> futures = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        futures.add(
            executor.submit(
                () -> {
                  ClaimStore store = new ClaimStore(pool, "racer/" + thread);
                  for (int round = 0; round < rounds; round++) {
                    List<ClaimRequest> requests = new ArrayList<>();
                    for (int k = 0; k < keys; k++) {
                      // Other orders in other threads: what deadlocks, deadlocks here.
                      int key = thread % 2 == 0 ? k : keys - 1 - k;
                      String name = "race-" + round + "-" + key;
                      requests.add(thread % 3 == 0 ? revocation(name, 1) : claim(name, 1));
                    }
                    barrier.await(30, TimeUnit.SECONDS);
                    List<ClaimAnswer> answers = store.take(requests, NOW);
                    for (int k = 0; k < keys; k++) {
                      int key = thread % 2 == 0 ? k : keys - 1 - k;
                      if (answers.get(k) instanceof ClaimAnswer.Won) {
                        synchronized (wins) {
                          wins[round * keys + key][0]++;
                          revoked[round * keys + key][0] += thread % 3 == 0 ? 1 : 0;
                        }
                      }
                    }
                  }
                  return null;
                }));
      }
      for (Future<@Nullable Void> future : futures) {
        future.get(2, TimeUnit.MINUTES);
      }
    }
    int byRevocation = 0;
    for (int i = 0; i < wins.length; i++) {
      assertThat(wins[i][0]).as("winners of attempt %d", i).isEqualTo(1);
      byRevocation += revoked[i][0];
    }
    // Both kinds win some, else the race was none.
    assertThat(byRevocation).isBetween(1, rounds * keys - 1);
  }

  /** Of old rows only those go whose result is certain; of old bodies, those that nobody names. */
  @Test
  void aPurgeKeepsWhatAnOperationMayStillNeed() throws SQLException {
    ClaimStore store = new ClaimStore(pool, "a/1");
    Duration age = Duration.ofDays(31);
    ResultBody named = ResultBody.text("named");
    ResultBody young = ResultBody.text("young");
    ResultBody again = ResultBody.text("again");
    ResultBody gone = ResultBody.text("gone");
    List<Recording> recordings = new ArrayList<>();
    for (Report.Finding finding :
        List.of(
            Report.Finding.SUCCEEDED,
            Report.Finding.FAILED_RETRYABLE,
            Report.Finding.FAILED_TERMINAL,
            Report.Finding.UNKNOWN)) {
      String name = finding.name();
      store.take(List.of(claim("purge-old-" + name, 1), claim("purge-new-" + name, 1)), NOW);
      recordings.add(recording("purge-old-" + name, finding, null));
      recordings.add(recording("purge-new-" + name, finding, null));
    }
    store.take(List.of(claim("purge-old-open", 1), revocation("purge-old-revoked", 1)), NOW);
    store.take(List.of(claim("purge-body", 1), claim("purge-old-named", 1)), NOW);
    recordings.add(recording("purge-body", Report.Finding.SUCCEEDED, named));
    recordings.add(recording("purge-old-named", Report.Finding.SUCCEEDED, gone));
    recordings.add(new Recording("purge", 0, reportOf(Report.Finding.COMMITTED, young), young));
    recordings.add(new Recording("purge", 0, reportOf(Report.Finding.COMMITTED, again), again));
    store.record(recordings);
    sql(
        "update ichido.claim set kept_at = now() - interval '31 days 1 second' where record_key like 'purge-old-%'");
    sql(
        "update ichido.claim set kept_at = now() - interval '30 days' where record_key like 'purge-new-%'");
    sql("update ichido.result_body set stored_at = now() - interval '32 days'");
    sql("update ichido.result_body set stored_at = now() where sha256 = '" + young.sha256() + "'");
    // A body that is met again is young again, though no claim names it.
    store.record(
        List.of(new Recording("purge", 0, reportOf(Report.Finding.COMMITTED, again), again)));

    ClaimPurge purge = new ClaimPurge(pool, age);
    assertThat(purge.run(2)).as("no more at once than asked for").isEqualTo(2);
    while (purge.run(2) > 0) {}

    assertThat(keys("purge-%"))
        .containsExactlyInAnyOrder(
            "purge-old-UNKNOWN",
            "purge-old-open",
            "purge-new-SUCCEEDED",
            "purge-new-FAILED_RETRYABLE",
            "purge-new-FAILED_TERMINAL",
            "purge-new-UNKNOWN",
            "purge-body");
    assertThat(store.findBody(named.sha256())).isPresent();
    assertThat(store.findBody(young.sha256())).isPresent();
    assertThat(store.findBody(again.sha256())).isPresent();
    assertThat(store.findBody(gone.sha256())).isEmpty();
    // What was kept still protects: a revocation of the open attempt loses.
    assertThat(store.take(List.of(revocation("purge-old-open", 1)), NOW))
        .containsExactly(new ClaimAnswer.Open("a/1"));
  }

  private static Recording recording(
      String key, Report.Finding finding, @Nullable ResultBody body) {
    return new Recording(key, 1, reportOf(finding, body), body);
  }

  private static Report reportOf(Report.Finding finding, @Nullable ResultBody body) {
    return new Report(
        Report.Kind.ATTEMPT,
        finding,
        "r",
        null,
        null,
        body == null ? null : body.sha256(),
        body == null ? 0 : body.length(),
        null,
        null,
        null,
        1,
        null,
        NOW);
  }

  private static void sql(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  private static List<String> keys(String pattern) throws SQLException {
    List<String> keys = new ArrayList<>();
    try (Connection connection = pool.getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                "select record_key from ichido.claim where record_key like ?")) {
      statement.setString(1, pattern);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          keys.add(rows.getString(1));
        }
      }
    }
    return keys;
  }

  private static ClaimRequest claim(String key, int attempt) {
    return new ClaimRequest(key, attempt, "cmd-" + key + attempt, "pay", NOW.plusSeconds(60), null);
  }

  private static ClaimRequest revocation(String key, int attempt) {
    return new ClaimRequest(
        key,
        attempt,
        "cmd-" + key + attempt,
        "pay",
        NOW.plusSeconds(60),
        Commands.revoked("rev-" + key + "-" + attempt, NOW));
  }
}
