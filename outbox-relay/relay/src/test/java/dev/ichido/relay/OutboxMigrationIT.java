package dev.ichido.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.relay.OutboxMigration.SlotOutcome;
import dev.ichido.relay.RelayException.Code;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Servers.class)
class OutboxMigrationIT {
  @Test
  void aSecondRunDoesNothing(TestOutbox outbox) throws Exception {
    OutboxMigration migration = new OutboxMigration(outbox.database);
    assertThat(migration.run()).isEqualTo(new OutboxMigration.Outcome(6, SlotOutcome.CREATED));
    String position = outbox.slot("confirmed_flush_lsn");
    assertThat(outbox.query("select consistent_point from ichido.relay_slot")).isEqualTo(position);
    outbox.publish("d1");
    assertThat(migration.run()).isEqualTo(new OutboxMigration.Outcome(0, SlotOutcome.THERE));
    assertThat(outbox.slot("confirmed_flush_lsn")).isEqualTo(position);
  }

  @Test
  void runsAtTheSameTimeMakeOneSlot(TestOutbox outbox) throws Exception {
    Callable<OutboxMigration.Outcome> run = () -> new OutboxMigration(outbox.database).run();
    try (var threads = Executors.newFixedThreadPool(3)) {
      List<Future<OutboxMigration.Outcome>> outcomes = threads.invokeAll(List.of(run, run, run));
      int created = 0;
      for (Future<OutboxMigration.Outcome> outcome : outcomes) {
        created += outcome.get().slot() == SlotOutcome.CREATED ? 1 : 0;
      }
      assertThat(created).isEqualTo(1);
    }
  }

  @Test
  void aSlotIsNotMadeBehindRowsThatItWouldNotSee(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.publish("d1");
    OutboxDatabase renamed = outbox.database.withSlot("renamed");
    assertThatThrownBy(() -> new OutboxMigration(renamed).run())
        .isInstanceOfSatisfying(
            RelayException.class, e -> assertThat(e.code()).isEqualTo(Code.OUTBOX_NOT_EMPTY));
    assertThat(outbox.query("select count(*) from pg_replication_slots where slot_name='renamed'"))
        .isEqualTo("0");
  }

  @Test
  void aSlotThatWasMadeJustBeforeACrashIsRecordedByTheNextRun(TestOutbox outbox) throws Exception {
    outbox.migrated();
    outbox.run("delete from ichido.relay_slot");
    outbox.publish("d1");
    assertThat(new OutboxMigration(outbox.database).run())
        .isEqualTo(new OutboxMigration.Outcome(0, SlotOutcome.THERE));
    assertThat(outbox.query("select slot_name from ichido.relay_slot")).isEqualTo(outbox.name);
  }

  @Test
  void theDoorClosesBelowWhatTheServerKeeps(TestOutbox outbox) throws Exception {
    outbox.migrated();
    assertThat(
            outbox.query(
                "select refuse_above_bytes = setting::bigint * 1024 * 1024 / 5 * 4 from"
                    + " ichido.relay_slot, pg_settings where name = 'max_slot_wal_keep_size'"))
        .isEqualTo("t");
  }

  @Test
  void aPublicationOfAnotherNameIsMade(TestOutbox outbox) throws Exception {
    new OutboxMigration(outbox.database.withPublication("my_publication")).run();
    assertThat(
            outbox.query(
                "select pubinsert and pubviaroot and not pubupdate from pg_publication where pubname = 'my_publication'"))
        .isEqualTo("t");
  }

  @Test
  void namesThatAreNoneAreRefused(TestOutbox outbox) {
    assertThatThrownBy(() -> new OutboxMigration(outbox.database.withPublication("a\"; drop")))
        .isInstanceOfSatisfying(
            RelayException.class, e -> assertThat(e.code()).isEqualTo(Code.NAME_UNUSABLE));
    assertThatThrownBy(() -> new OutboxMigration(outbox.database.withSlot("My-Slot")))
        .isInstanceOfSatisfying(
            RelayException.class, e -> assertThat(e.code()).isEqualTo(Code.NAME_UNUSABLE));
  }
}
