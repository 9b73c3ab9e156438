package dev.ichido.relay;

import static dev.ichido.relay.TestOutbox.OPERATION;
import static dev.ichido.relay.TestOutbox.await;
import static dev.ichido.relay.TestOutbox.awaitProblem;
import static dev.ichido.relay.TestOutbox.awaitReady;
import static dev.ichido.relay.TestOutbox.publish;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.relay.RelayException.Code;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A lost slot loses no row: what it did not show is sent from the table, and the relay goes on. */
@ExtendWith(Servers.class)
class BackfillIT {
  @Test
  @Tag("FR-21")
  void rowsThatADroppedSlotDidNotShowArriveAndTheRelayGoesOn(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.publish("unread-1");
    drop(outbox);
    outbox.publish("unread-2");
    OutboxRelay relay = outbox.relay();
    relay.start();
    awaitReady(relay);
    outbox.publish("streamed");
    await("the row that the new slot shows", () -> outbox.deliveries().contains("streamed"));
    assertThat(outbox.deliveries()).containsExactly("unread-1", "unread-2", "streamed");
    assertThat(outbox.meters.get("ichido.relay.backfilled").counter().count()).isEqualTo(2);
    assertThat(outbox.meters.get("ichido.relay.slot.lost").gauge().value()).isZero();
    assertThat(outbox.query("select backfill from ichido.relay_slot")).isEqualTo("f");
    assertThat(relay.problem()).isEmpty();
  }

  @Test
  @Tag("FR-21")
  void whatIsKnownToBeAcknowledgedIsNotSentAgain(TestOutbox outbox) throws Exception {
    outbox.migrated();
    try (OutboxRelay relay = outbox.relay()) {
      relay.start();
      outbox.publish("seen");
      outbox.awaitAudited();
    }
    outbox.awaitSlotFree();
    drop(outbox);
    outbox.publish("unread");
    outbox.relay().start();
    await("the unread row", () -> outbox.deliveries().contains("unread"));
    assertThat(outbox.deliveries()).containsExactly("seen", "unread");
  }

  @Test
  @Tag("FR-21")
  void aSlotDroppedUnderARunningRelayIsMadeAnew(TestOutbox outbox) throws Exception {
    OutboxRelay relay = outbox.started();
    try (Connection held = outbox.transaction()) {
      publish(held, OPERATION, "open");
      // The new slot waits for the open transaction: until then there is none to drop again.
      await("the slot is dropped", () -> tryDrop(outbox));
      awaitProblem(relay, Code.SLOT_MISSING);
      assertThat(outbox.meters.get("ichido.relay.slot.lost").gauge().value()).isEqualTo(1);
      assertThat(relay.ready()).isFalse();
      outbox.publish("meanwhile");
      held.commit();
    }
    awaitReady(relay);
    await("both rows", () -> outbox.deliveries().size() == 2);
    assertThat(outbox.deliveries()).containsExactly("meanwhile", "open");
  }

  @Test
  @Tag("FR-20")
  @Tag("FR-21")
  void aTransactionOpenAcrossTheLossArrivesWhole(TestOutbox outbox) throws Exception {
    outbox.migrated();
    OutboxRelay relay = outbox.relay();
    try (Connection open = outbox.transaction();
        Connection late = outbox.transaction()) {
      publish(open, OPERATION, "a0");
      drop(outbox);
      publish(open, OPERATION, "a1");
      relay.start();
      await("the slot is being made", () -> outbox.slot("active").equals("t"));
      publish(open, OPERATION, "a2");
      // Begins while the slot is being made and ends after it is there.
      publish(late, OPERATION, "b0");
      outbox.publish("c");
      open.commit();
      publish(late, OPERATION, "b1");
      late.commit();
    }
    await("all rows", () -> outbox.deliveries().size() >= 6);
    outbox.publish("end");
    await("the end", () -> outbox.deliveries().contains("end"));
    assertThat(outbox.deliveries()).containsExactly("c", "a0", "a1", "a2", "b0", "b1", "end");
  }

  @Test
  @Tag("FR-21")
  void rowsCommittedDuringTheBackfillArriveOnceAndAfterIt(TestOutbox outbox) throws Exception {
    outbox.migrated();
    for (int i = 0; i < 5; i++) {
      outbox.publish("old-" + i);
    }
    drop(outbox);
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    OutboxRelay relay =
        outbox.relay(
            method -> {
              if (method.equals("commitTransaction")) {
                reached.countDown();
                go.await();
              }
            });
    try (Connection across = outbox.transaction()) {
      relay.start();
      reached.await();
      publish(across, OPERATION, "across");
      outbox.publish("during");
      go.countDown();
      await("the back-fill ends", () -> relay.ready());
      across.commit();
    }
    await("all rows", () -> outbox.deliveries().size() >= 7);
    assertThat(outbox.deliveries())
        .containsExactly("old-0", "old-1", "old-2", "old-3", "old-4", "during", "across");
  }

  @Test
  @Tag("FR-21")
  @Tag("FR-25")
  void theOrderIsThatOfTheCommits(TestOutbox outbox) throws Exception {
    outbox.migrated();
    drop(outbox);
    try (Connection first = outbox.transaction();
        Connection second = outbox.transaction()) {
      publish(first, OPERATION, "first-0");
      publish(second, OPERATION, "second-0");
      TestOutbox.run(second, "savepoint s");
      publish(second, OPERATION, "second-1");
      publish(first, OPERATION, "first-1");
      second.commit();
      first.commit();
    }
    outbox.relay().start();
    await("all rows", () -> outbox.deliveries().size() >= 4);
    assertThat(outbox.deliveries()).containsExactly("second-0", "second-1", "first-0", "first-1");
  }

  @Test
  @Tag("FR-21")
  @Tag("FR-22")
  void aBackfillThatIsCutOffIsDoneAgain(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.run(
        "select ichido.publish_intent('t1', 'agent:a', 'pay.transfer', '"
            + OPERATION
            + "', now(), delivery_id => 'd' || i) from generate_series(1, 5000) i");
    drop(outbox);
    AtomicInteger commits = new AtomicInteger();
    OutboxRelay cut =
        outbox.relay(
            method -> {
              if (method.equals("commitTransaction") && commits.incrementAndGet() > 1) {
                throw new org.apache.kafka.common.errors.TimeoutException("scripted");
              }
            });
    cut.start();
    await("the second batch fails, again and again", () -> commits.get() > 4);
    assertThat(outbox.query("select backfill from ichido.relay_slot")).isEqualTo("t");
    cut.close();
    OutboxRelay relay = outbox.relay();
    relay.start();
    awaitReady(relay);
    outbox.publish("end");
    await("the end", () -> outbox.deliveries().contains("end"));
    assertThat(outbox.deliveries().stream().distinct()).hasSize(5_001);
    assertThat(outbox.query("select backfill from ichido.relay_slot")).isEqualTo("f");
  }

  @Test
  @Tag("FR-21")
  void aSlotWhoseLogTheServerRemovedIsReplaced(TestOutbox shared, @TempDir Path folder)
      throws Exception {
    try (EmbeddedDatabase small =
            EmbeddedDatabase.start(
                folder.resolve("pg"), 0, Map.of("max_slot_wal_keep_size", "1MB"));
        TestOutbox outbox =
            new TestOutbox(shared.servers, shared.name + "_small", small, shared.servers.broker)) {
      outbox.migrated();
      outbox.publish("unread");
      outbox.run("create table filler (x text)");
      await(
          "the log is gone",
          () -> {
            outbox.run("insert into filler select repeat('x', 1000) from generate_series(1, 999)");
            outbox.run("select pg_switch_wal()");
            outbox.run("checkpoint");
            return outbox.slot("wal_status").equals("lost");
          });
      OutboxRelay relay = outbox.relay();
      relay.start();
      awaitReady(relay);
      outbox.publish("streamed");
      await("both rows", () -> outbox.deliveries().contains("streamed"));
      assertThat(outbox.deliveries()).containsExactly("unread", "streamed");
    }
  }

  @Test
  @Tag("FR-21")
  @Tag("FR-24")
  void ofTwoRelaysOneSendsTheTable(TestOutbox outbox) throws Exception {
    outbox.migrated();
    List<String> expected = IntStream.range(0, 50).mapToObj(i -> "d" + i).toList();
    for (String delivery : expected) {
      outbox.publish(delivery);
    }
    drop(outbox);
    OutboxRelay first = outbox.relay();
    OutboxRelay second = outbox.relay();
    Thread starting = Thread.ofVirtual().start(first::start);
    second.start();
    starting.join();
    await("one relay is ready", () -> first.ready() || second.ready());
    await("all rows", () -> outbox.deliveries().size() >= 50);
    assertThat(outbox.deliveries()).isEqualTo(expected);
  }

  private static void drop(TestOutbox outbox) throws SQLException {
    outbox.slot("pg_drop_replication_slot(slot_name)");
    assertThat(outbox.slot("1")).isEmpty();
  }

  /** It can't be dropped while it is held, and a relay takes it again at once. */
  private static boolean tryDrop(TestOutbox outbox) throws SQLException {
    outbox.cutReplication();
    try {
      outbox.slot("pg_drop_replication_slot(slot_name)");
      return true;
    } catch (SQLException held) {
      return false;
    }
  }
}
