package dev.ichido.relay;

import static dev.ichido.relay.TestOutbox.await;
import static dev.ichido.relay.TestOutbox.awaitReady;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whatever makes the slot pass a row that was not sent, the audit finds it and sends it again. */
@ExtendWith(Servers.class)
class AuditIT {
  @Test
  @Tag("FR-31")
  void aRowThatThePublicationDidNotShowIsFoundAndSent(TestOutbox outbox) throws Exception {
    OutboxRelay relay = outbox.started();
    outbox.publish("before");
    outbox.run("alter publication ichido_outbox drop table ichido.outbox");
    outbox.publish("unseen");
    outbox.run("alter publication ichido_outbox add table ichido.outbox");
    outbox.publish("after");
    await("the row is found", () -> outbox.deliveries().contains("unseen"));
    awaitReady(relay);
    outbox.awaitAudited();
    assertThat(outbox.deliveries()).containsExactlyInAnyOrder("before", "unseen", "after");
    assertThat(outbox.meters.get("ichido.relay.audit.missing").counter().count()).isEqualTo(1);
    assertThat(outbox.meters.get("ichido.relay.audit.repaired").counter().count()).isEqualTo(1);
    assertThat(relay.problem()).isEmpty();
  }

  @Test
  @Tag("FR-31")
  void rowsThatAMovedSlotPassedAreFoundByTheNextRelay(TestOutbox outbox) throws Exception {
    OutboxRelay first = outbox.started();
    outbox.publish("before");
    outbox.awaitAudited();
    first.close();
    outbox.publish("passed-1");
    outbox.publish("passed-2");
    outbox.awaitSlotFree();
    outbox.slot("pg_replication_slot_advance(slot_name, pg_current_wal_lsn())");
    outbox.relay().start();
    await("the rows are found", () -> outbox.deliveries().size() >= 3);
    outbox.awaitAudited();
    assertThat(outbox.deliveries()).containsExactly("before", "passed-1", "passed-2");
    assertThat(outbox.meters.get("ichido.relay.audit.missing").counter().count()).isEqualTo(2);
  }

  @Test
  void whatAnEarlierRelaySentIsNoGap(TestOutbox outbox) throws Exception {
    outbox.migrated();
    try (OutboxRelay relay = outbox.relay()) {
      relay.start();
      outbox.publish("sent");
      outbox.run(
          "insert into ichido.outbox (id, tenant, principal, type, aggregateid, issued_at, kind)"
              + " values ('odd', 't1', 'agent:a', 'pay.transfer', '"
              + TestOutbox.OPERATION
              + "', 0, 'ERASE')");
      await("both are sent", () -> outbox.deadLetters().size() == 1);
    }
    outbox.run("update ichido.relay_slot set acknowledged_below = 1");
    OutboxRelay next = outbox.relay();
    next.start();
    awaitReady(next);
    outbox.publish("end");
    outbox.awaitAudited();
    assertThat(outbox.deliveries().stream().distinct()).containsExactly("sent", "end");
    assertThat(outbox.meters.get("ichido.relay.audit.missing").counter().count()).isZero();
  }

  @Test
  @Tag("FR-23")
  void aGapThatCantBeClosedYetIsAProblem(TestOutbox outbox) throws Exception {
    outbox.migrated();
    AtomicBoolean broken = new AtomicBoolean();
    OutboxRelay relay =
        outbox.relay(
            method -> {
              if (method.equals("commitTransaction") && broken.get()) {
                throw new org.apache.kafka.common.errors.TimeoutException("scripted");
              }
            });
    relay.start();
    awaitReady(relay);
    outbox.publish("before");
    await("the first row", () -> outbox.deliveries().contains("before"));
    broken.set(true);
    outbox.run("alter publication ichido_outbox drop table ichido.outbox");
    outbox.publish("unseen");
    outbox.run("alter publication ichido_outbox add table ichido.outbox");
    TestOutbox.awaitProblem(relay, RelayException.Code.OUTBOX_GAP);
    assertThat(relay.ready()).isFalse();
    broken.set(false);
    await("the row is found", () -> outbox.deliveries().contains("unseen"));
    awaitReady(relay);
  }

  @Test
  void aDayGoesWhenAllOfItIsAcknowledgedAndSettled(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.run(
        "create table ichido.outbox_20260101 partition of ichido.outbox for values from"
            + " (1767225600000000) to (1767312000000000)");
    outbox.run("create table ichido.inbox_reply (delivery_id text, final boolean)");
    outbox.run(
        "insert into ichido.outbox (id, tenant, principal, type, aggregateid, issued_at, created_at)"
            + " values ('old', 't1', 'agent:a', 'pay.transfer', '"
            + TestOutbox.OPERATION
            + "', 0, 1767225600000001)");
    assertThat(detached(outbox)).as("not acknowledged").isEqualTo("0");
    OutboxRelay relay = outbox.relay();
    relay.start();
    await("the row is sent", () -> outbox.deliveries().contains("old"));
    outbox.awaitAudited();
    assertThat(detached(outbox)).as("no last reply").isEqualTo("0");
    outbox.run("insert into ichido.inbox_reply values ('old', false)");
    assertThat(detached(outbox)).as("no last reply").isEqualTo("0");
    outbox.run("insert into ichido.inbox_reply values ('old', true)");
    assertThat(detached(outbox)).isEqualTo("1");
    await(
        "the slot passes it, and it is dropped",
        () -> outbox.query("select ichido.outbox_drop_partitions('1 day')").equals("1"));
    assertThat(outbox.query("select count(*) from ichido.outbox")).isEqualTo("0");
  }

  private static String detached(TestOutbox outbox) throws SQLException {
    outbox.query("select ichido.outbox_drop_partitions('1 day')");
    return outbox.query("select count(*) from ichido.outbox_retired");
  }
}
