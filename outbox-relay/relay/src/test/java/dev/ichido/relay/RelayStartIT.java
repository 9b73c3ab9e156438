package dev.ichido.relay;

import static dev.ichido.relay.TestOutbox.await;
import static dev.ichido.relay.TestOutbox.awaitReady;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.relay.RelayException.Code;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Whatever is missing is said once, by its code, and nothing is half started. */
@ExtendWith(Servers.class)
class RelayStartIT {
  private static final RelayTuning IMPATIENT =
      new RelayTuning(
          Duration.ofMillis(2),
          2_048,
          Duration.ofMillis(200),
          Duration.ofMillis(50),
          Duration.ofMillis(500),
          Duration.ofSeconds(3),
          Duration.ofSeconds(10),
          SlotLoss.REFUSE);

  @Test
  void anUnreachableDatabaseIsNamed(TestOutbox outbox) throws Exception {
    int port = closedPort();
    RelayException refused =
        refusal(
            outbox,
            with(
                outbox,
                OutboxDatabase.of("jdbc:postgresql://localhost:" + port + "/x", "u", "secret")));
    assertThat(refused.code()).isEqualTo(Code.DATABASE_UNREACHABLE);
    assertThat(refused.getMessage())
        .contains("localhost:" + port)
        .contains("outbox.url")
        .doesNotContain("secret");
  }

  @Test
  void aWrongPasswordIsNamedAndNotShown(TestOutbox outbox) {
    OutboxDatabase wrong =
        OutboxDatabase.of(outbox.database.url(), outbox.database.user(), "wrong-secret");
    RelayException refused = refusal(outbox, with(outbox, wrong));
    assertThat(refused.code()).isEqualTo(Code.DATABASE_ACCESS);
    assertThat(refused.getMessage()).contains("outbox.password").doesNotContain("wrong-secret");
    assertThat(with(outbox, wrong).toString()).doesNotContain("wrong-secret");
  }

  @Test
  void aMissingDatabaseIsNamed(TestOutbox outbox) {
    OutboxDatabase missing =
        OutboxDatabase.of(
            "jdbc:postgresql://localhost:" + outbox.servers.database.port() + "/nowhere",
            outbox.database.user(),
            outbox.database.password());
    assertThat(refusal(outbox, with(outbox, missing)).code()).isEqualTo(Code.DATABASE_MISSING);
  }

  @Test
  void anAddressThatIsNoneIsNamed(TestOutbox outbox) {
    for (String url :
        List.of("localhost:5432", "jdbc:postgresql:x", "jdbc:postgresql://a:1,b:2/x", "")) {
      assertThatThrownBy(() -> outbox.relay(with(outbox, OutboxDatabase.of(url, "u", "p"))))
          .isInstanceOfSatisfying(
              RelayException.class, e -> assertThat(e.code()).isEqualTo(Code.DATABASE_URL));
    }
  }

  @Test
  void aDatabaseWithoutLogicalDecodingIsNamed(TestOutbox outbox, @TempDir Path folder) {
    try (EmbeddedDatabase other =
        EmbeddedDatabase.start(
            folder.resolve("pg"), 0, Map.of("wal_level", "replica", "max_wal_senders", "0"))) {
      OutboxDatabase plain = OutboxDatabase.of(other.url(), other.user(), other.password());
      assertThat(refusal(outbox, with(outbox, plain)).code()).isEqualTo(Code.WAL_LEVEL);
      assertThatThrownBy(() -> new OutboxMigration(plain).run())
          .isInstanceOfSatisfying(
              RelayException.class, e -> assertThat(e.code()).isEqualTo(Code.WAL_LEVEL));
    }
  }

  @Test
  void whatTheMigrationWouldHaveMadeIsMissed(TestOutbox outbox) throws Exception {
    assertThat(refusal(outbox, outbox.config()).code()).isEqualTo(Code.OUTBOX_MISSING);
    outbox.migrated();
    OutboxDatabase other = outbox.database.withPublication("nothing");
    assertThat(refusal(outbox, with(outbox, other)).code()).isEqualTo(Code.PUBLICATION_MISSING);
    outbox.run("create publication narrow for table ichido.outbox with (publish = 'update')");
    assertThat(refusal(outbox, with(outbox, outbox.database.withPublication("narrow"))).code())
        .isEqualTo(Code.PUBLICATION_UNFIT);
    assertThat(refusal(outbox, with(outbox, outbox.database.withSlot("no_slot"))).code())
        .isEqualTo(Code.SLOT_MISSING);
    assertThat(outbox.query("select count(*) from pg_replication_slots where slot_name='no_slot'"))
        .isEqualTo("0");
  }

  @Test
  @Tag("FR-21")
  void aDroppedSlotIsRefusedAndNeverMadeAgain(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.slot("pg_drop_replication_slot(slot_name)");
    outbox.publish("unseen");
    assertThat(refusal(outbox, with(outbox, outbox.database)).code()).isEqualTo(Code.SLOT_MISSING);
    assertThat(new OutboxMigration(outbox.database).run().slot())
        .isEqualTo(OutboxMigration.SlotOutcome.GONE);
    assertThat(outbox.slot("1")).isEmpty();
  }

  @Test
  @Tag("FR-21")
  void theEngineItselfNeverMakesASlot(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.slot("pg_drop_replication_slot(slot_name)");
    OutboxSource source = new OutboxSource(outbox.database, Duration.ofSeconds(5));
    ChangeEngine engine =
        new ChangeEngine(
            outbox.database,
            source,
            RelayTuning.DEFAULT,
            "test",
            (changes, committer) -> {
              throw new AssertionError("Expected no change, but there is one.");
            });
    AtomicReference<@Nullable Throwable> stopped = new AtomicReference<>();
    Thread run =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    engine.run();
                  } catch (Throwable e) {
                    stopped.set(e);
                  }
                });
    await("the engine ends or makes a slot", () -> !run.isAlive() || !outbox.slot("1").isEmpty());
    await("the engine ends", () -> !run.isAlive() || engine.tryStop());
    run.join();
    assertThat(causes(stopped.get()))
        .anySatisfy(
            cause ->
                assertThat(cause)
                    .isInstanceOfSatisfying(
                        RelayException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.SLOT_MISSING)));
    assertThat(outbox.slot("1")).isEmpty();
  }

  @Test
  @Tag("FR-21")
  void aSlotDroppedUnderARunningRelayThatMayNotHelpItselfStopsItForGood(TestOutbox outbox)
      throws Exception {
    outbox.migrated();
    OutboxRelay relay = outbox.relay(with(outbox, outbox.database));
    relay.start();
    awaitReady(relay);
    // The slot can't be dropped while it is held, and the relay takes it again at once.
    await(
        "the slot is dropped",
        () -> {
          outbox.cutReplication();
          try {
            outbox.slot("pg_drop_replication_slot(slot_name)");
          } catch (java.sql.SQLException held) {
            return false;
          }
          return outbox.slot("1").isEmpty();
        });
    await("the relay stops", () -> relay.failure().isPresent());
    assertThat(relay.failure())
        .hasValueSatisfying(
            failure ->
                assertThat(failure)
                    .isInstanceOfSatisfying(
                        RelayException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.SLOT_MISSING)));
    assertThat(relay.ready()).isFalse();
    assertThat(outbox.slot("1")).isEmpty();
  }

  @Test
  void anUnreachableBrokerIsNamed(TestOutbox outbox) throws Exception {
    outbox.migrated();
    RelayConfig config = outbox.config();
    RelayException refused =
        refusal(
            outbox,
            new RelayConfig(
                config.outbox(),
                Map.of("bootstrap.servers", "localhost:" + closedPort()),
                config.registry(),
                config.topicPrefix(),
                IMPATIENT));
    assertThat(refused.code()).isEqualTo(Code.BROKER_UNREACHABLE);
    assertThat(refused.getMessage()).contains("kafka.bootstrap.servers");
  }

  @Test
  void missingTopicsAreNamed(TestOutbox outbox) {
    outbox.migrated();
    RelayConfig config = outbox.config();
    RelayException refused =
        refusal(
            outbox,
            new RelayConfig(
                config.outbox(), config.kafka(), config.registry(), "elsewhere", IMPATIENT));
    assertThat(refused.code()).isEqualTo(Code.TOPIC_MISSING);
    assertThat(refused.getMessage()).contains("elsewhere.intents");
  }

  @Test
  void anUnreachableRegistryIsNamed(TestOutbox outbox) throws Exception {
    outbox.migrated();
    RelayConfig config = outbox.config();
    RelayException refused =
        refusal(
            outbox,
            new RelayConfig(
                config.outbox(),
                config.kafka(),
                Map.of("schema.registry.url", "http://localhost:" + closedPort()),
                config.topicPrefix(),
                IMPATIENT));
    assertThat(refused.code()).isEqualTo(Code.REGISTRY);
    assertThat(refused.getMessage()).contains("schema.registry.url");
  }

  @Test
  void closingTwiceOrUnstartedIsNothing(TestOutbox outbox) {
    OutboxRelay relay = outbox.relay();
    relay.close();
    relay.close();
    assertThat(relay.ready()).isFalse();
    assertThat(relay.failure()).isEmpty();
  }

  private static RelayConfig with(TestOutbox outbox, OutboxDatabase database) {
    RelayConfig config = outbox.config();
    return new RelayConfig(
        database, config.kafka(), config.registry(), config.topicPrefix(), IMPATIENT);
  }

  private static RelayException refusal(TestOutbox outbox, RelayConfig config) {
    RelayException refused =
        catchThrowableOfType(RelayException.class, () -> outbox.relay(config).start());
    assertThat(refused).isNotNull();
    assertThat(refused.getMessage()).matches("(?s)Expected .*, but .*\\. Check .*\\.");
    return refused;
  }

  private static List<Throwable> causes(@Nullable Throwable e) {
    List<Throwable> causes = new ArrayList<>();
    for (Throwable t = e; t != null; t = t.getCause()) {
      causes.add(t);
    }
    return causes;
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
