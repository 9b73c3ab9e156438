package dev.ichido.faults;

import dev.ichido.app.LoneRole.Kind;
import dev.ichido.faults.Operation.Part;
import dev.ichido.faults.Scenario.Group;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.replay.TopicTail;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.Topics;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** The thirteen faults that every idempotency layer is asked about. */
final class TheThirteen {
  private TheThirteen() {}

  static List<Scenario> all() {
    List<Scenario> all = new ArrayList<>();
    all.add(
        of(
            "concurrent-duplicate",
            List.of("F-01", "FR-11", "FR-12"),
            "20 operations, each committed by four connections at the same moment",
            "one effect each; all four deliveries are answered with its reference",
            act -> {
              for (int i = 0; i < 20; i++) {
                act.deliverTogether(act.operation(i % 2 == 0 ? "pay" : "charge"), 4);
              }
              act.settle();
            }));
    all.add(
        of(
            "key-reuse-mismatch",
            List.of("F-02", "M-02", "FR-04", "FR-41"),
            "the id of an operation comes back with another amount, while it runs and after",
            "FINGERPRINT_MISMATCH both times, one effect, and the original still replays",
            TheThirteen::keyReuse));
    all.add(
        of(
            "json-form",
            List.of("F-03", "FR-41"),
            "the same arguments in another order and number form, then with another amount",
            "REPLAYED for the other form, FINGERPRINT_MISMATCH for the other amount",
            TheThirteen::jsonForm));
    all.add(
        of(
            "timeout-before-accept",
            List.of("F-04", "FR-14", "FR-17"),
            "the remote reads 8 requests and neither commits nor answers; the network swallows 4"
                + " more",
            "UNKNOWN, then proven absent by two reads, then the effect, once",
            TheThirteen::timeoutBefore));
    all.add(
        of(
            "timeout-after-commit",
            List.of("F-05", "FR-09", "FR-13", "FR-14"),
            "the remote commits 8 requests and never answers; 4 more answers are lost on the wire",
            "UNKNOWN, no second call, found by a status read",
            TheThirteen::timeoutAfter));
    all.add(crash(Kind.RELAY, List.of("F-06", "FR-31")));
    all.add(crash(Kind.PROCESSOR, List.of("F-06", "M-03", "FR-10", "FR-30")));
    all.add(
        of(
            "crash-executor",
            List.of("F-06", "M-04", "FR-09", "FR-10", "FR-32"),
            "kill -9 of the executor three times under a load whose leases outlast its restart",
            "one effect each, every delivery answered; UNKNOWN only where a call was under way",
            TheThirteen::crashOfExecutor));
    all.add(crash(Kind.INBOX, List.of("F-06", "FR-10")));
    all.add(
        of(
            "crash-broker",
            List.of("F-06", "FR-22", "FR-31"),
            "kill -9 of the broker twice under load",
            "one effect each, every delivery answered",
            act -> act.underLoad(2, "the broker", () -> act.rig().killAndStartBroker())));
    all.add(
        of(
            "crash-database",
            List.of("F-06", "FR-22", "FR-31"),
            "kill -9 of every process of PostgreSQL under load: outbox, claims and inbox at once",
            "one effect each, every delivery answered",
            act ->
                act.underLoad(
                    1,
                    "the database",
                    () -> {
                      act.rig().killDatabase();
                      act.rig().startDatabase();
                    })));
    all.add(
        of(
            "crash-remote",
            List.of("F-06", "FR-14"),
            "kill -9 of the remote twice under load",
            "one effect each, every delivery answered",
            act ->
                act.underLoad(
                    2, "the remote", () -> act.rig().remote(RemoteKind.LEGACY).killAndStart())));
    all.add(
        of(
            "crash-executor-steps",
            List.of("F-06", "M-04", "FR-09", "FR-10", "FR-32"),
            "kill -9 of the executor with its commands received and not claimed; and under load with"
                + " its request on the way, with the effect done and the answer lost, and with the"
                + " result recorded but not sent; the leases of the load outlast its restarts",
            "one effect each; each call is made again only where the first never arrived",
            TheThirteen::executorSteps));
    all.add(
        of(
            "crash-executor-uncommitted",
            List.of("F-06", "M-04", "FR-09", "FR-32"),
            "kill -9 of the executor under load as soon as 20 results are in their topic, until three"
                + " kills came before the broker had the positions of their commands, or six in all;"
                + " all leases outlast its restarts",
            "at least one kill met results whose commands were not committed: they are handed out"
                + " again, and not called again; one effect each; UNKNOWN only where a dead"
                + " executor held the claim",
            TheThirteen::uncommitted));
    all.add(
        of(
            "crash-processor-steps",
            List.of("F-06", "M-03", "FR-10", "FR-30"),
            "kill -9 of the processor under load while the broker is silent, right after it counted"
                + " decisions; three times",
            "at least one kill met decisions that were not committed; one effect each, every"
                + " delivery answered",
            TheThirteen::processorSteps));
    all.add(
        of(
            "crash-inbox-steps",
            List.of("F-06", "M-03", "FR-10"),
            "kill -9 of the inbox under load while its transaction waits for a lock, with replies"
                + " read and not committed; three times",
            "one effect each, every delivery answered",
            TheThirteen::inboxSteps));
    all.add(
        of(
            "crash-database-steps",
            List.of("F-06", "FR-09", "FR-10", "FR-31"),
            "kill -9 of every process of PostgreSQL, under load with 20 operations in the outbox"
                + " and 20 replies on their way; with 20 intents and 20 results that nobody decided"
                + " on; with 20 commands that nobody claimed; with 16 calls on their way and 16"
                + " effects done, whose answers come while it is away; and after the load with"
                + " claims taken of which the executor was not told; all leases outlast its restarts",
            "one effect each, every delivery answered; of those held, one call each; none UNKNOWN",
            StepCrashes::ofDatabase));
    all.add(
        of(
            "crash-broker-steps",
            List.of("F-06", "FR-10", "FR-22", "FR-31"),
            "kill -9 of the broker under load at the first four of these steps, where the answers that"
                + " come while it is away are recorded with their claims",
            "one effect each, every delivery answered; of those held, one call each, none UNKNOWN",
            StepCrashes::ofBroker));
    all.add(
        of(
            "stale-in-progress",
            List.of("F-07", "M-05", "FR-01", "FR-13"),
            "6 operations run longer than their lease, and are delivered again while and after",
            "LEASE_EXPIRED, no second call, the late result settles every delivery",
            TheThirteen::staleInProgress));
    all.add(
        of(
            "replay-after-ttl",
            List.of("F-08", "M-06", "M-09", "FR-27"),
            "8 settled operations come again after their retention, and again after their"
                + " tombstone",
            "REPLAYED, then EXPIRED, then LATE_REPLAY: never a second effect",
            TheThirteen::afterTtl));
    all.add(
        of(
            "queue-redelivery",
            List.of("F-09", "FR-12", "FR-32"),
            "every intent, command and result of 30 operations is written to its topic again,"
                + " twice",
            "no second call of the remote, no other answer",
            TheThirteen::redelivery));
    all.add(
        of(
            "stale-resource-version",
            List.of("F-10", "M-15", "FR-17"),
            "writes under a version that is stale by now, and the retry of one that made it stale",
            "the stale write is refused by the remote, the retry replays, a lost answer is found",
            TheThirteen::staleVersion));
    all.add(
        of(
            "sdk-and-application-retry",
            List.of("F-11", "M-10", "FR-03", "FR-12", "FR-40"),
            "20 operations, tried three times by an SDK within each of three tries of the"
                + " application",
            "9 deliveries, 1 call and 1 effect each",
            TheThirteen::nestedRetries));
    all.add(
        of(
            "cross-tenant-and-region",
            List.of("F-12", "M-08", "M-18", "FR-08", "FR-44"),
            "one id in two tenants, in two regions, and from another principal of the tenant; a region"
                + " and an id that read the same as others when glued; and a region where the action"
                + " has none",
            "one effect for each tenant and region; the other principal learns nothing; where the"
                + " action has no regions, SCOPE_MISMATCH and no effect",
            TheThirteen::crossTenant));
    all.add(
        of(
            "partial-steps",
            List.of("F-13", "M-12", "FR-02", "FR-10"),
            "workflows of three steps that fail or lose their executor in the second, and run again"
                + " from the start; a step that failed is asked for anew, under another id",
            "each step that was decided on replays, each other one runs, none twice",
            TheThirteen::partialSteps));
    return all;
  }

  private static Scenario of(
      String id, List<String> covers, String does, String expected, Scenario.Body body) {
    return new Scenario(id, Group.THE_THIRTEEN, covers, does, expected, body);
  }

  private static Scenario crash(Kind role, List<String> covers) {
    return of(
        "crash-" + role.word(),
        covers,
        "kill -9 of the " + role.word() + " three times under load",
        "one effect each, every delivery answered",
        act -> act.underLoad(3, "the " + role.word(), () -> act.rig().killAndStart(role)));
  }

  private static void crashOfExecutor(Act act) throws InterruptedException {
    act.underLoad(
        act.load("pay.patient"), 3, "the executor", () -> act.rig().killAndStart(Kind.EXECUTOR));
    checkCalledWhereUnknown(act);
  }

  /** Under leases that outlast the restarts, only a claim that a dead executor held is UNKNOWN. */
  private static void checkCalledWhereUnknown(Act act) {
    long uncalled = act.unknownWithoutCall();
    act.check(uncalled == 0, uncalled + " operations were UNKNOWN without a call");
  }

  private static void keyReuse(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    for (int i = 0; i < 4; i++) {
      Operation original = act.operation("pay");
      Operation changed = original.with(Part.ARGUMENTS, original.arguments().replace("100", "101"));
      remote.add(Fault.of(FaultKind.HOLD_BEFORE_COMMIT).forBusinessKey(original.business()));
      String first = act.deliver(original);
      act.await("the request of the first", () -> remote.held() > 0);
      act.awaitVerdict(act.deliver(changed), "FINGERPRINT_MISMATCH");
      remote.release();
      act.awaitLast(first);
      act.awaitVerdict(act.deliver(changed), "FINGERPRINT_MISMATCH");
      act.awaitVerdict(act.deliver(original), "REPLAYED");
    }
    act.settle();
  }

  private static void jsonForm(Act act) throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      Operation operation = act.operation("pay");
      act.awaitLast(act.deliver(operation));
      for (String amount : List.of("100", "100.0", "1e2", "10000E-2")) {
        act.awaitVerdict(
            act.deliver(
                operation.with(
                    Part.ARGUMENTS,
                    "{ \"amount\": %s, \"order\": \"%s\" }"
                        .formatted(amount, operation.business()))),
            "REPLAYED");
      }
      act.awaitVerdict(
          act.deliver(
              operation.with(
                  Part.ARGUMENTS,
                  "{\"amount\":100.01,\"order\":\"%s\"}".formatted(operation.business()))),
          "FINGERPRINT_MISMATCH");
    }
    act.settle();
  }

  private static void timeoutBefore(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    List<Operation> operations = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Operation operation = act.operation("pay");
      operations.add(operation);
      remote.add(Fault.of(FaultKind.TIMEOUT_BEFORE_COMMIT).forBusinessKey(operation.business()));
      act.deliver(operation);
    }
    act.await("8 requests that are held", () -> remote.held() >= 8);
    remote.wire().silence();
    List<String> deliveries = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Operation operation = act.operation("pay");
      operations.add(operation);
      deliveries.add(act.deliver(operation));
    }
    for (String delivery : deliveries) {
      act.awaitSaid(delivery, "SETTLED");
    }
    remote.wire().cut();
    remote.wire().open();
    act.settle();
    long blind = operations.stream().filter(it -> !isProvenAbsent(act.lines(it))).count();
    act.check(blind == 0, blind + " second attempts were made before the first was proven absent");
  }

  /**
   * Whether the first attempt was unknown, and two reads said absent, before there was a second.
   */
  private static boolean isProvenAbsent(List<JournalEntry> lines) {
    List<JournalEntry> first = lines.stream().takeWhile(it -> it.getAttempt() < 2).toList();
    return first.size() < lines.size()
        && first.stream().anyMatch(it -> it.getStateAfter().equals("UNKNOWN_RECONCILIATION"))
        && first.stream().filter(it -> "ABSENT".equals(it.getReported())).count() >= 2
        && first.stream().anyMatch(it -> it.getVerdict().equals("RECONCILED"));
  }

  private static void timeoutAfter(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    List<Operation> operations = new ArrayList<>();
    List<String> deliveries = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Operation operation = act.operation("pay");
      operations.add(operation);
      remote.add(Fault.of(FaultKind.ACCEPT_THEN_TIMEOUT).forBusinessKey(operation.business()));
      deliveries.add(act.deliver(operation));
    }
    for (String delivery : deliveries) {
      act.awaitSaid(delivery, "RECONCILED");
    }
    remote.wire().deafen();
    for (int i = 0; i < 4; i++) {
      Operation operation = act.operation("pay");
      operations.add(operation);
      act.deliver(operation);
      act.awaitEffects(remote, operation, 1);
    }
    remote.wire().cut();
    remote.wire().open();
    act.settle();
    act.checkCalledOnce(remote, operations);
  }

  private static void executorSteps(Act act) throws InterruptedException {
    Rig rig = act.rig();
    Remote remote = rig.remote(RemoteKind.LEGACY);
    List<Operation> effected = unclaimed(act);
    // At another remote, so that what is held and counted is the steps' own.
    Load load = act.load("charge.patient");

    remote.wire().silence();
    for (int i = 0; i < 4; i++) {
      act.deliver(act.operation("pay"));
    }
    act.await("4 requests on the way", () -> remote.wire().held() >= 4);
    act.awaitAtWork(load, 0.25, "the executor");
    rig.role(Kind.EXECUTOR).kill();
    remote.wire().cut();
    remote.wire().open();
    rig.killAndStart(Kind.EXECUTOR);
    act.did("killed with 4 requests on the way");

    List<Operation> unanswered = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Operation operation = act.operation("pay");
      unanswered.add(operation);
      remote.add(Fault.of(FaultKind.ACCEPT_THEN_TIMEOUT).forBusinessKey(operation.business()));
      act.deliver(operation);
    }
    for (Operation operation : unanswered) {
      act.awaitEffects(remote, operation, 1);
    }
    effected.addAll(unanswered);
    act.awaitAtWork(load, 0.5, "the executor");
    rig.killAndStart(Kind.EXECUTOR);
    act.did("killed with 4 effects done and no answer");
    remote.release();

    List<Operation> unsent = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Operation operation = act.operation("pay");
      unsent.add(operation);
      remote.add(Fault.of(FaultKind.HOLD_BEFORE_COMMIT).forBusinessKey(operation.business()));
      act.deliver(operation);
    }
    act.await("4 requests that are held", () -> remote.held() >= 4);
    rig.brokerWire().silence();
    remote.release();
    for (Operation operation : unsent) {
      act.awaitEffects(remote, operation, 1);
    }
    effected.addAll(unsent);
    act.await(
        "4 results that are recorded",
        () -> StepCrashes.claims(act, unsent, "recorded_at is not null") == 4);
    act.awaitAtWork(load, 0.75, "the executor");
    rig.role(Kind.EXECUTOR).kill();
    rig.brokerWire().open();
    rig.killAndStart(Kind.EXECUTOR);
    act.did("killed with 4 results recorded and not sent");
    load.await();
    act.settle();
    for (Operation operation : effected) {
      act.check(
          remote.writes(operation.business()) == 1, "an effect that was done was called again");
    }
  }

  /** Killed between its commands and their claims, it left nothing that the next one heeds. */
  private static List<Operation> unclaimed(Act act) throws InterruptedException {
    Wire wire = act.rig().databaseWire(Kind.EXECUTOR);
    List<Operation> operations = new ArrayList<>();
    wire.silence();
    for (int i = 0; i < 4; i++) {
      Operation operation = act.operation("pay.patient");
      operations.add(operation);
      act.deliver(operation);
    }
    act.await("4 commands", () -> act.journalled("CLAIMED") >= 4);
    act.await("claims on the way", () -> wire.held() > 0);
    act.rig().role(Kind.EXECUTOR).kill();
    wire.cut();
    wire.open();
    act.check(
        StepCrashes.claims(act, operations, "true") == 0, "a command was claimed before the kill");
    act.rig().killAndStart(Kind.EXECUTOR);
    act.did("killed with 4 commands received and not claimed");
    return operations;
  }

  private static void uncommitted(Act act) throws InterruptedException {
    Rig rig = act.rig();
    Remote remote = rig.remote(RemoteKind.LEGACY);
    Topic commands = rig.topic(Topics::commands);
    String group = rig.config().topics().prefix() + "-executor";
    List<Operation> operations = new ArrayList<>();
    Load load = act.load("charge.patient");
    int met = 0;
    for (int kills = 0; met < 3 && kills < 6; kills++) {
      long open;
      Set<String> held = new HashSet<>();
      try (TopicTail commanded = commands.follow();
          TopicTail results = rig.topic(Topics::results).follow()) {
        for (int i = 0; i < 20; i++) {
          Operation operation = act.operation("pay.lasting");
          operations.add(operation);
          held.add(operation.id());
          remote.add(Fault.of(FaultKind.HOLD_BEFORE_COMMIT).forBusinessKey(operation.business()));
          act.deliver(operation);
        }
        act.await("20 calls that are held", () -> remote.held() >= 20);
        act.awaitAtWork(load, Math.min(0.9, (kills + 1) * 0.25), "the executor");
        remote.release();
        act.awaitEach(results, held);
        rig.role(Kind.EXECUTOR).kill();
        Map<Integer, Long> committed = commands.committed(group);
        open =
            commanded.read().stream()
                .filter(it -> held.contains(Topic.operationId(it)))
                .filter(it -> it.offset() >= committed.getOrDefault(it.partition(), 0L))
                .count();
      }
      act.did("killed with 20 results sent, %d of whose commands were uncommitted".formatted(open));
      met += open > 0 ? 1 : 0;
      rig.killAndStart(Kind.EXECUTOR);
      act.await("what was not committed to be handed out again", () -> recorded(act) >= open);
    }
    load.await();
    act.settle();
    act.check(met > 0, "every command was committed before its kill");
    checkCalledWhereUnknown(act);
    act.checkCalledOnce(remote, operations);
  }

  /** Commands whose result was there before, since the executor started. */
  private static double recorded(Act act) throws InterruptedException {
    return act.rig().meter(Kind.EXECUTOR, "ichido_executor_claims", "\"recorded\"");
  }

  private static void processorSteps(Act act) throws InterruptedException {
    Rig rig = act.rig();
    int met = 0;
    for (int times = 0; times < 3; times++) {
      double sent = rig.meter(Kind.RELAY, "ichido_relay_records", "");
      double counted = claimed(act);
      long committed = act.journalled("CLAIMED");
      rig.role(Kind.PROCESSOR).pause();
      for (int i = 0; i < 40; i++) {
        act.deliver(act.operation(i % 4 == 0 ? "charge" : "pay"));
      }
      act.await(
          "40 intents in the topic",
          () -> rig.meter(Kind.RELAY, "ichido_relay_records", "") >= sent + 40);
      // It begins and ends with each kill, so that the counts before it are at rest.
      Load load = act.load(act.loadOperations() / 3 + 1, "pay", "charge");
      act.awaitAtWork(load, 0.5, "the processor");
      rig.role(Kind.PROCESSOR).resume();
      act.await("decisions", () -> claimed(act) > counted);
      rig.brokerWire().silence();
      double decided = claimed(act) - counted;
      rig.role(Kind.PROCESSOR).kill();
      rig.brokerWire().cut();
      rig.brokerWire().open();
      long kept = act.journalled("CLAIMED") - committed;
      act.did("killed with %.0f decisions, of which %d were committed".formatted(decided, kept));
      met += decided > kept ? 1 : 0;
      rig.killAndStart(Kind.PROCESSOR);
      load.await();
      act.settle();
    }
    act.check(met > 0, "every decision was committed before its kill");
  }

  private static double claimed(Act act) throws InterruptedException {
    return act.rig().meter(Kind.PROCESSOR, "ichido_verdicts", "\"CLAIMED\"");
  }

  private static void inboxSteps(Act act) throws InterruptedException, SQLException {
    Load load = act.load("pay", "charge");
    for (int times = 0; times < 3; times++) {
      List<Operation> operations = new ArrayList<>();
      try (Connection holder = act.rig().runtime().getConnection();
          Statement statement = holder.createStatement()) {
        statement.execute("lock table ichido.inbox_reply in exclusive mode");
        for (int i = 0; i < 20; i++) {
          Operation operation = act.operation("pay");
          operations.add(operation);
          act.deliver(operation);
        }
        for (Operation operation : operations) {
          act.awaitEffects(act.rig().remote(RemoteKind.LEGACY), operation, 1);
        }
        act.await(
            "the inbox to wait for the lock",
            () -> StepCrashes.isWaitedFor(statement, "ichido.inbox_reply"));
        act.awaitAtWork(load, (times + 1) * 0.25, "the inbox");
        act.rig().role(Kind.INBOX).kill();
        holder.rollback();
      }
      act.rig().killAndStart(Kind.INBOX);
    }
    load.await();
    act.settle();
  }

  private static double expired(Act act) throws InterruptedException {
    return act.rig().meter(Kind.PROCESSOR, "ichido_verdicts", "LEASE_EXPIRED");
  }

  private static void staleInProgress(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    double before = expired(act);
    List<Operation> operations = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Operation operation = act.operation("pay.hasty");
      operations.add(operation);
      remote.add(
          Fault.of(FaultKind.SLOW)
              .withDelay(Duration.ofSeconds(5))
              .forBusinessKey(operation.business()));
      act.deliver(operation);
    }
    for (Operation operation : operations) {
      act.awaitEffects(remote, operation, 1);
      act.deliver(operation);
    }
    act.await("6 leases that are over", () -> expired(act) >= before + 6);
    for (Operation operation : operations) {
      act.deliver(operation);
    }
    act.settle();
    act.checkCalledOnce(remote, operations);
  }

  private static void afterTtl(Act act) throws InterruptedException {
    List<Operation> operations = new ArrayList<>();
    List<String> first = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Operation operation = act.operation("pay.brief");
      operations.add(operation);
      first.add(act.deliver(operation));
    }
    for (String delivery : first) {
      act.awaitLast(delivery);
    }
    act.awaitVerdict(act.deliver(operations.getLast()), "REPLAYED");
    Patience.pass(Duration.ofSeconds(5));
    deliverLate(act, operations, "EXPIRED");
    Patience.pass(Duration.ofSeconds(7));
    deliverLate(act, operations, "LATE_REPLAY");
    Topic intents = act.rig().topic(Topics::intents);
    List<ConsumerRecord<byte[], byte[]>> again = intents.read(act.prefix());
    double before = act.rig().meter(Kind.PROCESSOR, "ichido_verdicts", "LATE_REPLAY");
    intents.write(again, key -> key);
    act.did("wrote %d old records to the queue again".formatted(again.size()));
    act.await(
        "a refusal of each old record",
        () ->
            act.rig().meter(Kind.PROCESSOR, "ichido_verdicts", "LATE_REPLAY")
                >= before + again.size());
    act.settle();
  }

  private static void deliverLate(Act act, List<Operation> operations, String verdict)
      throws InterruptedException {
    List<String> deliveries = new ArrayList<>();
    for (Operation operation : operations) {
      String delivery = act.deliver(operation);
      act.late(delivery);
      deliveries.add(delivery);
    }
    for (String delivery : deliveries) {
      act.awaitVerdict(delivery, verdict);
    }
  }

  private static void redelivery(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    List<Operation> operations = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      Operation operation = act.operation("pay");
      operations.add(operation);
      act.deliver(operation);
    }
    act.settle();
    Map<Topic, List<ConsumerRecord<byte[], byte[]>>> records = new LinkedHashMap<>();
    for (Function<Topics, String> which :
        List.<Function<Topics, String>>of(Topics::intents, Topics::commands, Topics::results)) {
      Topic topic = act.rig().topic(which);
      records.put(topic, topic.read(act.prefix()));
    }
    int all = records.values().stream().mapToInt(List::size).sum();
    double before = ignored(act);
    for (int times = 0; times < 2; times++) {
      for (Map.Entry<Topic, List<ConsumerRecord<byte[], byte[]>>> topic : records.entrySet()) {
        topic.getKey().write(topic.getValue(), key -> key);
      }
    }
    act.did("%d records came again, twice".formatted(all));
    act.await(
        "every result to be ignored",
        () -> ignored(act) >= before + 2.0 * (all - operations.size()));
    for (Operation operation : operations) {
      act.awaitVerdict(act.deliver(operation), "REPLAYED");
      act.check(remote.writes(operation.business()) == 1, "the remote was called more than once");
    }
    act.settle();
  }

  private static double ignored(Act act) throws InterruptedException {
    return act.rig().meter(Kind.PROCESSOR, "ichido_verdicts", "DUPLICATE_RESULT");
  }

  private static void staleVersion(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.GCLOUD);
    for (int i = 0; i < 3; i++) {
      Operation first = put(act.operation("object.put"), "0", null);
      String object = first.business();
      act.awaitLast(act.deliver(first));
      Operation stale = put(act.operation("object.put"), "0", object);
      act.expect(stale, 0, 0);
      act.check(
          "FAILED_TERMINAL".equals(act.awaitLast(act.deliver(stale)).state()),
          "a write under a stale version was not refused");
      act.awaitVerdict(act.deliver(first), "REPLAYED");
      Operation next = put(act.operation("object.put"), "1", object);
      remote.add(Fault.of(FaultKind.RESET_AFTER_COMMIT).forBusinessKey(next.business()));
      act.awaitLast(act.deliver(next));
      act.awaitVerdict(act.deliver(next), "REPLAYED");
    }
    act.settle();
  }

  private static Operation put(Operation operation, String version, @Nullable String object) {
    return operation
        .with(
            Part.ARGUMENTS,
            "{\"order\":\"%s\",\"object\":\"%s\"}"
                .formatted(operation.business(), object == null ? operation.business() : object))
        .with(Part.PRECONDITION, version);
  }

  private static void nestedRetries(Act act) throws InterruptedException {
    List<Operation> operations = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      operations.add(act.operation("pay"));
    }
    for (int application = 0; application < 3; application++) {
      for (Operation operation : operations) {
        act.deliverTogether(operation, 3);
      }
    }
    act.settle();
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    act.checkCalledOnce(remote, operations);
  }

  private static void crossTenant(Act act) throws InterruptedException {
    for (int i = 0; i < 5; i++) {
      Operation one = act.operation("pay");
      Operation other =
          act.operation("pay")
              .with(Part.ID, one.id())
              .with(Part.TENANT, "t2")
              .with(Part.PRINCIPAL, "agent:c");
      String first = act.deliver(one);
      act.deliver(other);
      act.awaitLast(first);
      Operation stranger = one.with(Part.TENANT, "t1").with(Part.PRINCIPAL, "agent:b");
      String asked = act.deliver(stranger);
      act.awaitVerdict(asked, "UNAUTHORIZED");
      act.check(
          act.replies(asked).stream()
              .allMatch(
                  it -> it.body() == null && it.remoteReference() == null && it.state() == null),
          "another principal was told of the operation");
      Operation regional = act.operation("pay.regional");
      for (String region : List.of("region:eu-west-1", "region:us-east-1")) {
        inRegion(act, regional, region);
      }
      Operation glued = act.operation("pay.regional");
      inRegion(act, glued, "region:eu_west");
      inRegion(act, glued.with(Part.ID, "west_" + glued.id()), "region:eu");
      Operation elsewhere = act.operation("pay").with(Part.SCOPE, "region:eu-west-1");
      act.expect(elsewhere, 0, 0);
      act.awaitRefused(act.deliver(elsewhere), "SCOPE_MISMATCH");
    }
    act.settle();
  }

  private static void inRegion(Act act, Operation operation, String region)
      throws InterruptedException {
    Operation there =
        operation.with(Part.SCOPE, region).withBusiness(operation.business() + "@" + region);
    act.rename(operation, there);
    act.deliver(there);
  }

  private static Operation step(Act act, String workflow, String step) {
    return act.operation("pay").with(Part.WORKFLOW, workflow).with(Part.STEP, step);
  }

  private static void partialSteps(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    for (int i = 0; i < 4; i++) {
      String workflow = act.prefix() + "workflow-" + i;
      Operation first = step(act, workflow, "1");
      Operation second = step(act, workflow, "2");
      Operation third = step(act, workflow, "3");
      act.awaitLast(act.deliver(first));
      if (i % 2 == 0) {
        remote.add(Fault.of(FaultKind.REFUSAL).forBusinessKey(second.business()));
        act.expect(second, 0, 0);
        act.awaitLast(act.deliver(second));
        act.awaitVerdict(act.deliver(first), "REPLAYED");
        act.awaitVerdict(act.deliver(second), "REPLAYED");
        act.awaitLast(act.deliver(step(act, workflow, "2")));
      } else {
        remote.add(Fault.of(FaultKind.ACCEPT_THEN_TIMEOUT).forBusinessKey(second.business()));
        act.deliver(second);
        act.awaitEffects(remote, second, 1);
        act.rig().killAndStart(Kind.EXECUTOR);
        act.awaitVerdict(act.deliver(first), "REPLAYED");
        act.awaitLast(act.deliver(second));
      }
      act.awaitVerdict(act.deliver(third), "SETTLED");
    }
    act.settle();
  }
}
