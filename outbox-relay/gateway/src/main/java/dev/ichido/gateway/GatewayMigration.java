package dev.ichido.gateway;

import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** Brings {@code ichido.gateway_operation} up to date, in the database of the outbox. */
public final class GatewayMigration {
  private GatewayMigration() {}

  /** Runs what is missing. */
  public static void migrate(DataSource dataSource) {
    Flyway.configure(GatewayMigration.class.getClassLoader())
        .dataSource(dataSource)
        .locations("classpath:dev/ichido/gateway/migration")
        .schemas("ichido")
        .table("flyway_gateway")
        .baselineOnMigrate(true)
        .baselineVersion("0")
        .load()
        .migrate();
  }
}
