package dev.ichido.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The SQL and the JDBC writer on a real PostgreSQL. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OutboxIT {
  private static final Instant ISSUED = Instant.parse("2026-01-01T00:00:00.123456Z");

  private EmbeddedPostgres postgres;

  OutboxIT() throws IOException {
    postgres =
        EmbeddedPostgres.builder()
            .setServerConfig("wal_level", "logical")
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on")
            .start();
  }

  @BeforeAll
  void migrate() throws Exception {
    for (String migration :
        List.of(
            "V1__outbox",
            "V2__relay_progress",
            "V3__settled_partitions",
            "V4__arguments_of_one_mebibyte",
            "V5__noted_position",
            "V6__names_as_in_the_library")) {
      try (InputStream file =
          OutboxIT.class.getResourceAsStream(
              "/dev/ichido/outbox/migration/" + migration + ".sql")) {
        run(new String(file.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    run("create table own_state (id text)");
    run("create role runtime login password 'runtime'");
    run("grant usage on schema ichido to runtime");
    run("grant execute on function ichido.publish_intent to runtime");
    run("create role stranger login password 'stranger'");
    run("grant usage on schema ichido to stranger");
  }

  @AfterAll
  void stop() throws IOException {
    postgres.close();
  }

  @BeforeEach
  void empty() throws SQLException {
    run("truncate ichido.outbox, own_state");
    run("delete from ichido.relay_slot");
  }

  @Test
  @Tag("TRN-01")
  void theIntentIsThereExactlyWhenTheStateIs() throws SQLException {
    try (Connection connection = transaction()) {
      insertState(connection, "kept");
      Outbox.publish(connection, transfer().build());
      assertThat(query("select count(*) from ichido.outbox")).containsExactly("0");
      connection.commit();
      insertState(connection, "dropped");
      Outbox.publish(connection, transfer().operationId("op-0000000000000002").build());
      connection.rollback();
    }
    assertThat(query("select id from own_state")).containsExactly("kept");
    assertThat(query("select aggregateid from ichido.outbox"))
        .containsExactly("op-0000000000000001");
  }

  @Test
  void everyFieldArrivesInItsColumn() throws SQLException {
    String arguments = "{\"b\":1.0, \"a\":1, \"a\":12345678901234567890.10}";
    String delivery;
    try (Connection connection = transaction()) {
      delivery =
          Outbox.publish(
              connection,
              transfer()
                  .scope("region:eu")
                  .actionVersion("v2")
                  .target("acct:1")
                  .arguments(arguments)
                  .precondition("etag-1")
                  .discriminator("twin")
                  .workflowId("w1")
                  .step("s1")
                  .compensates("op-0000000000000000")
                  .traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                  .build());
      connection.commit();
    }
    assertThat(
            query(
                "select concat_ws('|', id, aggregatetype, aggregateid, type, payload, kind, tenant, scope, principal,"
                    + " action_version, target, precondition, discriminator, workflow_id, step, compensates,"
                    + " issued_at, traceparent) from ichido.outbox"))
        .containsExactly(
            delivery
                + "|intent|op-0000000000000001|pay.transfer|"
                + arguments
                + "|EXECUTE|t1|region:eu|agent:a|v2|acct:1|etag-1|twin|w1|s1|op-0000000000000000|"
                + "1767225600123456|00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  }

  @Test
  void theDeliveryIdIsTheCallersOrAFreshOne() throws SQLException {
    try (Connection connection = transaction()) {
      assertThat(Outbox.publish(connection, transfer().deliveryId("d-1").build())).isEqualTo("d-1");
      String one = Outbox.publish(connection, transfer().build());
      String two = Outbox.publish(connection, transfer().build());
      assertThat(one).hasSize(36).isNotEqualTo(two);
    }
  }

  @Test
  void aReadAndACancelAreWritten() throws SQLException {
    try (Connection connection = transaction()) {
      Outbox.publish(
          connection,
          OutboxIntent.read()
              .tenant("t1")
              .principal("agent:a")
              .action("kb.search")
              .issuedAt(ISSUED)
              .build());
      Outbox.publish(
          connection,
          OutboxIntent.cancel()
              .tenant("t1")
              .principal("agent:a")
              .operationId("op-0000000000000001")
              .issuedAt(ISSUED)
              .build());
      connection.commit();
    }
    assertThat(
            query(
                "select concat_ws('|', kind, type, aggregateid) from ichido.outbox order by kind"))
        .containsExactly("CANCEL|op-0000000000000001", "EXECUTE|kb.search");
  }

  @Test
  void aConnectionWithoutATransactionIsRefused() throws SQLException {
    try (Connection connection = connect("postgres", "postgres")) {
      OutboxException refused =
          catchThrowableOfType(
              OutboxException.class, () -> Outbox.publish(connection, transfer().build()));
      assertThat(refused.code()).isEqualTo(OutboxException.Code.NO_TRANSACTION);
    }
    assertThat(query("select count(*) from ichido.outbox")).containsExactly("0");
  }

  @Test
  @Tag("FR-40")
  void sqlHasNoDefaultForIdentityNorForItsTime() {
    assertThatThrownBy(() -> run("select ichido.publish_intent('t1', 'agent:a', 'pay.transfer')"))
        .hasMessageContaining("does not exist");
    assertThatThrownBy(
            () ->
                run(
                    "select ichido.publish_intent('t1', 'agent:a', 'pay.transfer', 'op-0000000000000001')"))
        .hasMessageContaining("does not exist");
    assertThatCode(
            () ->
                run(
                    "select ichido.publish_intent('t1', 'agent:a', 'pay.transfer', 'op-0000000000000001', now())"))
        .doesNotThrowAnyException();
  }

  @Test
  void sqlRefusesWhatCantBeARecordByName() {
    assertRefused("select ichido.publish_intent('', 'p', 'a', 'o', now())", "ICH01", "tenant");
    assertRefused("select ichido.publish_intent('t', null, 'a', 'o', now())", "ICH01", "principal");
    assertRefused("select ichido.publish_intent('t', 'p', null, 'o', now())", "ICH01", "action");
    assertRefused("select ichido.publish_intent('t', 'p', 'a', 'o', null)", "ICH01", "issued_at");
    assertRefused(
        "select ichido.publish_intent('t', 'p', null, null, now(), kind => 'CANCEL')",
        "ICH01",
        "operation_id");
    assertRefused(
        "select ichido.publish_intent('t', 'p', 'a', 'o', now(), kind => 'DELETE')",
        "ICH02",
        "kind");
    assertRefused(
        "select ichido.publish_intent('t', 'p', 'a', 'o', 'infinity')", "ICH02", "issued_at");
    assertRefused(
        "select ichido.publish_intent('t', 'p', 'a', 'o', now(), repeat('x', 1048577))",
        "ICH02",
        "arguments");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tenant",
        "principal",
        "action",
        "operation_id",
        "scope",
        "action_version",
        "target",
        "precondition",
        "discriminator",
        "workflow_id",
        "step",
        "compensates",
        "delivery_id",
        "traceparent"
      })
  void sqlTakesNamesAsLongAsTheLibraryDoes(String field) throws SQLException {
    Map<String, String> arguments = new LinkedHashMap<>();
    arguments.put("tenant", "'t'");
    arguments.put("principal", "'p'");
    arguments.put("action", "'a'");
    arguments.put("operation_id", "'o'");
    arguments.put("issued_at", "now()");
    arguments.put(field, "repeat('é', " + OutboxIntent.MAX_TEXT + ")");
    run(call(arguments));
    arguments.put(field, "repeat('é', " + (OutboxIntent.MAX_TEXT + 1) + ")");
    assertRefused(call(arguments), "ICH02", "4096 characters of " + field + ",");
  }

  /** Each character by itself: what is blank to Java, and to the processor, is blank here. */
  @ParameterizedTest
  @ValueSource(strings = {"principal", "delivery_id"})
  void sqlTakesForBlankWhatTheLibraryDoes(String field) throws SQLException {
    boolean principal = field.equals("principal");
    run(
        """
        create or replace function refusal(name text) returns text language plpgsql as $$
        begin
          perform ichido.publish_intent('t', %s, 'a', 'o', now(), delivery_id => %s);
          return 'none';
        exception when sqlstate 'ICH02' then
          return sqlerrm;
        end $$
        """
            .formatted(principal ? "name" : "'p'", principal ? "null" : "name"));
    List<@Nullable String> refused =
        query(
            "select string_agg(c::text, ' ' order by c) from generate_series(1, 12999) as c"
                + " where refusal(chr(c) || chr(c)) like 'Expected "
                + field
                + " to name something, but it was blank.%'");
    String blank =
        IntStream.range(1, 13_000)
            .filter(c -> Character.toString(c).isBlank())
            .mapToObj(String::valueOf)
            .collect(Collectors.joining(" "));
    assertThat(refused).containsExactly(blank);
    assertRefused(
        "select ichido.publish_intent('t', 'p', 'a', 'o', now(), delivery_id => '')",
        "ICH02",
        "delivery_id");
  }

  private static String call(Map<String, String> arguments) {
    return arguments.entrySet().stream()
        .map(argument -> argument.getKey() + " => " + argument.getValue())
        .collect(Collectors.joining(", ", "select ichido.publish_intent(", ")"));
  }

  @Test
  void publishingNeedsTheRightToCallTheFunctionAndNoOther() throws SQLException {
    try (Connection connection = connect("runtime", "runtime")) {
      connection.setAutoCommit(false);
      Outbox.publish(connection, transfer().build());
      connection.commit();
      assertThatThrownBy(() -> connection.createStatement().execute("select * from ichido.outbox"))
          .hasMessageContaining("permission denied");
    }
    try (Connection connection = connect("stranger", "stranger")) {
      connection.setAutoCommit(false);
      OutboxException refused =
          catchThrowableOfType(
              OutboxException.class, () -> Outbox.publish(connection, transfer().build()));
      assertThat(refused.code()).isEqualTo(OutboxException.Code.PERMISSION_DENIED);
    }
    assertThat(query("select count(*) from ichido.outbox")).containsExactly("1");
  }

  @Test
  void aDatabaseWithoutAnOutboxIsNamed() throws SQLException {
    try (Connection connection =
        DriverManager.getConnection(postgres.getJdbcUrl("postgres", "template1"))) {
      connection.setAutoCommit(false);
      OutboxException refused =
          catchThrowableOfType(
              OutboxException.class, () -> Outbox.publish(connection, transfer().build()));
      assertThat(refused.code()).isEqualTo(OutboxException.Code.OUTBOX_MISSING);
    }
  }

  @Test
  void theSlotIsAskedUnlessAPositionNearTheEndOfTheLogIsNoted() throws SQLException {
    run("select pg_create_logical_replication_slot('noted', 'pgoutput')");
    try (Connection connection = transaction()) {
      run("select pg_logical_emit_message(true, 'filler', repeat('x', 2000000))");
      run(
          "insert into ichido.relay_slot (slot_name, publication, consistent_point, refuse_above_bytes)"
              + " values ('noted', 'ichido_outbox', '0/0', 1000000)");
      for (String noted :
          List.of("null", "'0/1'", "pg_current_wal_lsn() - 1500000", "'FFFFFFFF/0'")) {
        run("update ichido.relay_slot set confirmed_at_least = " + noted);
        assertThat(
                catchThrowableOfType(
                        OutboxException.class, () -> Outbox.publish(connection, transfer().build()))
                    .code())
            .as(noted)
            .isEqualTo(OutboxException.Code.OUTBOX_BEHIND);
        connection.rollback();
      }
      // Not so in truth, but after a crash of the server. It shows that the slot was not asked.
      run("update ichido.relay_slot set confirmed_at_least = pg_current_wal_lsn()");
      Outbox.publish(connection, transfer().build());
      connection.commit();
    } finally {
      run("select pg_drop_replication_slot('noted')");
    }
  }

  @Test
  void intentsAreRefusedWhileARecordedSlotLagsTooFar() throws SQLException {
    run("select pg_create_logical_replication_slot('behind', 'pgoutput')");
    try {
      run(
          "insert into ichido.relay_slot (slot_name, publication, consistent_point, refuse_above_bytes)"
              + " values ('behind', 'ichido_outbox', '0/0', 1000000)");
      try (Connection connection = transaction()) {
        Outbox.publish(connection, transfer().build());
        connection.commit();
        connection
            .createStatement()
            .execute("select pg_logical_emit_message(true, 'filler', repeat('x', 2000000))");
        connection.commit();
        OutboxException refused =
            catchThrowableOfType(
                OutboxException.class, () -> Outbox.publish(connection, transfer().build()));
        assertThat(refused.code()).isEqualTo(OutboxException.Code.OUTBOX_BEHIND);
        assertThat(refused)
            .hasMessageStartingWith("Expected the relay to be near the end of the log")
            .hasMessageEndingWith("reaches Kafka.");
        connection.rollback();
        connection
            .createStatement()
            .execute("select pg_replication_slot_advance('behind', pg_current_wal_lsn())");
        connection.commit();
        Outbox.publish(connection, transfer().build());
        connection.commit();
      }
    } finally {
      run("select pg_drop_replication_slot('behind')");
    }
  }

  @Test
  void oldPartitionsGoOnlyOnceEverySlotHasPassedThem() throws SQLException {
    run("select pg_create_logical_replication_slot('cleaner', 'pgoutput')");
    try {
      run(
          "insert into ichido.relay_slot (slot_name, publication, consistent_point) values ('cleaner', 'ichido_outbox', '0/0')");
      run(
          "create table ichido.outbox_20200101 partition of ichido.outbox for values from (1577836800000000) to (1577923200000000)");
      run(
          "insert into ichido.outbox (tenant, principal, type, aggregateid, issued_at, created_at) values ('t', 'p', 'a', 'o', 0, 1577836800000001)");
      assertThat(query("select ichido.outbox_drop_partitions('30 days')")).containsExactly("0");
      assertThat(query("select count(*) from ichido.outbox")).containsExactly("1");
      run(
          "update ichido.relay_slot set acknowledged_below = 1000000000, acknowledged_system ="
              + " (select system_identifier::text from pg_control_system())");
      assertThat(query("select ichido.outbox_drop_partitions('30 days')")).containsExactly("0");
      assertThat(query("select count(*) from ichido.outbox")).containsExactly("0");
      assertThat(query("select ichido.outbox_drop_partitions('30 days')")).containsExactly("0");
      assertThat(query("select count(*) from ichido.outbox_20200101")).containsExactly("1");
      run("select pg_replication_slot_advance('cleaner', pg_current_wal_lsn())");
      assertThat(query("select ichido.outbox_drop_partitions('30 days')")).containsExactly("1");
      assertThat(query("select to_regclass('ichido.outbox_20200101') is null"))
          .containsExactly("t");
    } finally {
      run("select pg_drop_replication_slot('cleaner')");
    }
  }

  @Test
  void rowsGoToTheirDayAndPartitionsAreMadeOnce() throws SQLException {
    assertThat(query("select ichido.outbox_add_partitions()")).containsExactly("0");
    run(
        "select ichido.publish_intent('t1', 'agent:a', 'pay.transfer', 'op-0000000000000001', now())");
    assertThat(query("select count(*) from ichido.outbox_default")).containsExactly("0");
    assertThat(query("select count(*) from ichido.outbox")).containsExactly("1");
  }

  private void assertRefused(String sql, String state, String field) {
    assertThatThrownBy(() -> run(sql))
        .isInstanceOfSatisfying(
            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(state))
        .hasMessageContaining(field)
        .hasMessageContaining("Check ");
  }

  private static OutboxIntent.Builder transfer() {
    return OutboxIntent.execute()
        .tenant("t1")
        .principal("agent:a")
        .action("pay.transfer")
        .operationId("op-0000000000000001")
        .issuedAt(ISSUED);
  }

  private static void insertState(Connection connection, String id) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("insert into own_state values ('" + id + "')");
    }
  }

  private Connection transaction() throws SQLException {
    Connection connection = connect("postgres", "postgres");
    connection.setAutoCommit(false);
    return connection;
  }

  private Connection connect(String user, String password) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://localhost:" + postgres.getPort() + "/postgres", user, password);
  }

  private void run(String sql) throws SQLException {
    try (Connection connection = connect("postgres", "postgres");
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private List<@Nullable String> query(String sql) throws SQLException {
    try (Connection connection = connect("postgres", "postgres");
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      List<@Nullable String> values = new ArrayList<>();
      while (result.next()) {
        values.add(result.getString(1));
      }
      return values;
    }
  }
}
