package dev.ichido.relay;

import static dev.ichido.relay.TestOutbox.OPERATION;
import static dev.ichido.relay.TestOutbox.await;
import static dev.ichido.relay.TestOutbox.awaitProblem;
import static dev.ichido.relay.TestOutbox.awaitReady;
import static dev.ichido.relay.TestOutbox.publish;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.IntentKind;
import dev.ichido.schemas.ToolIntent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.record.TimestampType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The relay on real servers: nothing is lost, the order is commit order, and only acknowledged
 * records move the slot.
 */
@ExtendWith(Servers.class)
class OutboxRelayIT {
  @Test
  @Tag("TRN-01")
  void anIntentArrivesWhole(TestOutbox outbox) throws Exception {
    outbox.started();
    String arguments = "{\"b\":1.0, \"a\":1, \"a\":12345678901234567890.10, \"t\":\"\u4e00\"}";
    String traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    String delivery;
    try (Connection connection = outbox.transaction()) {
      delivery =
          Outbox.publish(
              connection,
              OutboxIntent.execute()
                  .tenant("t/1")
                  .scope("region:eu")
                  .principal("agent:a")
                  .action("pay.transfer")
                  .operationId(OPERATION)
                  .issuedAt(Instant.parse("2026-01-01T00:00:00.123456Z"))
                  .actionVersion("v2")
                  .target("acct:1")
                  .arguments(arguments)
                  .precondition("etag-1")
                  .discriminator("twin")
                  .workflowId("w1")
                  .step("s1")
                  .compensates("op-0000000000000000")
                  .traceparent(traceparent)
                  .build());
      connection.commit();
    }
    await("one record", () -> outbox.intents().size() == 1);
    ConsumerRecord<String, ToolIntent> record = outbox.intents().getFirst();
    assertThat(record.key()).isEqualTo("k1/t%2F1/region%3Aeu/" + OPERATION);
    assertThat(record.value())
        .isEqualTo(
            ToolIntent.newBuilder()
                .setKind(IntentKind.EXECUTE)
                .setTenant("t/1")
                .setScope("region:eu")
                .setOperationId(OPERATION)
                .setDeliveryId(delivery)
                .setPrincipal("agent:a")
                .setAction("pay.transfer")
                .setActionVersion("v2")
                .setTarget("acct:1")
                .setArguments(arguments)
                .setPrecondition("etag-1")
                .setDiscriminator("twin")
                .setIssuedAt(Instant.parse("2026-01-01T00:00:00.123Z"))
                .setWorkflowId("w1")
                .setStep("s1")
                .setCompensates("op-0000000000000000")
                .build());
    assertThat(
            new String(record.headers().lastHeader("traceparent").value(), StandardCharsets.UTF_8))
        .isEqualTo(traceparent);
    assertThat(outbox.meters.get("ichido.relay.records").counter().count()).isEqualTo(1);
  }

  @Test
  void aReadIsKeyedByItsDeliveryAndACancelHasNoAction(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.relay().start();
    outbox.run(
        "select ichido.publish_intent('t1', 'agent:a', 'kb.search', null, now(), delivery_id => 'd-1')");
    outbox.run(
        "select ichido.publish_intent('t1', 'agent:a', null, '"
            + OPERATION
            + "', now(), kind => 'CANCEL', delivery_id => 'd-2', traceparent => 'broken')");
    await("two records", () -> outbox.intents().size() == 2);
    for (ConsumerRecord<String, ToolIntent> record : outbox.intents()) {
      assertThat(record.headers()).isEmpty();
      if (record.value().getDeliveryId().equals("d-1")) {
        assertThat(record.key()).isEqualTo("d1/t1/global/d-1");
        assertThat(record.value().getOperationId()).isNull();
      } else {
        assertThat(record.key()).isEqualTo("k1/t1/global/" + OPERATION);
        assertThat(record.value().getKind()).isEqualTo(IntentKind.CANCEL);
        assertThat(record.value().getAction()).isNull();
      }
    }
  }

  @Test
  @Tag("TRN-01")
  void rowsOfARolledBackTransactionNeverArrive(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.relay().start();
    try (Connection connection = outbox.transaction()) {
      publish(connection, OPERATION, "dropped");
      connection.rollback();
      publish(connection, OPERATION, "kept");
      connection.commit();
    }
    await("the kept row", () -> outbox.deliveries().contains("kept"));
    assertThat(outbox.deliveries()).containsExactly("kept");
  }

  @Test
  void rowsWrittenWhileTheRelayIsAwayArriveAfterItsStart(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.publish("before");
    try (OutboxRelay relay = outbox.relay()) {
      relay.start();
      await("the first row", () -> outbox.deliveries().equals(List.of("before")));
    }
    outbox.publish("between");
    outbox.relay().start();
    outbox.publish("after");
    await("all rows", () -> outbox.deliveries().containsAll(List.of("between", "after")));
    assertThat(new ArrayList<>(new java.util.LinkedHashSet<>(outbox.deliveries())))
        .containsExactly("before", "between", "after");
  }

  @Test
  @Tag("FR-20")
  void aTransactionLeftOpenAcrossARestartArrivesWhole(TestOutbox outbox) throws Exception {
    outbox.migrated();
    try (Connection open = outbox.transaction()) {
      try (OutboxRelay relay = outbox.relay()) {
        relay.start();
        awaitReady(relay);
        for (int i = 0; i < 5; i++) {
          publish(open, OPERATION, "a" + i);
        }
        outbox.publish("b");
        await("the row of the other transaction", () -> outbox.deliveries().equals(List.of("b")));
        // Heartbeats past the open transaction's first rows lose them with a stored offset.
        outbox.run("select pg_logical_emit_message(true, 'neighbour', repeat('x', 100000))");
        String written = outbox.query("select pg_current_wal_lsn() - 1024");
        await(
            "the slot moved past them",
            () -> outbox.slot("confirmed_flush_lsn > '" + written + "'").equals("t"));
        for (int i = 5; i < 10; i++) {
          publish(open, OPERATION, "a" + i);
        }
      }
      open.commit();
    }
    outbox.relay().start();
    await("all rows", () -> outbox.deliveries().contains("a9"));
    assertThat(outbox.deliveries())
        .containsSubsequence("b", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9");
  }

  @Test
  @Tag("FR-25")
  void overlappingTransactionsArriveInCommitOrder(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.relay().start();
    List<String> expected = new ArrayList<>();
    try (Connection first = outbox.transaction();
        Connection second = outbox.transaction()) {
      for (int round = 0; round < 20; round++) {
        publish(first, OPERATION, "first-" + round);
        publish(second, OPERATION, "second-" + round);
        boolean firstCommitsFirst = round % 2 == 1;
        (firstCommitsFirst ? first : second).commit();
        (firstCommitsFirst ? second : first).commit();
        expected.add((firstCommitsFirst ? "first-" : "second-") + round);
        expected.add((firstCommitsFirst ? "second-" : "first-") + round);
      }
    }
    await("all rows", () -> outbox.deliveries().size() == 40);
    assertThat(outbox.deliveries()).isEqualTo(expected);
  }

  @Test
  @Tag("FR-22")
  @Tag("FR-31")
  void aBatchThatFailsIsSentAgain(TestOutbox outbox) throws Exception {
    outbox.migrated();
    // Many transactions in one batch: confirming the last one's row confirms all before it.
    List<String> expected = IntStream.range(0, 20).mapToObj(i -> "d" + i).toList();
    for (String delivery : expected) {
      outbox.publish(delivery);
    }
    AtomicInteger failures = new AtomicInteger(3);
    OutboxRelay relay =
        outbox.relay(
            method -> {
              if (method.equals("commitTransaction") && failures.getAndDecrement() > 0) {
                throw new org.apache.kafka.common.errors.TimeoutException("scripted");
              }
            });
    relay.start();
    await("the last row", () -> outbox.deliveries().contains("d19"));
    assertThat(outbox.deliveries()).isEqualTo(expected);
    assertThat(outbox.meters.get("ichido.relay.restarts").counter().count()).isEqualTo(3);
    awaitReady(relay);
  }

  @Test
  @Tag("FR-22")
  void aConnectRetriableExceptionDoesNotDropTheBatch(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.publish("d1");
    outbox.publish("d2");
    AtomicInteger failures = new AtomicInteger(2);
    OutboxRelay relay =
        outbox.relay(
            method -> {
              if (method.equals("send") && failures.getAndDecrement() > 0) {
                throw new org.apache.kafka.connect.errors.RetriableException("scripted");
              }
            });
    relay.start();
    outbox.publish("d3");
    await("the last row", () -> outbox.deliveries().contains("d3"));
    assertThat(outbox.deliveries()).containsExactly("d1", "d2", "d3");
  }

  @Test
  @Tag("FR-31")
  void theSlotDoesNotMoveBeforeTheBrokerAcknowledges(TestOutbox outbox) throws Exception {
    outbox.migrated();
    BlockingQueue<CountDownLatch> commits = new LinkedBlockingQueue<>();
    AtomicBoolean holding = new AtomicBoolean(true);
    OutboxRelay relay =
        outbox.relay(
            method -> {
              if (method.equals("commitTransaction") && holding.get()) {
                CountDownLatch go = new CountDownLatch(1);
                commits.add(go);
                // Bounded, so that the relay can be closed when the test fails.
                var unused = go.await(60, TimeUnit.SECONDS);
              }
            });
    relay.start();
    awaitReady(relay);
    outbox.publish("first");
    CountDownLatch first = next(commits);
    String between = outbox.query("select pg_current_wal_lsn()");
    // Marked, a row confirms the transactions before its own: so they have to be in one batch.
    List<String> expected = IntStream.range(0, 20).mapToObj(i -> "d" + i).toList();
    for (String delivery : expected) {
      outbox.publish(delivery);
    }
    String written = outbox.query("select pg_current_wal_lsn()");
    await(
        "the rows are read",
        () ->
            outbox
                .query("select bool_or(sent_lsn >= '" + written + "') from pg_stat_replication")
                .equals("t"));
    first.countDown();
    CountDownLatch second = next(commits);
    // The word that moves the slot is on its way for a moment: one look would always see it
    // unmoved.
    Awaitility.await("the slot stays")
        .during(Duration.ofMillis(700))
        .atMost(Duration.ofSeconds(60))
        .until(() -> outbox.slot("confirmed_flush_lsn <= '" + between + "'").equals("t"));
    assertThat(outbox.deliveries()).containsExactly("first");
    holding.set(false);
    second.countDown();
    await(
        "the slot moves", () -> outbox.slot("confirmed_flush_lsn > '" + between + "'").equals("t"));
    await("the last row", () -> outbox.deliveries().contains("d19"));
    assertThat(outbox.deliveries().subList(1, 21)).isEqualTo(expected);
  }

  private static CountDownLatch next(BlockingQueue<CountDownLatch> commits)
      throws InterruptedException {
    CountDownLatch commit = commits.poll(60, TimeUnit.SECONDS);
    assertThat(commit).as("a commit").isNotNull();
    return commit;
  }

  @Test
  @Tag("FR-23")
  void slotLagReturnsToNothingWhileOnlyNeighboursWrite(TestOutbox outbox) throws Exception {
    outbox.started();
    outbox.run("update ichido.relay_slot set refuse_above_bytes = 80000");
    String before = outbox.query("select pg_current_wal_lsn()");
    outbox.run("create table neighbour (filler text)");
    outbox.run(
        "insert into neighbour select repeat(md5(i::text), 100) from generate_series(1, 5000) i");
    assertThat(
            Long.parseLong(
                outbox.query(
                    "select pg_wal_lsn_diff(pg_current_wal_lsn(), '" + before + "')::bigint")))
        .isGreaterThan(500_000);
    await(
        "the lag is gone",
        () ->
            outbox
                .slot("pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn) < 8192")
                .equals("t"));
    await(
        "the gauge says so",
        () -> outbox.meters.get("ichido.relay.slot.lag").gauge().value() < 8_192);
    await(
        "the position is noted",
        () ->
            outbox
                .query(
                    "select pg_wal_lsn_diff(s.confirmed_flush_lsn, r.confirmed_at_least) between 0 and 10000"
                        + " from ichido.relay_slot r join pg_replication_slots s using (slot_name)")
                .equals("t"));
    assertThat(outbox.deliveries()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"send", "commitTransaction"})
  @Tag("FR-24")
  void aPausedRelayIsFenced(String pausedAt, TestOutbox outbox) throws Exception {
    outbox.migrated();
    CountDownLatch paused = new CountDownLatch(1);
    CountDownLatch wake = new CountDownLatch(1);
    OutboxRelay first =
        outbox.relay(
            method -> {
              if (method.equals(pausedAt)) {
                paused.countDown();
                wake.await();
              }
            });
    first.start();
    awaitReady(first);
    outbox.publish("d1");
    paused.await();
    OutboxRelay second = outbox.relay();
    second.start();
    awaitProblem(second, RelayException.Code.SLOT_HELD);
    outbox.cutReplication();
    outbox.publish("d2");
    await("the second relay sends both", () -> outbox.deliveries().size() == 2);
    wake.countDown();
    awaitProblem(first, RelayException.Code.SLOT_HELD);
    outbox.publish("d3");
    await("the third row", () -> outbox.deliveries().contains("d3"));
    assertThat(outbox.deliveries()).containsExactly("d1", "d2", "d3");
    assertThat(second.ready()).isTrue();
    assertThat(first.ready()).isFalse();
  }

  @Test
  @Tag("FR-24")
  void aRelayPausedBeforeItsFirstBatchWritesNothingLate(TestOutbox outbox) throws Exception {
    outbox.migrated();
    CountDownLatch paused = new CountDownLatch(1);
    CountDownLatch wake = new CountDownLatch(1);
    OutboxRelay first =
        outbox.relay(
            method -> {
              if (method.equals("initTransactions")) {
                paused.countDown();
                wake.await();
              }
            });
    outbox.publish("d1");
    first.start();
    paused.await();
    OutboxRelay second = outbox.relay();
    second.start();
    awaitProblem(second, RelayException.Code.SLOT_HELD);
    outbox.cutReplication();
    await("the second relay sends", () -> outbox.deliveries().size() == 1);
    wake.countDown();
    await("the first relay gives way", () -> first.problem().isPresent());
    outbox.publish("d2");
    await("the second row", () -> outbox.deliveries().contains("d2"));
    assertThat(outbox.deliveries()).containsExactly("d1", "d2");
  }

  @Test
  void aSecondRelayTakesOverWhenTheFirstEnds(TestOutbox outbox) throws Exception {
    OutboxRelay first = outbox.started();
    OutboxRelay second = outbox.relay();
    second.start();
    awaitProblem(second, RelayException.Code.SLOT_HELD);
    outbox.publish("d1");
    await("the first sends", () -> outbox.deliveries().equals(List.of("d1")));
    first.close();
    awaitReady(second);
    outbox.publish("d2");
    await("the second sends", () -> outbox.deliveries().contains("d2"));
  }

  @Test
  @Tag("FR-26")
  void theTopicTakesItsOwnTimeForABackDatedRow(TestOutbox outbox) throws Exception {
    outbox.migrated();
    Instant start = Instant.now().minusSeconds(60);
    outbox.relay().start();
    outbox.run(
        "insert into ichido.outbox (tenant, principal, type, aggregateid, issued_at, created_at)"
            + " values ('t1', 'agent:a', 'pay.transfer', '"
            + OPERATION
            + "', 1000000, 1000000)");
    await("the row", () -> outbox.intents().size() == 1);
    ConsumerRecord<String, ToolIntent> record = outbox.intents().getFirst();
    assertThat(record.timestampType()).isEqualTo(TimestampType.LOG_APPEND_TIME);
    assertThat(Instant.ofEpochMilli(record.timestamp())).isAfter(start);
    assertThat(record.value().getIssuedAt()).isEqualTo(Instant.ofEpochSecond(1));
  }

  @Test
  @Tag("TRN-01")
  void aRowThatCantBeARecordGoesToTheDeadLettersAndTheRelayGoesOn(TestOutbox outbox)
      throws Exception {
    outbox.migrated();
    outbox.relay().start();
    outbox.publish("before");
    insert(outbox, "odd", "'ERASE', '{}'");
    insert(outbox, "large", "'EXECUTE', repeat('x', 2200000)");
    insert(outbox, "huge", "'EXECUTE', repeat('x', 5000000)");
    outbox.publish("after");
    await("the good rows", () -> outbox.deliveries().contains("after"));
    assertThat(outbox.deliveries()).containsExactly("before", "after");
    List<DeadLetter> letters = outbox.deadLetters().stream().map(ConsumerRecord::value).toList();
    assertThat(letters)
        .extracting(DeadLetter::getCode)
        .containsExactly("KIND_UNKNOWN", "RECORD_TOO_LARGE", "RECORD_TOO_LARGE");
    assertThat(outbox.deadLetters().getFirst().key()).isEqualTo("k1/t1/global/" + OPERATION);
    DeadLetter odd = letters.getFirst();
    assertThat(odd.getRole()).isEqualTo("relay");
    assertThat(odd.getSourceTopic()).isEqualTo("ichido.outbox");
    assertThat(odd.getSourceOffset()).isPositive();
    assertThat(odd.getDetail()).contains("Expected kind").doesNotContain("ERASE");
    assertThat(StandardCharsets.UTF_8.decode(odd.getRecordValue()).toString())
        .contains("\"id\":\"odd\"")
        .contains("\"kind\":\"ERASE\"");
    assertThat(letters.get(1).getRecordValue()).isNotNull();
    assertThat(letters.get(2).getRecordValue()).isNull();
    assertThat(
            outbox.meters.get("ichido.relay.refused").tag("code", "KIND_UNKNOWN").counter().count())
        .isEqualTo(1);
  }

  @Test
  @Tag("TRN-01")
  void aRowWhoseNamesAreTooLongGoesToTheDeadLettersAndTheRelayGoesOn(TestOutbox outbox)
      throws Exception {
    OutboxRelay relay = outbox.started();
    insertNamed(outbox, "operation", "'t1'", "repeat('é', 400000)", "'{}'");
    insertNamed(outbox, "tenant", "repeat('t', 4500000)", "'o'", "'{}'");
    insertNamed(outbox, "both", "repeat('é', 400000)", "'o'", "repeat('x', 5000000)");
    outbox.publish("after");
    await("the good row", () -> outbox.deliveries().contains("after"));
    assertThat(outbox.meters.get("ichido.relay.restarts").counter().count()).isZero();
    assertThat(relay.problem()).isEmpty();
    List<ConsumerRecord<String, DeadLetter>> letters = outbox.deadLetters();
    assertThat(letters)
        .hasSize(3)
        .allSatisfy(
            letter -> {
              assertThat(letter.key()).matches("sha256:[0-9a-f]{64}");
              assertThat(letter.value().getCode()).isEqualTo("RECORD_TOO_LARGE");
              assertThat(letter.value().getRecordKey()).isNull();
              assertThat(letter.value().getSourceOffset()).isPositive();
            });
    assertThat(letters).extracting(ConsumerRecord::key).doesNotHaveDuplicates();
    assertThat(
            letters.stream()
                .map(letter -> letter.value().getRecordValue())
                .filter(Objects::nonNull))
        .singleElement()
        .satisfies(
            row ->
                assertThat(StandardCharsets.UTF_8.decode(row).toString())
                    .contains("\"id\":\"operation\""));
  }

  private static void insertNamed(
      TestOutbox outbox, String delivery, String tenant, String operation, String payload)
      throws SQLException {
    outbox.run(
        "insert into ichido.outbox (id, tenant, principal, type, aggregateid, issued_at, payload)"
            + " values ('%s', %s, 'agent:a', 'pay.transfer', %s, 0, %s)"
                .formatted(delivery, tenant, operation, payload));
  }

  private static void insert(TestOutbox outbox, String delivery, String kindAndPayload)
      throws SQLException {
    outbox.run(
        "insert into ichido.outbox (id, tenant, principal, type, aggregateid, issued_at, kind,"
            + " payload) values ('"
            + delivery
            + "', 't1', 'agent:a', 'pay.transfer', '"
            + OPERATION
            + "', 0, "
            + kindAndPayload
            + ")");
  }

  @Test
  @Tag("FR-29")
  void aRelayThatWasIdleLongerThanTheBrokerKnowsItGoesOn(TestOutbox shared, @TempDir Path folder)
      throws Exception {
    Map<String, String> forgetful =
        Map.of(
            "transactional.id.expiration.ms", "1000",
            "transaction.remove.expired.transaction.cleanup.interval.ms", "200",
            "producer.id.expiration.ms", "1000",
            "producer.id.expiration.check.interval.ms", "200");
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("kafka"), 0, forgetful);
        TestOutbox outbox =
            new TestOutbox(shared.servers, shared.name + "_idle", shared.servers.database, broker);
        Admin admin = Admin.create(Map.of("bootstrap.servers", outbox.bootstrap()))) {
      outbox.migrated();
      OutboxRelay relay = outbox.relay();
      relay.start();
      outbox.publish("d1");
      await("the first row", () -> outbox.deliveries().equals(List.of("d1")));
      await("the broker forgets", () -> admin.listTransactions().all().get().isEmpty());
      outbox.publish("d2");
      await("the second row", () -> outbox.deliveries().contains("d2"));
      assertThat(outbox.deliveries()).containsExactly("d1", "d2");
      awaitReady(relay);
    }
  }

  @Test
  @Tag("FR-31")
  void nothingIsLostOverStopsAndCutsInTheMiddle(TestOutbox outbox) throws Exception {
    outbox.migrated();
    int rows = 3_000;
    Thread writer =
        Thread.ofVirtual()
            .start(
                () -> {
                  try (Connection connection = outbox.transaction()) {
                    for (int i = 0; i < rows; i++) {
                      publish(connection, "op-%016d".formatted(i % 7), "d" + i);
                      if (i % 5 == 4) {
                        connection.commit();
                      }
                    }
                    connection.commit();
                  } catch (SQLException e) {
                    throw new IllegalStateException(e);
                  }
                });
    for (int stop = 0; stop < 4; stop++) {
      OutboxRelay relay = outbox.relay();
      relay.start();
      awaitReady(relay);
      if (stop % 2 == 0) {
        outbox.cutReplication();
        outbox.publish("after-cut-" + stop);
        String marker = "after-cut-" + stop;
        await("rows written after the cut", () -> outbox.deliveries().contains(marker));
      }
      relay.close();
    }
    writer.join();
    outbox.relay().start();
    await("every row", () -> new HashSet<>(outbox.deliveries()).size() == rows + 2);
  }
}
