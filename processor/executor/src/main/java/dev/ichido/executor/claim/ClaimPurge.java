package dev.ichido.executor.claim;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Deletes claims that no operation needs any more, and then the large bodies that nobody names. A
 * claim without a result, or whose result is unknown, stays for ever: without it a revocation would
 * win, and prove that a call which was made had not been.
 */
public final class ClaimPurge {
  private static final String CLAIMS =
      """
      delete from ichido.claim where ctid = any (array(
        select ctid from ichido.claim
         where kept_at < now() - make_interval(secs => ?)
           and outcome in ('SUCCEEDED', 'FAILED_RETRYABLE', 'FAILED_TERMINAL')
         limit ? for update skip locked))
      """;

  private static final String BODIES =
      """
      delete from ichido.result_body where sha256 = any (array(
        select b.sha256 from ichido.result_body b
         where b.stored_at < now() - make_interval(secs => ?)
           and not exists (select 1 from ichido.claim c where c.body_sha256 = b.sha256)
         limit ? for update skip locked))
      """;

  private final DataSource dataSource;
  private final Duration age;

  /**
   * Purges what is older than this.
   *
   * @param age by the database's clock; longer than any operation may still start an attempt, is
   *     replayed or is remembered
   */
  public ClaimPurge(DataSource dataSource, Duration age) {
    this.dataSource = dataSource;
    this.age = age;
  }

  /**
   * Deletes at most so many claims and so many bodies, each in a transaction of its own. Several
   * may run at once.
   *
   * @return how many rows went
   */
  public int run(int limit) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(true);
      return delete(connection, CLAIMS, limit) + delete(connection, BODIES, limit);
    }
  }

  private int delete(Connection connection, String sql, int limit) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setDouble(1, age.toMillis() / 1_000.0);
      statement.setInt(2, limit);
      return statement.executeUpdate();
    }
  }
}
