package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.app.LoneRole.Kind;
import dev.ichido.faults.Operation.Part;
import dev.ichido.faults.Scenario.Group;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.KeyFields;
import dev.ichido.outbox.Lineage;
import dev.ichido.outbox.OperationIds;
import dev.ichido.outbox.TenantKey;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.Faults;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.remotes.StatusMode;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.Topics;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The ways in which idempotency layers are known to fail, beyond the thirteen. */
final class FailureModes {
  /** What a remote may do with a request, in the order of the field report. */
  private static final List<FaultKind> SEVEN =
      List.of(
          FaultKind.ACCEPT_THEN_TIMEOUT,
          FaultKind.ERROR_AFTER_COMMIT,
          FaultKind.ANSWER_TWICE,
          FaultKind.SLOW,
          FaultKind.RETRY_INVITED,
          FaultKind.CLEAN,
          FaultKind.STATUS_UNAVAILABLE);

  private FailureModes() {}

  static List<Scenario> all() {
    return List.of(
        of(
            "new-key-on-retry",
            List.of("M-01", "FR-40"),
            "6 retries come under a new id, where the action only reports it",
            "both run, since nothing tells them from twins; the journal says SUSPECTED_REMINT for"
                + " each",
            FailureModes::newKeyReported),
        of(
            "new-key-held",
            List.of("M-01", "FR-40"),
            "6 retries come under a new id, where the action holds them; then each held one comes"
                + " with a discriminator",
            "HELD_SUSPECT, no second effect, and the first id still replays; with a discriminator it"
                + " runs, once",
            FailureModes::newKeyHeld),
        of(
            "legitimate-twins",
            List.of("M-01", "FR-07"),
            "20 pairs of equal content, each with a discriminator, where the action holds suspects",
            "all 40 run: no false dedupe",
            FailureModes::twins),
        of(
            "rolled-back-transaction",
            List.of("M-03", "FR-25"),
            "10 transactions of an agent are rolled back and 10 lose their connection; half of the"
                + " steps of each kind are done again",
            "nothing of the first try happened: one effect where there was a second, else none",
            FailureModes::rolledBack),
        of(
            "clock-skew",
            List.of("M-07", "FR-05"),
            "an agent's clock is 10 minutes ahead, then an hour behind; the remote's clock jumps",
            "ahead of the skew: CLOCK_SKEW and no effect until it is issued anew; behind: one"
                + " effect",
            FailureModes::clockSkew),
        of(
            "clock-skew-of-a-role",
            List.of("M-07", "FR-05", "FR-01"),
            "the executor runs with a clock that is 7 to 12 seconds behind, then the processor with"
                + " one that is as much ahead, while answers are lost",
            "one effect each, every delivery answered",
            FailureModes::movedRoles),
        of(
            "clock-skew-the-other-way",
            List.of("M-07", "FR-05", "FR-01"),
            "the executor runs with a clock that is 7 to 12 seconds ahead, then the processor with"
                + " one that is as much behind, while answers are lost, under leases of 45 seconds"
                + " and, at the executor, of 6; then the processor is 10 minutes behind",
            "under the longer leases, one effect each; under the shorter, no call at all until the"
                + " clock is right and a person grants more attempts; with 10 minutes, CLOCK_SKEW"
                + " and no effect until the clock is right",
            FailureModes::movedTheOtherWay),
        of(
            "webhook-and-model-replay",
            List.of("M-11", "F-09", "FR-15", "FR-03"),
            "a webhook delivers its event twice at once and again after it settled, with an id of the"
                + " event's; the model calls for the same order again, with an id of its business"
                + " fields; and two turns of one run use the same call id for two orders, with ids of"
                + " their lineage",
            "the event: one effect, and REPLAYED; the same order: REPLAYED; the two orders: both run",
            FailureModes::modelReplay),
        of(
            "non-idempotent-downstream",
            List.of("M-13", "FR-17"),
            "a fifth of all requests of a load meets a fault of a remote that honours no key",
            "one effect each",
            FailureModes::randomFaults),
        of(
            "seven-answers",
            List.of("M-13", "FR-17"),
            "accept then time out, 5xx after settling, two answers, a slow one, no status read for"
                + " a while, declared safe to retry, clean",
            "one effect each",
            FailureModes::sevenAnswers),
        of(
            "short-downstream-window",
            List.of("M-14", "FR-45"),
            "the remote remembers a key for 8 seconds and can't be asked; 4 answers are lost within"
                + " them, 2 for longer",
            "within: sent again under the same key; beyond: never again, UNKNOWN until a person"
                + " looks",
            FailureModes::shortWindow),
        of(
            "unknown-without-status-read",
            List.of("M-04", "FR-14"),
            "2 answers of a remote with neither key nor status read are lost",
            "UNKNOWN and nothing is sent again, until a person settles it from the command line",
            FailureModes::blind),
        of(
            "lagging-status-read",
            List.of("M-13", "FR-13"),
            "the answer is lost, and the status read says absent once before it says the truth",
            "one absent read is no proof: no second call",
            FailureModes::lagging),
        of(
            "delayed-request-keyed",
            List.of("M-13", "FR-01"),
            "the network holds 3 requests back until the attempt was given up, to a remote that"
                + " dedupes on our key",
            "the next attempt runs under the same key; the late request has no second effect",
            act -> delayed(act, RemoteKind.IETF, "charge")),
        of(
            "zombie-executor-keyed",
            List.of("M-13", "FR-01"),
            "SIGSTOP of an executor that has checked its claim and its deadline and looks up its"
                + " remote's name; another one makes the next attempt, to a remote that dedupes on"
                + " our key; then SIGCONT",
            "the first call is made after all, and has no second effect",
            act -> {
              zombie(act, RemoteKind.IETF, "charge.named", "DUPLICATE_RESULT");
              act.settle();
            }),
        of(
            "repeated-compensation",
            List.of("M-16", "F-13", "FR-43"),
            "4 operations are undone: each compensation is delivered four times at once, its answer"
                + " is lost, the executor is killed, and it is delivered again; then a second"
                + " compensation comes under another id",
            "one effect and one compensation each; the second is INVALID as COMPENSATED_ALREADY",
            FailureModes::compensations),
        of(
            "result-version-drift",
            List.of("M-19", "FR-04"),
            "the form of a tool's results goes from version 1 to 2 and every role is started anew;"
                + " stored results of version 1 are asked for by readers of 2, and by a call of"
                + " version 2 of the tool",
            "the stored bytes, marked as version 1; the other call is a FINGERPRINT_MISMATCH"
                + " without a result; new results are marked as version 2",
            FailureModes::versionDrift),
        of(
            "replay-attack",
            List.of("M-17", "FR-44"),
            "captured intents are written to the topic again: as they are, and under another"
                + " tenant's key; and asked for by another principal",
            "no effect, nothing told",
            FailureModes::replayAttack));
  }

  /** What Ichido can't prevent; see the guarantees. */
  static List<Scenario> limits() {
    return List.of(
        new Scenario(
            "delayed-request",
            Group.LIMITS,
            List.of("M-13"),
            "the network holds 2 requests back until two status reads said absent, to a remote that"
                + " honours neither key nor version",
            "a second effect: nothing at our end can call a request back that has left",
            act -> delayed(act, RemoteKind.LEGACY, "pay")),
        new Scenario(
            "zombie-executor",
            Group.LIMITS,
            List.of("M-13"),
            "SIGSTOP of an executor that has checked its claim and its deadline and looks up its"
                + " remote's name; two status reads say absent, and another one makes the next"
                + " attempt, to a remote that honours neither key nor version; then SIGCONT",
            "a second effect, since what is paused between its last check and its first byte can't"
                + " be called back; SECOND_EFFECT with both references tells of it",
            FailureModes::zombieWithoutKey));
  }

  private static Scenario of(
      String id, List<String> covers, String does, String expected, Scenario.Body body) {
    return new Scenario(id, Group.FAILURE_MODES, covers, does, expected, body);
  }

  private static Operation present(Act act, String action, String to) {
    return act.operation(action).with(Part.ARGUMENTS, "{\"to\":\"" + act.prefix() + to + "\"}");
  }

  private static void newKeyReported(Act act) throws InterruptedException {
    for (int i = 0; i < 6; i++) {
      act.awaitLast(act.deliver(present(act, "gift", "customer-" + i)));
      act.awaitLast(act.deliver(present(act, "gift", "customer-" + i)));
    }
    act.await("six lines in the journal", () -> act.journalled("SUSPECTED_REMINT") == 6);
    act.settle();
  }

  private static void newKeyHeld(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    for (int i = 0; i < 6; i++) {
      Operation first = present(act, "gift.held", "customer-" + i);
      act.awaitLast(act.deliver(first));
      Operation again = present(act, "gift.held", "customer-" + i);
      act.awaitVerdict(act.deliver(again), "HELD_SUSPECT");
      act.check(
          remote.book().byBusinessKey(again.business()).isEmpty(), "what was held had an effect");
      act.awaitVerdict(act.deliver(first), "REPLAYED");
      act.awaitVerdict(act.deliver(again.with(Part.DISCRIMINATOR, "another one")), "SETTLED");
    }
    act.settle();
  }

  private static void twins(Act act) throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      for (String seat : List.of("seat-a", "seat-b")) {
        act.deliver(present(act, "gift.held", "customer-" + i).with(Part.DISCRIMINATOR, seat));
      }
    }
    act.settle();
  }

  private static void rolledBack(Act act) throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      Operation operation = act.operation("pay");
      try (Connection connection = act.rig().runtime().getConnection()) {
        act.deliver(connection, operation);
        if (i % 2 == 0) {
          connection.rollback();
        } else {
          connection.abort(Runnable::run);
        }
      } catch (SQLException aborted) {
        // Closing what is gone says so.
      }
      if (i % 4 < 2) {
        act.deliver(operation);
      } else {
        act.expect(operation, 0, 0);
      }
    }
    act.settle();
  }

  private static void clockSkew(Act act) throws InterruptedException {
    act.rig().remotes().forEach(remote -> remote.advanceClock(Duration.ofMinutes(7)));
    for (int i = 0; i < 4; i++) {
      Operation operation = act.operation(i % 2 == 0 ? "pay" : "charge");
      String ahead = act.deliver(operation.withIssuedAt(Act.now().plus(Duration.ofMinutes(10))));
      act.awaitRefused(ahead, "CLOCK_SKEW");
      Operation corrected = operation.withIssuedAt(Act.now());
      act.awaitLast(act.deliver(corrected));
      act.awaitVerdict(act.deliver(corrected), "REPLAYED");
      Operation behind = act.operation("pay").withIssuedAt(Act.now().minus(Duration.ofHours(1)));
      act.awaitLast(act.deliver(behind));
      act.awaitVerdict(act.deliver(behind), "REPLAYED");
    }
    act.settle();
  }

  private static void movedRoles(Act act) throws InterruptedException {
    Rig rig = act.rig();
    Remote remote = rig.remote(RemoteKind.LEGACY);
    Duration skew = act.schedule().time(Duration.ofSeconds(7), Duration.ofSeconds(12));
    for (Kind role : List.of(Kind.EXECUTOR, Kind.PROCESSOR)) {
      // An executor that is ahead by more than a lease starts nothing, which is safe and no use.
      Duration by = role == Kind.EXECUTOR ? skew.negated() : skew;
      move(act, role, by);
      List<Operation> operations = new ArrayList<>();
      List<String> deliveries = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        Operation operation = act.operation("pay");
        operations.add(operation);
        if (i % 3 == 0) {
          remote.add(Fault.of(FaultKind.ACCEPT_THEN_TIMEOUT).forBusinessKey(operation.business()));
        } else if (i % 3 == 1) {
          remote.add(
              Fault.of(FaultKind.TIMEOUT_BEFORE_COMMIT).forBusinessKey(operation.business()));
        }
        deliveries.add(act.deliver(operation));
        deliveries.add(act.deliver(operation));
      }
      for (String delivery : deliveries) {
        act.awaitLast(delivery);
      }
      act.check(
          role == Kind.EXECUTOR ? startedBehind(act, operations) : decidedAhead(act, operations),
          "the times of the %s are not those of a moved clock".formatted(role.word()));
      moveBack(act);
    }
    act.settle();
  }

  /** Whether the claims of each were taken before it was issued, by the executor's clock. */
  private static boolean startedBehind(Act act, List<Operation> operations) {
    return operations.stream()
        .allMatch(
            it ->
                StepCrashes.claims(
                        act, List.of(it), "attempt = 1 and started_at < '" + it.issuedAt() + "'")
                    == 1);
  }

  /** Whether each was taken on much later than it was issued, by the processor's clock. */
  private static boolean decidedAhead(Act act, List<Operation> operations) {
    return operations.stream()
        .allMatch(it -> act.lines(it).getFirst().getAt().isAfter(it.issuedAt().plusSeconds(6)));
  }

  private static void move(Act act, Kind role, Duration by) throws InterruptedException {
    act.rig().awaitReady(act.rig().replaceByMoved(role, by));
    act.did("the %s's clock was moved by %s".formatted(role.word(), by));
  }

  private static void moveBack(Act act) throws InterruptedException {
    act.rig().endOthers();
    act.rig().heal();
  }

  private static void movedTheOtherWay(Act act) throws InterruptedException {
    Duration skew = act.schedule().time(Duration.ofSeconds(7), Duration.ofSeconds(12));
    move(act, Kind.EXECUTOR, skew);
    List<Operation> started = lasting(act);
    List<Operation> late = List.of(act.operation("pay"), act.operation("pay"));
    List<String> waiting = new ArrayList<>();
    for (Operation operation : late) {
      waiting.add(act.deliver(operation));
    }
    for (String delivery : waiting) {
      act.await(
          "the last attempt that may be made",
          () -> act.replies(delivery).stream().anyMatch(it -> "MAX_ATTEMPTS".equals(it.code())));
    }
    moveBack(act);
    for (Operation operation : late) {
      act.check(
          act.rig().remote(RemoteKind.LEGACY).writes(operation.business()) == 0,
          "a call was made after the deadline that its executor saw");
      resolve(act, operation, "NOT_STARTED");
    }
    move(act, Kind.PROCESSOR, skew.negated());
    for (Operation operation : started) {
      act.awaitVerdict(act.deliver(operation), "REPLAYED");
    }
    lasting(act);
    moveBack(act);
    move(act, Kind.PROCESSOR, Duration.ofMinutes(-10));
    List<Operation> refused = new ArrayList<>(started);
    for (int i = 0; i < 4; i++) {
      refused.add(act.operation("pay"));
    }
    for (Operation operation : refused) {
      act.awaitRefused(act.deliver(operation), "CLOCK_SKEW");
    }
    moveBack(act);
    for (Operation operation : refused) {
      act.deliver(operation);
    }
    act.settle();
  }

  /** Operations whose leases are longer than the skew, some of whose answers are lost. */
  private static List<Operation> lasting(Act act) throws InterruptedException {
    List<Operation> operations = new ArrayList<>();
    List<String> deliveries = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      Operation operation = act.operation("pay.lasting");
      operations.add(operation);
      if (i % 3 < 2) {
        act.rig()
            .remote(RemoteKind.LEGACY)
            .add(
                Fault.of(i % 3 == 0 ? FaultKind.RESET_AFTER_COMMIT : FaultKind.RESET_BEFORE_READ)
                    .forBusinessKey(operation.business()));
      }
      deliveries.add(act.deliver(operation));
      deliveries.add(act.deliver(operation));
    }
    for (String delivery : deliveries) {
      act.awaitLast(delivery);
    }
    return operations;
  }

  private static void modelReplay(Act act) throws InterruptedException {
    TenantKey key = TenantKey.of("a key of the battery's own".getBytes(UTF_8));
    for (int i = 0; i < 5; i++) {
      Operation told = act.operation("pay");
      Operation event =
          told.with(
              Part.ID,
              OperationIds.fromKeyFields(
                  key, "pay", KeyFields.of("event"), Map.of("event", "evt-" + told.business())));
      for (String delivery : act.deliverTogether(event, 2)) {
        act.awaitLast(delivery);
      }
      act.awaitVerdict(act.deliver(event), "REPLAYED");
      Operation order = act.operation("pay");
      String id =
          OperationIds.fromKeyFields(
              key, "pay", KeyFields.of("order"), Map.of("order", order.business()));
      act.awaitLast(act.deliver(order.with(Part.ID, id)));
      // Asked again, the model makes another call of the same order.
      act.awaitVerdict(act.deliver(order.with(Part.ID, id)), "REPLAYED");
      for (String turn : List.of("turn-1", "turn-2")) {
        Operation call = act.operation("pay");
        act.deliver(
            call.with(
                Part.ID,
                OperationIds.fromLineage(
                    key, new Lineage("battery", act.prefix() + i, turn, "call_0", 0))));
      }
    }
    act.settle();
  }

  private static void randomFaults(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    List<Faults.Rule> rules = new ArrayList<>();
    for (FaultKind kind :
        List.of(
            FaultKind.ACCEPT_THEN_TIMEOUT,
            FaultKind.TIMEOUT_BEFORE_COMMIT,
            FaultKind.ERROR_AFTER_COMMIT,
            FaultKind.RETRY_INVITED,
            FaultKind.ERROR_BEFORE_COMMIT,
            FaultKind.ANSWER_TWICE,
            FaultKind.RESET_BEFORE_READ,
            FaultKind.RESET_AFTER_COMMIT,
            FaultKind.RESET_MID_BODY,
            FaultKind.TOO_MANY_REQUESTS)) {
      rules.add(new Faults.Rule(0.02, Fault.of(kind).times(0)));
    }
    int before = met(remote, rules);
    remote.random(act.schedule().seed(), rules);
    Load load = act.load("pay");
    load.await();
    act.awaitAnswers();
    act.settle();
    int met = met(remote, rules) - before;
    act.did(met + " requests met a fault");
    act.check(met > act.loadOperations() / 10, "only %d requests met a fault".formatted(met));
  }

  private static int met(Remote remote, List<Faults.Rule> rules) {
    return rules.stream().mapToInt(it -> remote.met(it.fault().kind())).sum();
  }

  private static void sevenAnswers(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    Map<FaultKind, Integer> before = new EnumMap<>(FaultKind.class);
    for (FaultKind kind : SEVEN) {
      before.put(kind, remote.met(kind));
    }
    for (FaultKind kind : SEVEN.subList(0, 6)) {
      Operation operation = act.operation("pay");
      remote.add(Fault.of(kind).forBusinessKey(operation.business()));
      act.deliver(operation);
    }
    Operation unread = act.operation("pay");
    remote.add(
        Fault.of(FaultKind.RESET_AFTER_COMMIT).forBusinessKey(unread.business()),
        Fault.of(FaultKind.STATUS_UNAVAILABLE).times(4));
    act.deliver(unread);
    act.await("every request", () -> remote.book().byBusinessKey(unread.business()).size() == 1);
    Patience.pass(Duration.ofSeconds(4));
    before.forEach(
        (kind, count) -> act.check(remote.met(kind) > count, "no request met " + kind.label()));
    act.settle();
  }

  private static void shortWindow(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.IETF);
    for (int i = 0; i < 4; i++) {
      Operation within = act.operation("charge.brief");
      remote.add(Fault.of(FaultKind.RESET_AFTER_COMMIT).forBusinessKey(within.business()));
      act.awaitLast(act.deliver(within));
    }
    List<Operation> beyond = new ArrayList<>();
    List<String> deliveries = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Operation operation = act.operation("charge.brief");
      beyond.add(operation);
      remote.add(
          Fault.of(FaultKind.RESET_AFTER_COMMIT).times(0).forBusinessKey(operation.business()));
      deliveries.add(act.deliver(operation));
    }
    for (Operation operation : beyond) {
      act.awaitEffects(remote, operation, 1);
    }
    Patience.pass(Duration.ofSeconds(9));
    remote.clear();
    remote.advanceClock(Duration.ofDays(2));
    Patience.pass(Duration.ofSeconds(3));
    settleByHand(act, beyond, deliveries);
  }

  private static void blind(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    List<Operation> operations = new ArrayList<>();
    List<String> deliveries = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Operation operation = act.operation("pay.blind");
      operations.add(operation);
      remote.add(Fault.of(FaultKind.RESET_AFTER_COMMIT).forBusinessKey(operation.business()));
      deliveries.add(act.deliver(operation));
    }
    Patience.pass(Duration.ofSeconds(3));
    settleByHand(act, operations, deliveries);
  }

  /** What stays unknown is told by nobody but a person, who looks at the remote's book. */
  private static void settleByHand(Act act, List<Operation> operations, List<String> deliveries)
      throws InterruptedException {
    for (int i = 0; i < operations.size(); i++) {
      Operation operation = operations.get(i);
      String held = act.deliver(operation);
      act.awaitSaid(held, "HELD_UNKNOWN");
      act.check(
          act.replies(deliveries.get(i)).stream().noneMatch(it -> it.isFinal()),
          "what nobody can know was told as known");
      resolve(act, operation, "SUCCEEDED");
    }
    act.settle();
  }

  private static void resolve(Act act, Operation operation, String as) throws InterruptedException {
    int code =
        act.rig()
            .command(
                "operation",
                "resolve",
                operation.tenant(),
                operation.id(),
                "--as",
                as,
                "--by",
                "person:ops",
                "--evidence",
                "seen in the book");
    act.check(code == 0, "a person could not settle an operation as " + as);
  }

  private static void lagging(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    remote.status(StatusMode.lagging(1, Duration.ZERO));
    for (int i = 0; i < 6; i++) {
      Operation operation = act.operation("pay");
      remote.add(Fault.of(FaultKind.RESET_AFTER_COMMIT).forBusinessKey(operation.business()));
      act.awaitLast(act.deliver(operation));
      act.check(remote.writes(operation.business()) == 1, "the remote was called more than once");
    }
    act.settle();
  }

  private static void delayed(Act act, RemoteKind kind, String action) throws InterruptedException {
    Remote remote = act.rig().remote(kind);
    int count = kind == RemoteKind.LEGACY ? 2 : 3;
    // Connections that were kept would bring the status reads after the request.
    remote.wire().blink();
    remote.wire().silence();
    List<Operation> operations = new ArrayList<>();
    List<String> deliveries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Operation operation = act.operation(action);
      operations.add(operation);
      deliveries.add(act.deliver(operation));
    }
    act.await("the requests on the way", () -> remote.wire().held() >= count);
    remote.wire().freeze();
    for (String delivery : deliveries) {
      act.awaitLast(delivery);
    }
    Map<String, Integer> before = remote.calls();
    remote.wire().thaw();
    for (Operation operation : operations) {
      act.await(
          "the late request",
          () ->
              remote.calls().getOrDefault(operation.business(), 0)
                  > before.getOrDefault(operation.business(), 0));
    }
    act.settle();
  }

  /**
   * Waits until the executor's call has no byte at the remote and nothing left to check, stops it
   * there for one attempt of another executor, and lets it go on until its report is decided on.
   */
  private static void zombie(Act act, RemoteKind kind, String action, String decided)
      throws InterruptedException {
    Rig rig = act.rig();
    Remote remote = rig.remote(kind);
    try (Gate gate = rig.gate()) {
      Rig.Instance zombie = rig.replaceByGated(Kind.EXECUTOR, gate);
      rig.awaitReady(zombie);
      act.check(!gate.isReached(), "a name was looked up before there was a call");
      Operation operation = act.operation(action);
      String delivery = act.deliver(operation);
      act.await("a call that looks its remote up", gate::isReached);
      zombie.jvm().pause();
      act.did("stopped with %d calls at the remote".formatted(remote.writes(operation.business())));
      rig.role(Kind.EXECUTOR).start();
      act.awaitLast(delivery);
      act.check(
          remote.writes(operation.business()) == 1, "the other executor did not call just once");
      gate.open();
      zombie.jvm().resume();
      act.await("the first call, late", () -> remote.writes(operation.business()) == 2);
      act.await(decided, () -> act.journalled(decided) > 0);
    }
  }

  private static void zombieWithoutKey(Act act) throws InterruptedException {
    zombie(act, RemoteKind.LEGACY, "pay.named", "SECOND_EFFECT");
    JournalEntry told = act.lines("SECOND_EFFECT").getFirst();
    Set<String> references = new HashSet<>();
    act.rig()
        .remote(RemoteKind.LEGACY)
        .book()
        .byBusinessKey(told.getOperationId())
        .forEach(it -> references.add(it.reference()));
    act.check(
        told.getAlarm()
            && references.equals(
                Set.of(
                    String.valueOf(told.getRemoteReference()),
                    String.valueOf(told.getOtherReference()))),
        "the alarm does not name the references of both effects");
    act.settle();
  }

  private static void compensations(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    List<Operation> undone = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Operation step = act.operation("pay");
      act.awaitLast(act.deliver(step));
      Operation undo = act.operation("pay").with(Part.COMPENSATES, step.id());
      undone.add(undo);
      remote.add(Fault.of(FaultKind.ACCEPT_THEN_TIMEOUT).forBusinessKey(undo.business()));
      act.deliverTogether(undo, 4);
    }
    for (Operation undo : undone) {
      act.awaitEffects(remote, undo, 1);
    }
    act.rig().killAndStart(Kind.EXECUTOR);
    for (Operation undo : undone) {
      act.awaitLast(act.deliver(undo));
      act.awaitVerdict(act.deliver(undo), "REPLAYED");
      Operation second =
          act.operation("pay")
              .with(Part.COMPENSATES, String.valueOf(undo.parts().get(Part.COMPENSATES)));
      act.expect(second, 0, 0);
      act.awaitRefused(act.deliver(second), "COMPENSATED_ALREADY");
    }
    act.settle();
  }

  private static void versionDrift(Act act) throws InterruptedException {
    List<Operation> operations = new ArrayList<>();
    List<String> bodies = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Operation operation = act.operation("pay.formed").with(Part.VERSION, "1");
      operations.add(operation);
      bodies.add(formed(act, act.deliver(operation), "SETTLED", 1));
    }
    for (Rig.Instance released : Rig.ROLES.stream().map(act.rig()::replaceByReleased).toList()) {
      act.rig().awaitReady(released);
    }
    act.did("every role was started anew with result_schema 2");
    for (int i = 0; i < 4; i++) {
      String stored = formed(act, act.deliver(operations.get(i)), "REPLAYED", 1);
      act.check(bodies.get(i).equals(stored), "a stored result is not what it was");
      String newer = act.deliver(operations.get(i).with(Part.VERSION, "2"));
      act.awaitVerdict(newer, "FINGERPRINT_MISMATCH");
      act.check(
          act.replies(newer).getLast().body() == null, "a call of version 2 got a result of 1");
      formed(act, act.deliver(act.operation("pay.formed").with(Part.VERSION, "2")), "SETTLED", 2);
    }
    act.rig().endOthers();
    act.settle();
  }

  /** The body of the last reply, which says in which version of its form it is. */
  private static String formed(Act act, String delivery, String verdict, int version)
      throws InterruptedException {
    InboxReply reply = act.awaitLast(delivery);
    act.check(
        reply.verdict().equals(verdict),
        "expected " + verdict + " with a result, but it was another verdict");
    act.check(
        Objects.equals(reply.resultSchema(), version),
        "a result does not say that its form is of version " + version);
    return Objects.requireNonNullElse(reply.body(), "");
  }

  private static void replayAttack(Act act) throws InterruptedException {
    List<Operation> operations = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Operation operation = act.operation("pay");
      operations.add(operation);
      act.awaitLast(act.deliver(operation));
    }
    Topic intents = act.rig().topic(Topics::intents);
    List<ConsumerRecord<byte[], byte[]>> captured = intents.read(act.prefix());
    double replayed = counted(act, "REPLAYED");
    double refused = act.rig().meter(Kind.PROCESSOR, "ichido_dead_letters", "");
    intents.write(captured, key -> key);
    intents.write(
        captured, key -> new String(key, UTF_8).replace("k1/t1/", "k1/t2/").getBytes(UTF_8));
    act.await("REPLAYED for each", () -> counted(act, "REPLAYED") >= replayed + captured.size());
    act.await(
        "a dead letter for each under another tenant's key",
        () ->
            act.rig().meter(Kind.PROCESSOR, "ichido_dead_letters", "")
                >= refused + captured.size());
    for (Operation operation : operations) {
      act.awaitVerdict(
          act.deliver(operation.with(Part.TENANT, "t1").with(Part.PRINCIPAL, "agent:b")),
          "UNAUTHORIZED");
    }
    act.settle();
  }

  private static double counted(Act act, String verdict) throws InterruptedException {
    return act.rig().meter(Kind.PROCESSOR, "ichido_verdicts", "\"" + verdict + "\"");
  }
}
