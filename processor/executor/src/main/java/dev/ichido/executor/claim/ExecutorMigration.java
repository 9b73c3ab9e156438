package dev.ichido.executor.claim;

import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** Brings the executor's tables up to date. Safe to run at every start. */
public final class ExecutorMigration {
  private ExecutorMigration() {}

  /** Creates or updates {@code ichido.claim} and {@code ichido.result_body}. */
  public static void migrate(DataSource dataSource) {
    Flyway.configure(ExecutorMigration.class.getClassLoader())
        .dataSource(dataSource)
        .schemas("ichido")
        .table("flyway_executor")
        .locations("classpath:dev/ichido/executor/migration")
        .baselineOnMigrate(true)
        .baselineVersion("0")
        .load()
        .migrate();
  }
}
