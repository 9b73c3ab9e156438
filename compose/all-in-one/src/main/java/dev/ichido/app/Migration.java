package dev.ichido.app;

import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.config.IchidoConfig;
import dev.ichido.executor.claim.ExecutorMigration;
import dev.ichido.gateway.GatewayMigration;
import dev.ichido.inbox.InboxMigration;
import dev.ichido.relay.OutboxMigration;
import dev.ichido.schemas.TopicAdmin;
import dev.ichido.schemas.wire.RegistryClient;
import java.time.Duration;

/** Everything that has to be there before a role starts. Each step may be run again. */
public final class Migration {
  private static final Duration KAFKA = Duration.ofSeconds(15);

  private final IchidoConfig config;

  /** For the servers that the configuration names. */
  public Migration(IchidoConfig config) {
    this.config = config;
  }

  /** Table, function, publication and slot of the outbox; returns what was done. */
  public String outbox() {
    OutboxMigration.Outcome outcome =
        new OutboxMigration(Roles.outboxDatabase(config, "migration")).run();
    String slot = config.outbox().slot();
    return outcome.migrations()
        + " migrations"
        + switch (outcome.slot()) {
          case CREATED -> ", slot " + slot + " created";
          case THERE -> "";
          case GONE -> ", slot " + slot + " is gone: see relay.slot_lost";
        };
  }

  /** Tables of claims and result bodies. */
  public void executor() {
    try (HikariDataSource pool =
        Roles.pool(config, config.executor().database(), "executor.database", "migration", 2)) {
      ExecutorMigration.migrate(pool);
    }
  }

  /** Tables of the inbox. */
  public void inbox() {
    try (HikariDataSource pool =
        Roles.pool(config, config.inbox().database(), "inbox.database", "migration", 2)) {
      InboxMigration.migrate(pool);
    }
  }

  /** What the HTTP door remembers, in the database of the outbox. */
  public void gateway() {
    try (HikariDataSource pool =
        Roles.pool(config, config.outbox().database(), "outbox", "migration", 2)) {
      GatewayMigration.migrate(pool);
    }
  }

  /** Topics that are missing are made; differences of the others are told, not changed. */
  public TopicAdmin.Report topics() {
    try (TopicAdmin admin = TopicAdmin.connect(config.kafka().values(), KAFKA)) {
      return admin.ensure(config.topics().specs());
    }
  }

  /** Schemas of all topics; returns how many subjects there are. */
  public int schemas() {
    return RegistryClient.from(config.registry().values())
        .registerAll(config.topics().specs())
        .size();
  }
}
