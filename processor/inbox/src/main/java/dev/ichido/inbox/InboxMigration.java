package dev.ichido.inbox;

import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** Brings the inbox's tables up to date. Safe to run at every start. */
public final class InboxMigration {
  private InboxMigration() {}

  /** Creates or updates the tables {@code ichido.inbox_*}. */
  public static void migrate(DataSource dataSource) {
    Flyway.configure(InboxMigration.class.getClassLoader())
        .dataSource(dataSource)
        .schemas("ichido")
        .table("flyway_inbox")
        .locations("classpath:dev/ichido/inbox/migration")
        .baselineOnMigrate(true)
        .baselineVersion("0")
        .load()
        .migrate();
  }
}
