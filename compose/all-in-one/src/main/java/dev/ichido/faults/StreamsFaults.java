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
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What can go wrong in the processor's stores and groups, and in the executor's group. */
final class StreamsFaults {
  /** What a processor logs of each of its stores. */
  private static final Pattern RESTORING =
      Pattern.compile("Restoring (.+) from offset (\\d+) to (\\d+)");

  private static final Pattern RESTORED = Pattern.compile("Restored (.+): ");

  private StreamsFaults() {}

  static List<Scenario> all() {
    return List.of(
        of(
            "streams-kill-during-restore",
            List.of("FR-30", "FR-10"),
            "kill -9 of the processor under load, and three times more as soon as it says that it"
                + " restores its stores",
            "at least one kill met a restore that was not over; one effect each, every delivery"
                + " answered",
            StreamsFaults::duringRestore),
        of(
            "streams-standby-takeover",
            List.of("FR-28"),
            "a second processor keeps standby stores; kill -9 of the first under load; then every"
                + " operation answered before comes again",
            "the standby takes over and reads back less than half of its stores' logs: everything"
                + " replays",
            StreamsFaults::takeover),
        of(
            "streams-rebalance",
            List.of("FR-28", "FR-30"),
            "a second processor joins under load, decides on its share and leaves again",
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
            "a second executor joins under load; with 8 calls under way, SIGSTOP of the first for"
                + " longer than its session and shorter than the leases, then SIGCONT; then the second"
                + " is killed under a load with short leases",
            "the same commands at two executors: one call each until the kill, at a remote that"
                + " honours no key; one effect each",
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
    int met = 0;
    for (int i = 0; i < 3; i++) {
      processor.start();
      act.await("a restore", () -> restoring(processor.lines()).findAny().isPresent());
      processor.kill();
      Set<String> over =
          processor
              .lines()
              .map(RESTORED::matcher)
              .filter(Matcher::find)
              .map(it -> it.group(1))
              .collect(Collectors.toSet());
      met += restoring(processor.lines()).allMatch(it -> over.contains(it.group(1))) ? 0 : 1;
    }
    act.did("%d of 3 kills met a restore that was not over".formatted(met));
    act.check(met > 0, "every restore was over before its kill");
    load.await();
    act.settle();
  }

  /** Of those stores that are not empty. */
  private static Stream<Matcher> restoring(Stream<String> log) {
    return log.map(RESTORING::matcher).filter(it -> it.find() && !it.group(3).equals("0"));
  }

  private static void takeover(Act act) throws InterruptedException {
    Rig.Instance second = act.rig().startAnother(Kind.PROCESSOR);
    act.rig().awaitReady(second);
    Map<Operation, String> answered = new LinkedHashMap<>();
    for (int i = 0; i < 40; i++) {
      Operation operation = act.operation("pay");
      answered.put(operation, act.deliver(operation));
    }
    for (String delivery : answered.values()) {
      act.awaitLast(delivery);
    }
    Load load = act.load("pay", "pay", "pay", "charge");
    load.awaitShare(act.schedule().share(0.3, 0.7));
    long before = second.jvm().lines().count();
    act.rig().role(Kind.PROCESSOR).kill();
    load.await();
    List<String> again = new ArrayList<>();
    for (Operation operation : answered.keySet()) {
      again.add(act.deliver(operation));
    }
    for (String delivery : again) {
      act.awaitVerdict(delivery, "REPLAYED");
    }
    checkTakenOver(act, second.jvm().lines().skip(before));
    act.rig().role(Kind.PROCESSOR).start();
    act.settle();
  }

  /** A standby begins to read where it is; a store that was not kept, at 0. */
  private static void checkTakenOver(Act act, Stream<String> log) {
    long read = 0;
    long all = 0;
    for (Matcher store : restoring(log).toList()) {
      read += Long.parseLong(store.group(3)) - Long.parseLong(store.group(2));
      all += Long.parseLong(store.group(3));
    }
    act.did("the second went on alone, with %d of %d offsets to read back".formatted(read, all));
    act.check(all > 0, "the second took no store over");
    act.check(2 * read < all, "the second restored its stores rather than to take over");
  }

  private static void rebalance(Act act) throws InterruptedException {
    Load load = act.load("pay", "pay", "pay", "charge");
    load.awaitShare(0.2);
    Rig.Instance second = act.rig().startAnother(Kind.PROCESSOR);
    act.rig().awaitReady(second);
    load.awaitShare(0.5);
    act.await("decisions of the second", () -> act.rig().meter(second, "ichido_verdicts", "") > 0);
    load.awaitShare(0.7);
    second.jvm().end();
    load.await();
    act.settle();
  }

  private static void poisoned(Act act) throws InterruptedException {
    double before = deadLetters(act);
    Load load = act.load("pay", "charge");
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
    Load load = act.load("pay.lasting", "charge");
    load.awaitShare(0.1);
    Rig.Instance second = act.rig().startAnother(Kind.EXECUTOR);
    act.rig().awaitReady(second);
    load.awaitShare(act.schedule().share(0.3, 0.5));
    Remote remote = act.rig().remote(RemoteKind.LEGACY);
    for (int i = 0; i < 8; i++) {
      Operation operation = act.operation("pay.lasting");
      remote.add(Fault.of(FaultKind.HOLD_BEFORE_COMMIT).forBusinessKey(operation.business()));
      act.deliver(operation);
    }
    act.await("8 calls that are under way", () -> remote.held() >= 8);
    act.rig().role(Kind.EXECUTOR).pause();
    Patience.pass(Duration.ofSeconds(8));
    act.rig().role(Kind.EXECUTOR).resume();
    remote.release();
    load.await();
    act.settle();
    long again =
        remote.calls().entrySet().stream()
            .filter(it -> it.getKey().startsWith(act.prefix()) && it.getValue() > 1)
            .count();
    act.check(again == 0, again + " operations were called by both executors");
    double met = claims(act, second, "\"open\"") + claims(act, second, "\"recorded\"");
    act.did(
        "the second executor asked for %.0f claims, %.0f of which the first had taken"
            .formatted(claims(act, second, ""), met));
    act.check(met > 0, "no command was at both executors");
    Load after = act.load("pay", "charge");
    act.awaitAtWork(after, 0.5, "the second executor");
    second.jvm().kill();
    after.await();
    act.settle();
  }

  private static double claims(Act act, Rig.Instance executor, String answer)
      throws InterruptedException {
    return act.rig().meter(executor, "ichido_executor_claims", answer);
  }
}
