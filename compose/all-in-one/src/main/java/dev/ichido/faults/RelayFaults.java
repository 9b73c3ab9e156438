package dev.ichido.faults;

import dev.ichido.app.LoneRole.Kind;
import dev.ichido.faults.Operation.Part;
import dev.ichido.faults.Scenario.Group;
import dev.ichido.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** What can go wrong between the outbox and Kafka. */
final class RelayFaults {
  /** In the words of its Kafka client, or in its own. */
  private static final Pattern LOST_BROKER =
      Pattern.compile("[Dd]isconnected|could not be established|BROKER_UNREACHABLE");

  private static final Pattern FENCED = Pattern.compile("another one took over");

  private RelayFaults() {}

  static List<Scenario> all() {
    return List.of(
        of(
            "relay-open-transaction",
            List.of("FR-20"),
            "a transaction writes 5 rows before and 5 after another one commits, stays open over a"
                + " kill of the relay, and commits while the relay is down",
            "all 11 operations have their effect",
            RelayFaults::openTransaction),
        of(
            "relay-overlapping-transactions",
            List.of("FR-25"),
            "two transactions write one operation with two amounts; the one begun later commits"
                + " first",
            "commit order decides: the first to commit runs, the other is a FINGERPRINT_MISMATCH",
            RelayFaults::overlapping),
        of(
            "relay-slot-dropped",
            List.of("FR-21"),
            "the relay is killed and its slot dropped under load, and the load goes on; meanwhile"
                + " five operations are written with two amounts, and the one written later commits"
                + " first",
            "the relay says SLOT_MISSING, makes the slot anew, sends what the table holds in commit"
                + " order and goes on; nothing comes more than twice",
            RelayFaults::slotDropped),
        of(
            "relay-slot-moved",
            List.of("FR-21", "FR-31"),
            "the relay is killed under load, and somebody moves its slot past rows that were never"
                + " sent",
            "the audit of the outbox against what was acknowledged finds the rows and sends them",
            RelayFaults::slotMoved),
        of(
            "relay-transport-errors",
            List.of("FR-22", "FR-31"),
            "under load, the connections to the broker are reset, cut and silent by turns; and"
                + " those of the relay to the database",
            "the relay loses connections of both kinds; one effect each, every delivery answered",
            RelayFaults::transport),
        of(
            "relay-quiet-outbox",
            List.of("FR-23"),
            "other tables write 60 MB while the outbox is quiet",
            "the slot's lag returns to less than 1 MB by itself",
            RelayFaults::quiet),
        of(
            "relay-paused",
            List.of("FR-24", "FR-31"),
            "SIGSTOP of the relay under load, in the middle of what it sends, until another one has"
                + " taken its slot, then SIGCONT; until it went on to write before it saw that its"
                + " connection to the database is gone, three times at most",
            "the first gives way and says SLOT_HELD, and is fenced where it goes on to write; nothing"
                + " comes more often than relays began; one effect each",
            RelayFaults::paused),
        of(
            "relay-killed-often",
            List.of("FR-31", "FR-20"),
            "kill -9 of the relay eight times under load",
            "no intent lost, none comes more often than relays began; one effect each",
            RelayFaults::killedOften),
        of(
            "relay-killed-unacknowledged",
            List.of("FR-31", "FR-22"),
            "under load the broker falls silent, the relay reads 30 rows that nobody acknowledges, and"
                + " is killed; three times. Then the database falls silent, and the relay is killed"
                + " with 30 rows that were acknowledged and have not moved its position",
            "only what was acknowledged moved the position: all have their effect, the last 30 come"
                + " twice, and the audit had nothing to mend",
            RelayFaults::unacknowledged),
        of(
            "relay-idle",
            List.of("FR-29"),
            "nothing happens for longer than the broker keeps a transactional id, twice",
            "the first intent afterwards has its effect",
            RelayFaults::idle),
        of(
            "back-dated-records",
            List.of("FR-26"),
            "records are written to the work topics with a time of 1970",
            "the broker stamps its own time: retention never deletes them unread",
            RelayFaults::backDated));
  }

  private static Scenario of(
      String id, List<String> covers, String does, String expected, Scenario.Body body) {
    return new Scenario(id, Group.RELAY, covers, does, expected, body);
  }

  private static void openTransaction(Act act) throws InterruptedException, SQLException {
    Map<String, Operation> rows = new HashMap<>();
    try (Connection open = act.rig().runtime().getConnection()) {
      for (int i = 0; i < 5; i++) {
        Operation operation = act.operation("pay");
        rows.put(act.deliver(open, operation), operation);
      }
      act.awaitLast(act.deliver(act.operation("pay")));
      for (int i = 0; i < 5; i++) {
        Operation operation = act.operation("pay");
        rows.put(act.deliver(open, operation), operation);
      }
      act.rig().role(Kind.RELAY).kill();
      open.commit();
    }
    rows.forEach(act::committed);
    act.settle();
  }

  private static void overlapping(Act act) throws InterruptedException, SQLException {
    for (int i = 0; i < 5; i++) {
      Operation late = act.operation("pay");
      Overlap overlap = overlap(act, late);
      act.awaitVerdict(overlap.refused(), "FINGERPRINT_MISMATCH");
      act.awaitLast(overlap.ran());
      act.awaitVerdict(act.deliver(late), "REPLAYED");
    }
    act.settle();
  }

  /** The deliveries of two transactions: commit order makes the one run, the other is refused. */
  private record Overlap(String ran, String refused) {}

  /** Writes the operation with another amount, then as it is, and commits the later one first. */
  private static Overlap overlap(Act act, Operation late)
      throws InterruptedException, SQLException {
    Operation early = late.with(Part.ARGUMENTS, late.arguments().replace("100", "101"));
    try (Connection begun = act.rig().runtime().getConnection()) {
      String refused = act.deliver(begun, early);
      String ran = act.deliver(late);
      begun.commit();
      act.committed(refused, early);
      return new Overlap(ran, refused);
    }
  }

  private static void slotDropped(Act act) throws InterruptedException, SQLException {
    Load load = act.load("pay", "pay", "pay", "charge");
    load.awaitShare(act.schedule().share(0.2, 0.4));
    act.rig().role(Kind.RELAY).kill();
    act.await(
        "the slot to be dropped",
        () -> onSlot(act, "select pg_drop_replication_slot('ichido_outbox')"));
    act.did("dropped the slot after %d operations".formatted(load.awaitShare(0)));
    load.awaitShare(0.7);
    List<String> refused = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      refused.add(overlap(act, act.operation("pay")).refused());
    }
    act.rig().killAndStart(Kind.RELAY);
    load.await();
    act.settle();
    for (String delivery : refused) {
      act.awaitVerdict(delivery, "FINGERPRINT_MISMATCH");
    }
    act.check(says(act, "SLOT_MISSING"), "the loss was not said");
    double filled = act.rig().meter(Kind.RELAY, "ichido_relay_backfilled", "");
    act.check(filled > 0, "the meter of the back-fill counts nothing");
    act.did("%.0f rows were sent from the table".formatted(filled));
    countTwice(act, 2);
  }

  private static void slotMoved(Act act) throws InterruptedException {
    Load load = act.load("pay", "pay", "pay", "charge");
    load.awaitShare(act.schedule().share(0.2, 0.4));
    act.rig().role(Kind.RELAY).kill();
    load.awaitShare(0.6);
    act.await(
        "the slot to be moved",
        () ->
            onSlot(
                act, "select pg_replication_slot_advance('ichido_outbox', pg_current_wal_lsn())"));
    act.did("moved the slot after %d operations".formatted(load.awaitShare(0)));
    act.rig().killAndStart(Kind.RELAY);
    load.await();
    act.settle();
    act.check(act.foundByAudit() > 0, "the audit found nothing");
  }

  /** The server lets a slot go when it has seen that its reader is gone. */
  private static boolean onSlot(Act act, String sql) {
    try (Connection connection = act.rig().runtime().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
      connection.commit();
      return true;
    } catch (SQLException stillRead) {
      return false;
    }
  }

  private static void transport(Act act) throws InterruptedException {
    double before = restarts(act);
    long said = act.rig().role(Kind.RELAY).lines().count();
    Load load = act.load("pay", "pay", "pay", "charge");
    Wire broker = act.rig().brokerWire();
    Wire database = act.rig().databaseWire(Kind.RELAY);
    int strike = 0;
    for (Wire wire : List.of(broker, database, broker, database)) {
      load.awaitShare(act.schedule().share((strike + 0.1) / 4, (strike + 0.6) / 4));
      wire.blink();
      Patience.pass(act.schedule().time(Duration.ofMillis(200), Duration.ofMillis(500)));
      if (strike++ < 2) {
        wire.cut();
      } else {
        wire.silence();
      }
      Patience.pass(act.schedule().time(Duration.ofMillis(500), Duration.ofMillis(2_000)));
      wire.open();
    }
    load.await();
    act.settle();
    double again = restarts(act) - before;
    long told =
        act.rig().role(Kind.RELAY).lines().skip(said).filter(LOST_BROKER.asPredicate()).count();
    act.did(
        "the relay began again %.0f times and told %d times that it lost the broker"
            .formatted(again, told));
    act.check(again > 0, "the relay lost no connection to the database");
    act.check(told > 0, "the relay lost no connection to the broker");
  }

  private static double restarts(Act act) throws InterruptedException {
    return act.rig().meter(Kind.RELAY, "ichido_relay_restarts", "");
  }

  private static void quiet(Act act) throws InterruptedException, SQLException {
    act.awaitLast(act.deliver(act.operation("pay")));
    try (Connection connection = act.rig().runtime().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("create table if not exists neighbour (line text)");
      for (int i = 0; i < 6; i++) {
        statement.execute(
            "insert into neighbour select repeat(md5(g::text), 32) from generate_series(1, 10000)"
                + " g");
        connection.commit();
      }
      statement.execute("drop table neighbour");
      connection.commit();
    }
    act.await("a slot without lag", () -> lag(act) < 1 << 20);
    act.awaitLast(act.deliver(act.operation("pay")));
    act.settle();
  }

  private static long lag(Act act) {
    try (Connection connection = act.rig().runtime().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "select pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)"
                    + " from pg_replication_slots where slot_name = 'ichido_outbox'")) {
      return row.next() ? row.getLong(1) : Long.MAX_VALUE;
    } catch (SQLException away) {
      return Long.MAX_VALUE;
    }
  }

  private static void paused(Act act) throws InterruptedException {
    Rig rig = act.rig();
    long said = rig.role(Kind.RELAY).lines().count();
    Load load = act.load("pay", "pay", "pay", "charge");
    boolean fenced = false;
    int times = 0;
    while (!fenced && times < 3) {
      double begun = times++ * 0.3;
      load.awaitShare(act.schedule().share(begun + 0.05, begun + 0.1));
      // What it sends is not acknowledged, so that it has a transaction to end when it wakes up.
      rig.brokerWire().silence();
      load.awaitShare(begun + 0.2);
      Patience.pass(Duration.ofSeconds(1));
      rig.role(Kind.RELAY).pause();
      rig.brokerWire().open();
      Rig.Instance other = rig.startAnother(Kind.RELAY);
      rig.awaitReady(other);
      load.awaitShare(begun + 0.25);
      rig.role(Kind.RELAY).resume();
      act.await("the first to give way", () -> rig.problem(Kind.RELAY).equals("SLOT_HELD"));
      fenced = rig.role(Kind.RELAY).lines().skip(said).anyMatch(FENCED.asPredicate());
      // Whoever holds the slot keeps it; the first one gets it back when this one is gone.
      other.jvm().end();
      act.await("the first to relay again", () -> rig.problem(Kind.RELAY).isEmpty());
    }
    act.did("another relay took over %d times".formatted(times));
    act.check(fenced, "the first was never fenced as it wrote");
    load.await();
    act.settle();
    countTwice(act, 1 + 2 * times);
  }

  private static void killedOften(Act act) throws InterruptedException {
    act.underLoad(8, "the relay", () -> act.rig().killAndStart(Kind.RELAY));
    countTwice(act, 9);
  }

  private static void unacknowledged(Act act) throws InterruptedException {
    Load load = act.load("pay", "pay", "pay", "charge");
    for (int times = 0; times < 3; times++) {
      act.rig().brokerWire().silence();
      for (int i = 0; i < 30; i++) {
        act.deliver(act.operation("pay"));
      }
      act.await("the relay to send", () -> act.rig().brokerWire().held() > 0);
      Patience.pass(act.schedule().time(Duration.ofSeconds(1), Duration.ofSeconds(2)));
      act.awaitAtWork(load, (times + 1) * 0.25, "the relay");
      act.rig().role(Kind.RELAY).kill();
      act.rig().brokerWire().cut();
      act.rig().brokerWire().open();
      act.rig().killAndStart(Kind.RELAY);
    }
    load.await();
    act.settle();
    beforeTheSlotMoves(act);
  }

  private static void beforeTheSlotMoves(Act act) throws InterruptedException {
    Rig rig = act.rig();
    rig.brokerWire().silence();
    Set<String> last = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      Operation operation = act.operation("pay");
      last.add(operation.id());
      act.deliver(operation);
    }
    Patience.pass(act.schedule().time(Duration.ofSeconds(1), Duration.ofSeconds(2)));
    rig.databaseWire(Kind.RELAY).silence();
    rig.brokerWire().open();
    act.await("the last 30 rows in the topic", () -> times(act, last::contains).size() == 30);
    rig.role(Kind.RELAY).kill();
    rig.databaseWire(Kind.RELAY).cut();
    rig.databaseWire(Kind.RELAY).open();
    rig.killAndStart(Kind.RELAY);
    act.await(
        "the last 30 rows once more, since they had not moved the position",
        () -> times(act, last::contains).values().stream().allMatch(it -> it > 1));
    act.settle();
    countTwice(act, 5);
  }

  private static boolean says(Act act, String text) {
    return act.rig().role(Kind.RELAY).lines().anyMatch(line -> line.contains(text));
  }

  /**
   * How many intents came more than once; the processor takes each delivery for what it is.
   *
   * @param most how often one may come: a relay sends it again only when it begins anew
   */
  private static void countTwice(Act act, int most) {
    Map<String, Integer> times = times(act, any -> true);
    long twice = times.values().stream().filter(it -> it > 1).count();
    act.did("%d intents in the topic, %d of them more than once".formatted(times.size(), twice));
    int often = times.values().stream().mapToInt(it -> it).max().orElse(0);
    act.check(often <= most, "an intent came %d times".formatted(often));
  }

  /** How often each intent of this scenario's operations with such an id is in the topic. */
  private static Map<String, Integer> times(Act act, Predicate<String> id) {
    Map<String, Integer> times = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> record :
        act.rig().topic(Topics::intents).read(act.prefix())) {
      if (id.test(Topic.operationId(record))) {
        times.merge(new String(record.value(), StandardCharsets.ISO_8859_1), 1, Integer::sum);
      }
    }
    return times;
  }

  private static void idle(Act act) throws InterruptedException {
    act.rig()
        .restartBroker(
            "transactional.id.expiration.ms=4000",
            "transaction.remove.expired.transaction.cleanup.interval.ms=1000",
            "producer.id.expiration.ms=4000",
            "producer.id.expiration.check.interval.ms=1000");
    try {
      act.rig().heal();
      List<Operation> operations = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Operation operation = act.operation("pay");
        operations.add(operation);
        act.awaitLast(act.deliver(operation));
        act.awaitVerdict(act.deliver(operations.getFirst()), "REPLAYED");
        act.check(isKnown(act), "the broker does not know the relay");
        act.await("the broker to forget the relay", () -> !isKnown(act));
      }
      act.settle();
    } finally {
      act.rig().restartBroker();
    }
    act.settle();
  }

  /** Whether the broker keeps the relay's transactional id. */
  private static boolean isKnown(Act act) throws InterruptedException {
    try (Admin admin = Admin.create(Map.copyOf(act.rig().config().kafka().values()))) {
      return admin.listTransactions().all().get().stream()
          .anyMatch(it -> it.transactionalId().startsWith("ichido-relay-"));
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  private static void backDated(Act act) throws InterruptedException {
    Operation operation = act.operation("pay");
    act.awaitLast(act.deliver(operation));
    for (Topic topic :
        List.of(
            act.rig().topic(Topics::intents),
            act.rig().topic(Topics::commands),
            act.rig().topic(Topics::results),
            act.rig().topic(Topics::replies))) {
      long now = Act.now().toEpochMilli();
      topic.writeAt(topic.read(act.prefix()), 0L);
      act.check(
          topic.read(act.prefix()).stream()
              .allMatch(record -> record.timestamp() > now - Duration.ofHours(1).toMillis()),
          "a record has the time that its writer claimed");
    }
    act.awaitVerdict(act.deliver(operation), "REPLAYED");
    act.settle();
  }
}
