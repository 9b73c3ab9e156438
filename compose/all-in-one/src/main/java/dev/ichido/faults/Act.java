package dev.ichido.faults;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.faults.EffectCount.Range;
import dev.ichido.faults.Journal.Unknown;
import dev.ichido.faults.Operation.Part;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.Outbox;
import dev.ichido.remotes.Effect;
import dev.ichido.replay.TopicTail;
import dev.ichido.schemas.JournalEntry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * One scenario in one round: what it published, what it may expect, what it noted. Everything that
 * is left to chance comes from the seed, the scenario and the round alone.
 */
final class Act {
  /** Without a further answer. */
  private static final Duration SETTLE = Duration.ofSeconds(60);

  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final Duration UNSETTLED = Duration.ofSeconds(8);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Duration LOAD = Duration.ofMinutes(3);

  /** What a legitimate twin is told when it is taken for another operation. */
  private static final Set<String> HELD = Set.of("HELD_SUSPECT", "FINGERPRINT_MISMATCH");

  private final Rig rig;
  private final Replies replies;
  private final Scenario scenario;
  private final int loadOperations;
  private final String prefix;
  private final Schedule schedule;
  private final AtomicInteger made = new AtomicInteger();
  private final Map<String, Range> expected = new ConcurrentHashMap<>();
  private final Map<String, Operation> delivered = new ConcurrentHashMap<>();
  private final Set<String> tried = ConcurrentHashMap.newKeySet();
  private final Set<String> open = ConcurrentHashMap.newKeySet();
  private final Set<String> late = ConcurrentHashMap.newKeySet();
  private final List<Load> loads = new ArrayList<>();
  private final List<String> done = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private final long started = System.nanoTime();
  private double auditsSeen;

  Act(Rig rig, Replies replies, Scenario scenario, long seed, int round, int loadOperations) {
    this.rig = rig;
    this.replies = replies;
    this.scenario = scenario;
    this.loadOperations = loadOperations;
    this.prefix = "faults." + scenario.id() + ".r" + round + ".";
    this.schedule = new Schedule(seed, scenario.id(), round);
    this.auditsSeen = rig.audits().found();
  }

  Rig rig() {
    return rig;
  }

  Schedule schedule() {
    return schedule;
  }

  /** How many operations a load has. */
  int loadOperations() {
    return loadOperations;
  }

  /** A new operation that is to take effect exactly once. */
  Operation operation(String action) {
    String id = prefix + "%06d".formatted(made.incrementAndGet());
    Operation operation =
        new Operation(
            Map.of(
                Part.TENANT,
                "t1",
                Part.PRINCIPAL,
                "agent:a",
                Part.SCOPE,
                "global",
                Part.ACTION,
                action,
                Part.ID,
                id,
                Part.ARGUMENTS,
                "{\"order\":\"" + id + "\",\"amount\":100}"),
            now(),
            id);
    expected.put(operation.business(), Range.ONCE);
    return operation;
  }

  /** Now, as it survives every store. */
  static Instant now() {
    return Clock.systemUTC().instant().truncatedTo(ChronoUnit.MILLIS);
  }

  /** How many effects the operation's business act may have. */
  void expect(Operation operation, int least, int most) {
    expected.put(operation.business(), new Range(least, most));
  }

  /** The act has another name in the books than its operation. */
  void rename(Operation before, Operation after) {
    expected.remove(before.business());
    expected.put(after.business(), Range.ONCE);
  }

  /** What the keys of all records of this scenario hold. */
  String prefix() {
    return prefix;
  }

  /**
   * One delivery, tried until the database has it: what an agent does. Returns its id.
   *
   * @throws BrokeOff when the database does not take it
   */
  String deliver(Operation operation) throws InterruptedException {
    long end = System.nanoTime() + ANSWER.toNanos();
    while (true) {
      String id = UUID.randomUUID().toString();
      try (Connection connection = rig.runtime().getConnection()) {
        deliver(connection, operation, id);
        connection.commit();
        delivered.put(id, operation);
        return id;
      } catch (SQLException away) {
        if (System.nanoTime() - end > 0) {
          throw new BrokeOff("the database takes no delivery");
        }
        // The commit may have worked. The operation keeps its id, so that does no harm.
        Patience.pass(PAUSE);
      }
    }
  }

  /** Within the caller's transaction; {@link #committed} has to follow its commit. */
  String deliver(Connection connection, Operation operation) throws SQLException {
    String id = UUID.randomUUID().toString();
    deliver(connection, operation, id);
    return id;
  }

  void committed(String deliveryId, Operation operation) {
    delivered.put(deliveryId, operation);
  }

  private void deliver(Connection connection, Operation operation, String id) throws SQLException {
    tried.add(id);
    Outbox.publish(connection, operation.toIntent(id));
  }

  /** Deliveries from as many connections, committed at the same moment. */
  List<String> deliverTogether(Operation operation, int count) throws InterruptedException {
    List<String> ids = new ArrayList<>();
    CyclicBarrier moment = new CyclicBarrier(count);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<String>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        running.add(
            threads.submit(
                () -> {
                  try (Connection connection = rig.runtime().getConnection()) {
                    String id = deliver(connection, operation);
                    moment.await();
                    connection.commit();
                    delivered.put(id, operation);
                    return id;
                  }
                }));
      }
      for (Future<String> one : running) {
        ids.add(one.get());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
    return ids;
  }

  /** A load of that many operations, begun now; some are delivered two or three times. */
  Load load(String... actions) {
    return load(loadOperations, actions);
  }

  /** Something that befalls the rig. */
  interface Strike {
    void now() throws InterruptedException;
  }

  /** Strikes at moments that the seed chooses, while a load is published; then settles. */
  void underLoad(int strikes, String what, Strike strike) throws InterruptedException {
    underLoad(load("pay", "pay", "pay", "charge"), strikes, what, strike);
  }

  /** As {@link #underLoad(int, String, Strike)}, of a load of its own. */
  void underLoad(Load load, int strikes, String what, Strike strike) throws InterruptedException {
    for (double share : schedule.shares(strikes)) {
      awaitAtWork(load, share, what);
      strike.now();
    }
    load.await();
    settle();
  }

  /** Returns right before a strike, when that share of the load is published. */
  void awaitAtWork(Load load, double share, String what) throws InterruptedException {
    int published = load.awaitShare(share);
    long inFlight = missing();
    did(
        "struck %s with %d of %d operations published and %d deliveries without their last answer"
            .formatted(what, published, load.size(), inFlight));
    check(inFlight > 0, "nothing was in flight as " + what + " was struck");
  }

  /** A load of another size. */
  Load load(int size, String... actions) {
    List<Operation> operations = new ArrayList<>();
    List<Integer> deliveries = schedule.deliveries(size);
    for (int i = 0; i < size; i++) {
      operations.add(operation(actions[i % actions.length]));
    }
    Load load =
        new Load(
            size,
            LOAD,
            i -> {
              for (int n = 0; n < deliveries.get(i); n++) {
                deliver(operations.get(i));
              }
            });
    loads.add(load);
    return load;
  }

  /** This delivery gets no last answer for as long as the scenario looks. */
  void leaveOpen(String deliveryId) {
    open.add(deliveryId);
  }

  /** This delivery comes after everything about its operation was forgotten. */
  void late(String deliveryId) {
    late.add(deliveryId);
  }

  /** All replies to a delivery so far. */
  List<InboxReply> replies(String deliveryId) {
    replies.refresh();
    return replies.to(deliveryId);
  }

  /** The last reply to a delivery. */
  InboxReply awaitLast(String deliveryId) throws InterruptedException {
    await(
        "a last reply to a delivery",
        () -> {
          replies.refresh();
          return replies.isAnswered(deliveryId);
        });
    return replies.to(deliveryId).getLast();
  }

  /** Waits for a last reply with that verdict; a finding when it is another one. */
  void awaitVerdict(String deliveryId, String verdict) throws InterruptedException {
    String found = awaitLast(deliveryId).verdict();
    check(found.equals(verdict), "expected " + verdict + " for a delivery, but it was " + found);
  }

  /** Waits for a reply with that verdict, last or not. */
  void awaitSaid(String deliveryId, String verdict) throws InterruptedException {
    await(
        verdict + " in a reply to a delivery",
        () -> replies(deliveryId).stream().anyMatch(it -> it.verdict().equals(verdict)));
  }

  /** Waits until the remote has so many effects of the operation. */
  void awaitEffects(Remote remote, Operation operation, int count) throws InterruptedException {
    await(
        count + " effects of an operation",
        () -> remote.book().byBusinessKey(operation.business()).size() >= count);
  }

  /**
   * Waits for whatever it is, as all the others do.
   *
   * @throws BrokeOff when it does not come
   */
  void await(String what, Patience.Look look) throws InterruptedException {
    if (!Patience.until(ANSWER, look)) {
      throw new BrokeOff("expected " + what + ", but it did not come");
    }
  }

  void check(boolean holds, String finding) {
    if (!holds) {
      findings.add(finding);
    }
  }

  /** Waits until the delivery is refused, which is a finding where it is for another reason. */
  void awaitRefused(String deliveryId, String code) throws InterruptedException {
    awaitVerdict(deliveryId, "INVALID");
    check(code.equals(replies(deliveryId).getLast().code()), "another code than " + code);
  }

  /** Waits until the topic that is followed has a record of each of these operations. */
  void awaitEach(TopicTail tail, Set<String> ids) throws InterruptedException {
    Set<String> seen = new HashSet<>();
    await(
        "a record of each operation",
        () -> {
          tail.read(record -> seen.add(Topic.operationId(record)));
          return seen.containsAll(ids);
        });
  }

  /** A finding when the remote was called for one of them more often than once, or never. */
  void checkCalledOnce(Remote remote, List<Operation> operations) {
    Map<String, Integer> calls = remote.allCalls();
    long others =
        operations.stream().filter(it -> calls.getOrDefault(it.business(), 0) != 1).count();
    check(others == 0, others + " operations were not called just once");
  }

  /** How many lines the journal has with that verdict, of this scenario's operations. */
  long journalled(String verdict) {
    return lines(verdict).size();
  }

  /** The lines themselves. */
  List<JournalEntry> lines(String verdict) {
    return journal().stream().filter(it -> verdict.equals(it.getVerdict())).toList();
  }

  /** The lines of one operation, in their order. */
  List<JournalEntry> lines(Operation operation) {
    return journal().stream().filter(it -> operation.id().equals(it.getOperationId())).toList();
  }

  private List<JournalEntry> journal() {
    Set<String> ids =
        delivered.values().stream().map(Operation::id).collect(Collectors.toUnmodifiableSet());
    return rig.journal().read(id -> id.startsWith(prefix) || ids.contains(id));
  }

  /** Rows that relays found to have been passed over and that nobody asked about yet. */
  double foundByAudit() {
    double before = auditsSeen;
    auditsSeen = rig.audits().found();
    return auditsSeen - before;
  }

  /** A line of what was done, for people. */
  void did(String what) {
    done.add(what);
  }

  /**
   * Everything is mended; every delivery gets its last answer.
   *
   * @throws BrokeOff when one does not
   */
  void settle() throws InterruptedException {
    rig.heal();
    awaitAnswers();
  }

  /**
   * Every delivery gets its last answer, whatever goes wrong meanwhile.
   *
   * @throws BrokeOff when one does not
   */
  void awaitAnswers() throws InterruptedException {
    long before = missing();
    while (before > 0 && isLessAfterAWhile(before)) {
      before = missing();
    }
    if (before > 0) {
      throw new BrokeOff("no last reply came for longer than a minute");
    }
  }

  private boolean isLessAfterAWhile(long before) throws InterruptedException {
    return Patience.until(SETTLE, () -> missing() < before);
  }

  /** Deliveries without their last answer. */
  private long missing() {
    replies.refresh();
    return delivered.keySet().stream().filter(id -> !isAnsweredOrOpen(id)).count();
  }

  /**
   * As {@link #settle()}, but an operation that stays unknown for a while is counted as unknown and
   * is no finding where its remote has no way to tell.
   */
  void settleOrLeave() throws InterruptedException {
    Patience.until(UNSETTLED, () -> missing() == 0);
    rig.heal();
    Patience.until(UNSETTLED, () -> missing() == 0);
    Patience.until(
        SETTLE,
        () -> {
          Set<String> unknown = unknownNow();
          delivered.forEach(
              (id, operation) -> {
                if (unknown.contains(name(operation)) && !isAskable(operation)) {
                  open.add(id);
                }
              });
          return missing() == 0;
        });
  }

  private Set<String> unknownNow() {
    Set<String> names = new HashSet<>();
    linesByOperation()
        .forEach(
            (name, lines) -> {
              if (Unknown.of(lines).filter(it -> it.until().isEmpty()).isPresent()) {
                names.add(name);
              }
            });
    return names;
  }

  private Map<String, List<JournalEntry>> linesByOperation() {
    return journal().stream()
        .collect(
            Collectors.groupingBy(
                it -> it.getTenant() + "/" + it.getScope() + "/" + it.getOperationId()));
  }

  private static String name(Operation operation) {
    return operation.tenant() + "/" + operation.scope() + "/" + operation.id();
  }

  /** Whether status reads can settle the operation. */
  private boolean isAskable(Operation operation) {
    ActionPolicy.Remote remote = rig.policies().governing(operation.action()).remote();
    return remote.statusRead() && remote.absentAfter() != null;
  }

  private boolean isAnsweredOrOpen(String deliveryId) {
    return open.contains(deliveryId) || replies.isAnswered(deliveryId);
  }

  /** Nothing is published any more. */
  void end() {
    loads.forEach(Load::stop);
  }

  /** What does not hold so far. */
  List<String> findings() {
    return List.copyOf(findings);
  }

  /** Compares the remotes' books with what was published. */
  ScenarioReport judge(int round) {
    double passedOver = foundByAudit();
    check(passedOver == 0, "%.0f rows would be lost but for the audit".formatted(passedOver));
    rig.audits()
        .takeUnread()
        .forEach(relay -> check(false, "what the audit of " + relay + " found can't be read"));
    Map<String, List<Effect>> effects = effects();
    Map<String, Integer> calls = new TreeMap<>();
    for (Remote remote : rig.remotes()) {
      remote
          .allCalls()
          .forEach(
              (key, count) -> {
                if (key.startsWith(prefix)) {
                  calls.merge(key, count, Integer::sum);
                }
              });
    }
    EffectCount count = count(effects);
    check(
        count.unasked() == 0, count.unasked() + " operations have an effect that nobody published");
    check(count.duplicates() == 0, count.duplicates() + ScenarioReport.DUPLICATES);
    check(count.lost() == 0, count.lost() + " operations without their effect");
    return new Tally(effects, calls).report(round, count);
  }

  /**
   * The same report, unless the books have changed since; to be asked when no process of the rig is
   * left that could change them.
   */
  ScenarioReport recounted(ScenarioReport report) {
    EffectCount now = count(effects());
    return now.equals(report.effects()) ? report : report.recounted(now);
  }

  private EffectCount count(Map<String, List<Effect>> effects) {
    Map<String, Integer> sizes = new HashMap<>();
    effects.forEach((name, list) -> sizes.put(name, list.size()));
    return EffectCount.of(expected, sizes);
  }

  private Map<String, List<Effect>> effects() {
    Map<String, List<Effect>> effects = new TreeMap<>();
    for (Remote remote : rig.remotes()) {
      for (Effect effect : remote.book().effects()) {
        if (effect.businessKey().startsWith(prefix)) {
          effects.computeIfAbsent(effect.businessKey(), none -> new ArrayList<>()).add(effect);
        }
      }
    }
    return effects;
  }

  /** How many operations were UNKNOWN for a time though no call was made. */
  long unknownWithoutCall() {
    return linesByOperation().values().stream()
        .flatMap(lines -> Unknown.of(lines).stream())
        .filter(it -> !it.afterCall())
        .count();
  }

  /** What the agents were told, against what happened. */
  private final class Tally {
    private final Map<String, List<Effect>> effects;
    private final Map<String, Integer> calls;
    private final Map<String, Integer> verdicts = new TreeMap<>();
    private final Map<String, Unknown> unknown = new HashMap<>();
    private final Set<String> falseDedupes = new HashSet<>();
    private final Set<String> deniedEffects = new HashSet<>();
    private long attempts;
    private long unanswered;
    private long lateRefused;

    private Tally(Map<String, List<Effect>> effects, Map<String, Integer> calls) {
      this.effects = effects;
      this.calls = calls;
    }

    ScenarioReport report(int round, EffectCount count) {
      replies.refresh();
      Map<String, Operation> operations = new LinkedHashMap<>();
      delivered.forEach(
          (id, operation) -> {
            operations.putIfAbsent(name(operation), operation);
            take(id, operation);
          });
      linesByOperation()
          .forEach(
              (name, lines) -> {
                Unknown.of(lines).ifPresent(it -> unknown.put(name, it));
                attempts += lines.stream().mapToInt(JournalEntry::getAttempt).max().orElse(0);
              });
      long askable =
          unknown.entrySet().stream()
              .filter(it -> it.getValue().until().isEmpty())
              .map(it -> operations.get(it.getKey()))
              .filter(it -> it != null && isAskable(it))
              .count();
      check(askable == 0, askable + " operations stay unknown although their remote can be asked");
      check(unanswered == 0, unanswered + " deliveries without a last reply");
      check(
          falseDedupes.isEmpty(),
          falseDedupes.size() + " operations told of another's effect or held for another");
      check(deniedEffects.isEmpty(), deniedEffects.size() + " effects were told as failed");
      return new ScenarioReport(
          scenario,
          round,
          operations.size(),
          delivered.size(),
          count,
          stillUnknown(),
          unanswered,
          new Metrics(
              operations.size(),
              delivered.size(),
              attempts,
              calls.values().stream().mapToLong(Integer::longValue).sum(),
              count.duplicates(),
              falseDedupes.size(),
              unknown.size(),
              unknown.values().stream().filter(it -> !it.afterCall()).count(),
              stillUnknown(),
              unknown.values().stream()
                  .flatMap(it -> it.until().map(end -> Duration.between(it.since(), end)).stream())
                  .mapToLong(Duration::toMillis)
                  .max()
                  .orElse(0),
              late.size(),
              late.size() - lateRefused),
          verdicts,
          schedule.drawn(),
          List.copyOf(done),
          List.copyOf(findings),
          (System.nanoTime() - started) / 1e9);
    }

    private long stillUnknown() {
      return unknown.values().stream().filter(it -> it.until().isEmpty()).count();
    }

    private void take(String deliveryId, Operation operation) {
      List<InboxReply> all = replies.to(deliveryId);
      if (!isAnsweredOrOpen(deliveryId)) {
        unanswered++;
      }
      for (InboxReply reply : all) {
        verdicts.merge(reply.verdict(), 1, Integer::sum);
        if ("SUCCEEDED".equals(reply.state()) && !isTrue(reply, operation)) {
          falseDedupes.add(name(operation));
        }
        boolean has = effects.containsKey(operation.business());
        if (has && ("FAILED_TERMINAL".equals(reply.state()) || "CANCELLED".equals(reply.state()))) {
          deniedEffects.add(name(operation));
        }
        Range may = expected.get(operation.business());
        if (!has && may != null && may.least() > 0 && HELD.contains(reply.verdict())) {
          falseDedupes.add(name(operation));
        }
      }
      if (late.contains(deliveryId)
          && !all.isEmpty()
          && Set.of("LATE_REPLAY", "EXPIRED").contains(all.getLast().verdict())) {
        lateRefused++;
      }
    }

    /** A success is told only of an effect that the remote's book has for this very act. */
    private boolean isTrue(InboxReply reply, Operation operation) {
      List<Effect> own = effects.getOrDefault(operation.business(), List.of());
      String reference = reply.remoteReference();
      return reference == null
          ? !own.isEmpty() && mayLackReference(reply)
          : own.stream().anyMatch(it -> reference.contains(it.reference()))
              || (!own.isEmpty() && operation.action().equals("object.put"));
    }

    /** No result is released, a person settled it, or a contract of a user asks for none. */
    private boolean mayLackReference(InboxReply reply) {
      return reply.marker() == null
          || reply.verdict().equals("RESOLVED")
          || scenario.group() == Scenario.Group.CONTRACT;
    }
  }
}
