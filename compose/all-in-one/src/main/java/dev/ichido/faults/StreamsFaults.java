package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.app.LoneRole.Kind;
import dev.ichido.faults.Scenario.Group;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.schemas.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What can go wrong in the processor's stores and groups, and in the executor's group. */
final class StreamsFaults {
  private StreamsFaults() {}

  static List<Scenario> all() {
    return List.of(
        of(
            "streams-kill-during-restore",
            List.of("FR-30", "FR-10"),
            "kill -9 of the processor under load, and three times more while it restores its"
                + " stores",
            "one effect each, every delivery answered",
            StreamsFaults::duringRestore),
        of(
            "streams-standby-takeover",
            List.of("FR-28"),
            "a second processor keeps standby stores; kill -9 of the first under load; then every"
                + " operation answered before comes again",
            "the standby takes over with all it needs: everything replays",
            StreamsFaults::takeover),
        of(
            "streams-rebalance",
            List.of("FR-28", "FR-30"),
            "a second processor joins under load and leaves again",
            "one effect each, every delivery answered",
            StreamsFaults::rebalance),
        of(
            "streams-poisoned-record",
            List.of("FR-30"),
            "bytes that nobody can decode are written to intents, commands, results and replies"
                + " under load",
            "dead letters; everything else goes on",
            StreamsFaults::poisoned),
        of(
            "streams-oversize-result",
            List.of("FR-30"),
            "the remote answers with 300 KB",
            "the result is kept beside the record and replayed by its handle",
            StreamsFaults::oversize),
        of(
            "executor-rebalance",
            List.of("FR-32", "FR-01"),
            "a second executor joins under load; SIGSTOP of the first for longer than its session,"
                + " then SIGCONT; then the second is killed",
            "the same commands at two executors: one effect each, at a remote that honours our key",
            StreamsFaults::executors));
  }

  private static Scenario of(
      String id, List<String> covers, String does, String expected, Scenario.Body body) {
    return new Scenario(id, Group.STREAMS, covers, does, expected, body);
  }

  private static void duringRestore(Act act) throws InterruptedException {
    Load load = act.load("pay", "pay", "pay", "charge");
    load.awaitShare(act.schedule().share(0.4, 0.7));
    Jvm processor = act.rig().role(Kind.PROCESSOR);
    processor.kill();
    for (int i = 0; i < 3; i++) {
      processor.start();
      Patience.pass(act.schedule().time(Duration.ofMillis(1_500), Duration.ofMillis(3_000)));
      processor.kill();
    }
    load.await();
    act.settle();
  }

  private static void takeover(Act act) throws InterruptedException {
    Rig.Instance second = act.rig().startAnother(Kind.PROCESSOR);
    act.rig().awaitReady(second);
    Map<Operation, String> before = new LinkedHashMap<>();
    for (int i = 0; i < 40; i++) {
      Operation operation = act.operation("pay");
      before.put(operation, act.deliver(operation));
    }
    for (String delivery : before.values()) {
      act.awaitLast(delivery);
    }
    Load load = act.load("pay", "pay", "pay", "charge");
    load.awaitShare(act.schedule().share(0.3, 0.7));
    act.rig().role(Kind.PROCESSOR).kill();
    act.did("killed the first; the second goes on alone");
    load.await();
    List<String> again = new ArrayList<>();
    for (Operation operation : before.keySet()) {
      again.add(act.deliver(operation));
    }
    for (String delivery : again) {
      act.awaitVerdict(delivery, "REPLAYED");
    }
    act.rig().role(Kind.PROCESSOR).start();
    act.settle();
  }

  private static void rebalance(Act act) throws InterruptedException {
    Load load = act.load("pay", "pay", "pay", "charge");
    load.awaitShare(0.2);
    Rig.Instance second = act.rig().startAnother(Kind.PROCESSOR);
    act.rig().awaitReady(second);
    load.awaitShare(0.7);
    second.jvm().end();
    load.await();
    act.settle();
  }

  private static void poisoned(Act act) throws InterruptedException {
    double before = deadLetters(act);
    Load load = act.load(act.loadOperations() / 4, "pay", "charge");
    int poison = 0;
    for (Function<Topics, String> which :
        List.<Function<Topics, String>>of(
            Topics::intents, Topics::commands, Topics::results, Topics::replies)) {
      for (String bytes : List.of("", "x", "\0\0\0\0\7nothing of this kind", "{\"json\":true}")) {
        act.rig()
            .topic(which)
            .write(("k1/t1/global/poison-" + poison++).getBytes(UTF_8), bytes.getBytes(UTF_8));
      }
    }
    int written = poison;
    load.await();
    act.await("a dead letter for each", () -> deadLetters(act) >= before + written);
    act.settle();
  }

  private static double deadLetters(Act act) throws InterruptedException {
    return act.rig().topic(Topics::deadLetters).count();
  }

  private static void oversize(Act act) throws InterruptedException {
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    for (int i = 0; i < 4; i++) {
      Operation operation = act.operation("pay");
      remote.add(
          Fault.of(FaultKind.OVERSIZE_BODY)
              .withBytes(300_000)
              .forBusinessKey(operation.business()));
      String first = act.deliver(operation);
      act.awaitLast(first);
      String again = act.deliver(operation);
      act.awaitVerdict(again, "REPLAYED");
      String handle = act.replies(again).getLast().bodySha256();
      act.check(
          handle != null && handle.equals(act.replies(first).getLast().bodySha256()),
          "the large result is not replayed by its handle");
    }
    act.settle();
  }

  private static void executors(Act act) throws InterruptedException {
    Load load = act.load("charge");
    load.awaitShare(0.1);
    Rig.Instance second = act.rig().startAnother(Kind.EXECUTOR);
    act.rig().awaitReady(second);
    load.awaitShare(act.schedule().share(0.3, 0.5));
    act.rig().role(Kind.EXECUTOR).pause();
    Patience.pass(Duration.ofSeconds(8));
    act.rig().role(Kind.EXECUTOR).resume();
    load.await();
    second.jvm().kill();
    act.settle();
  }
}
