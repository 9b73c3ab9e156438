package dev.ichido.faults;

import dev.ichido.app.LoneRole.Kind;
import dev.ichido.faults.Act.Strike;
import dev.ichido.outbox.RecordKey;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.replay.TopicTail;
import dev.ichido.schemas.Topics;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Kills what every role leans on, while operations are held at a step of their way: by stopping the
 * role that would take them on, or by the remote. The leases outlast each hold, so that a second
 * call is a finding.
 */
final class StepCrashes {
  private static final int HELD = 20;

  /** At one remote: half of the calls that an executor makes of it at a time. */
  private static final int CALLING = 16;

  private final Act act;
  private final Rig rig;
  private final Remote remote;
  private final Strike kill;
  private final Strike start;
  private final String what;

  /** At another remote, so that what is held and counted is the steps' own. */
  private final Load load;

  private final List<Operation> calledOnce = new ArrayList<>();
  private double share;

  private StepCrashes(Act act, String what, Strike kill, Strike start) {
    this.act = act;
    this.rig = act.rig();
    this.remote = rig.remote(RemoteKind.LEGACY);
    this.what = what;
    this.kill = kill;
    this.start = start;
    this.load = act.load("charge.patient");
  }

  static void ofDatabase(Act act) throws InterruptedException, SQLException {
    Rig rig = act.rig();
    StepCrashes crashes =
        new StepCrashes(act, "the database", rig::killDatabase, rig::startDatabase);
    crashes.beforeRelayAndInbox();
    crashes.beforeProcessor();
    crashes.beforeExecutor();
    double before = unrecorded(act);
    crashes.aroundTheEffect(
        called -> act.await("results that can't be recorded", () -> unrecorded(act) > before));
    // What is left of it would be claimed in place of what the last step is about.
    crashes.load.await();
    act.settle();
    crashes.unheardClaims();
    crashes.end();
  }

  static void ofBroker(Act act) throws InterruptedException {
    Rig rig = act.rig();
    StepCrashes crashes = new StepCrashes(act, "the broker", rig::killBroker, rig::startBroker);
    crashes.beforeRelayAndInbox();
    crashes.beforeProcessor();
    crashes.beforeExecutor();
    crashes.aroundTheEffect(
        called ->
            act.await(
                "each result in its claim",
                () -> claims(act, called, "recorded_at is not null") == called.size()));
    crashes.end();
  }

  private static double unrecorded(Act act) throws InterruptedException {
    return act.rig().meter(Kind.EXECUTOR, "ichido_executor_trouble", "\"record\"");
  }

  private void beforeRelayAndInbox() throws InterruptedException {
    rig.role(Kind.INBOX).pause();
    Map<Operation, String> settled = deliver(HELD);
    Set<String> ids = ids(settled.keySet());
    act.await(
        "operations that are settled",
        () ->
            act.lines("SETTLED").stream().filter(it -> ids.contains(it.getOperationId())).count()
                >= HELD);
    rig.role(Kind.RELAY).pause();
    Map<Operation, String> committed = deliver(HELD);
    strike("operations in the outbox and as many replies on their way");
    rig.role(Kind.RELAY).resume();
    rig.role(Kind.INBOX).resume();
    awaitLast(settled);
    awaitLast(committed);
  }

  private void beforeProcessor() throws InterruptedException {
    Map<Operation, String> called = deliver(HELD, Fault.of(FaultKind.HOLD_BEFORE_COMMIT));
    act.await("calls that are held", () -> remote.held() >= HELD);
    rig.role(Kind.PROCESSOR).pause();
    Map<Operation, String> relayed;
    try (TopicTail results = rig.topic(Topics::results).follow();
        TopicTail intents = rig.topic(Topics::intents).follow()) {
      remote.release();
      relayed = deliver(HELD);
      act.awaitEach(results, ids(called.keySet()));
      act.awaitEach(intents, ids(relayed.keySet()));
    }
    strike("intents and as many results in their topics, which nobody decided on");
    rig.role(Kind.PROCESSOR).resume();
    awaitLast(called);
    awaitLast(relayed);
  }

  private void beforeExecutor() throws InterruptedException {
    rig.role(Kind.EXECUTOR).pause();
    Map<Operation, String> commanded;
    try (TopicTail commands = rig.topic(Topics::commands).follow()) {
      commanded = deliver(HELD);
      act.awaitEach(commands, ids(commanded.keySet()));
    }
    strike("commands in their topic, which nobody claimed");
    rig.role(Kind.EXECUTOR).resume();
    awaitLast(commanded);
  }

  /** What is waited for while the rig lacks what was killed. */
  private interface Meanwhile {
    void await(List<Operation> called) throws InterruptedException;
  }

  private void aroundTheEffect(Meanwhile meanwhile) throws InterruptedException {
    Map<Operation, String> called = deliver(CALLING, Fault.of(FaultKind.HOLD_BEFORE_COMMIT));
    Map<Operation, String> effected =
        deliver(CALLING, Fault.of(FaultKind.SLOW).withDelay(Duration.ZERO));
    act.await("calls that are held", () -> remote.held() >= 2 * CALLING);
    awaitEffects(effected);
    kill();
    act.did(
        "killed with %d calls on their way and %d effects done and not answered"
            .formatted(CALLING, CALLING));
    remote.release();
    awaitEffects(called);
    List<Operation> all = new ArrayList<>(called.keySet());
    all.addAll(effected.keySet());
    meanwhile.await(all);
    act.did("every answer came while it was away");
    start.now();
    awaitLast(called);
    awaitLast(effected);
  }

  /** Claims are there and who took them does not know it: it asks again, and no call was begun. */
  private void unheardClaims() throws InterruptedException, SQLException {
    Wire wire = rig.databaseWire(Kind.EXECUTOR);
    rig.role(Kind.EXECUTOR).pause();
    Map<Operation, String> commanded;
    try (TopicTail commands = rig.topic(Topics::commands).follow()) {
      commanded = deliver(HELD);
      act.awaitEach(commands, ids(commanded.keySet()));
    }
    try (Connection holder = rig.runtime().getConnection();
        Statement statement = holder.createStatement()) {
      statement.execute("lock table ichido.claim in exclusive mode");
      rig.role(Kind.EXECUTOR).resume();
      act.await("the executor to wait for the lock", () -> isWaitedFor(statement, "ichido.claim"));
      wire.deafen();
      holder.rollback();
    }
    List<Operation> operations = List.copyOf(commanded.keySet());
    act.await("a claim", () -> claims(act, operations, "true") > 0);
    act.did(
        "killed with %d of %d claims taken, of which the executor was not told"
            .formatted(claims(act, operations, "true"), HELD));
    kill.now();
    wire.cut();
    start.now();
    wire.open();
    awaitLast(commanded);
  }

  private void kill() throws InterruptedException {
    share += 0.2;
    act.awaitAtWork(load, share, what);
    kill.now();
  }

  private void strike(String held) throws InterruptedException {
    kill();
    start.now();
    act.did("killed with %d %s".formatted(HELD, held));
  }

  private void end() throws InterruptedException {
    load.await();
    act.settle();
    act.checkCalledOnce(remote, calledOnce);
    Set<String> held = ids(calledOnce);
    act.check(
        act.lines("LEASE_EXPIRED").stream().noneMatch(it -> held.contains(it.getOperationId())),
        "a lease ended that was to outlast the hold");
  }

  private static Set<String> ids(Collection<Operation> operations) {
    return operations.stream().map(Operation::id).collect(Collectors.toUnmodifiableSet());
  }

  /** Each meets the faults, if there are any. */
  private Map<Operation, String> deliver(int count, Fault... faults) throws InterruptedException {
    Map<Operation, String> deliveries = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      Operation operation = act.operation("pay.lasting");
      calledOnce.add(operation);
      for (Fault fault : faults) {
        remote.add(fault.forBusinessKey(operation.business()));
      }
      deliveries.put(operation, act.deliver(operation));
    }
    return deliveries;
  }

  private void awaitLast(Map<Operation, String> deliveries) throws InterruptedException {
    for (String delivery : deliveries.values()) {
      act.awaitLast(delivery);
    }
  }

  private void awaitEffects(Map<Operation, String> deliveries) throws InterruptedException {
    for (Operation operation : deliveries.keySet()) {
      act.awaitEffects(remote, operation, 1);
    }
  }

  /** A look into the claims, only to strike at the right moment; none while they are away. */
  static int claims(Act act, List<Operation> operations, String that) {
    try (Connection connection = act.rig().runtime().getConnection();
        PreparedStatement claims =
            connection.prepareStatement(
                "select count(*) from ichido.claim where " + that + " and record_key = ?")) {
      int count = 0;
      for (Operation operation : operations) {
        claims.setString(1, RecordKey.of(operation.tenant(), operation.scope(), operation.id()));
        try (ResultSet row = claims.executeQuery()) {
          row.next();
          count += row.getInt(1);
        }
      }
      return count;
    } catch (SQLException away) {
      return 0;
    }
  }

  /** Whether somebody waits for a lock on the table. */
  static boolean isWaitedFor(Statement statement, String table) {
    try (ResultSet row =
        statement.executeQuery(
            "select exists (select from pg_locks where relation = '%s'::regclass and not granted)"
                .formatted(table))) {
      return row.next() && row.getBoolean(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
