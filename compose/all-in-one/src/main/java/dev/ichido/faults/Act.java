package dev.ichido.faults;

import dev.ichido.app.LoneRole.Kind;
import dev.ichido.decision.ActionPolicy;
import dev.ichido.faults.Journal.Unknown;
import dev.ichido.faults.Operation.Part;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.Outbox;
import dev.ichido.remotes.BookReading;
import dev.ichido.remotes.Effect;
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
import java.util.Optional;
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

  /** How often the effect of one business act may be in the books. */
  private record Range(int least, int most) {
    static final Range ONCE = new Range(1, 1);
  }

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

  Act(Rig rig, Replies replies, Scenario scenario, long seed, int round, int loadOperations) {
    this.rig = rig;
    this.replies = replies;
    this.scenario = scenario;
    this.loadOperations = loadOperations;
    this.prefix = "faults." + scenario.id() + ".r" + round + ".";
    this.schedule = new Schedule(seed, scenario.id(), round);
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

  /** One delivery, tried until the database has it: what an agent does. Returns its id. */
  String deliver(Operation operation) throws InterruptedException {
    while (true) {
      String id = UUID.randomUUID().toString();
      try (Connection connection = rig.runtime().getConnection()) {
        deliver(connection, operation, id);
        connection.commit();
        delivered.put(id, operation);
        return id;
      } catch (SQLException away) {
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
    Load load = load("pay", "pay", "pay", "charge");
    for (double share : schedule.shares(strikes)) {
      int published = load.awaitShare(share);
      did(
          "struck %s with %d of %d operations published and %d deliveries without their last answer"
              .formatted(what, published, loadOperations, missing()));
      strike.now();
    }
    load.await();
    settle();
  }

  /** A load of another size. */
  Load load(int operations, String... actions) {
    Load load = new Load(this, operations, actions);
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

  /** The last reply to a delivery; a finding when there is none. */
  Optional<InboxReply> awaitLast(String deliveryId) throws InterruptedException {
    boolean came =
        Patience.until(
            ANSWER,
            () -> {
              replies.refresh();
              return replies.isAnswered(deliveryId);
            });
    check(came, "a delivery has no last reply");
    return came ? Optional.of(replies.to(deliveryId).getLast()) : Optional.empty();
  }

  /** Waits for a last reply with that verdict; a finding when it is another one. */
  void awaitVerdict(String deliveryId, String verdict) throws InterruptedException {
    String found = awaitLast(deliveryId).map(InboxReply::verdict).orElse("none");
    check(found.equals(verdict), "expected " + verdict + " for a delivery, but it was " + found);
  }

  /** Waits for a reply with that verdict, last or not; a finding when there is none. */
  void awaitSaid(String deliveryId, String verdict) throws InterruptedException {
    boolean said =
        Patience.until(
            ANSWER,
            () -> replies(deliveryId).stream().anyMatch(it -> it.verdict().equals(verdict)));
    check(said, "no reply of a delivery said " + verdict);
  }

  /** Waits until the remote has so many effects of the operation. */
  void awaitEffects(Remote remote, Operation operation, int count) throws InterruptedException {
    boolean there =
        Patience.until(
            ANSWER, () -> remote.book().byBusinessKey(operation.business()).size() >= count);
    check(there, "the remote did not reach " + count + " effects of an operation");
  }

  void await(String what, Patience.Look look) throws InterruptedException {
    check(Patience.until(ANSWER, look), "expected " + what + ", but it did not come");
  }

  void check(boolean holds, String finding) {
    if (!holds) {
      findings.add(finding);
    }
  }

  /** How many lines the journal has with that verdict, of this scenario's operations. */
  long journalled(String verdict) {
    return rig.journal().read(prefix).stream()
        .filter(it -> verdict.equals(it.getVerdict()))
        .count();
  }

  /** Rows that the relay found to have been passed over, since it was started. */
  double foundByAudit() throws InterruptedException {
    return rig.meter(Kind.RELAY, "ichido_relay_audit_missing", "");
  }

  /** A line of what was done, for people. */
  void did(String what) {
    done.add(what);
  }

  /** Everything is mended; every delivery gets its last answer, or it is a finding. */
  void settle() throws InterruptedException {
    rig.heal();
    long before = missing();
    while (before > 0 && isLessAfterAWhile(before)) {
      before = missing();
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
          replies.refresh();
          return delivered.entrySet().stream()
              .allMatch(it -> replies.isAnswered(it.getKey()) || !isAskable(it.getValue()));
        });
    delivered.keySet().stream().filter(id -> !replies.isAnswered(id)).forEach(open::add);
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

  /** Compares the remotes' books with what was published. */
  ScenarioReport judge(int round) throws InterruptedException {
    double passedOver = foundByAudit();
    check(passedOver == 0, "%.0f rows would be lost but for the audit".formatted(passedOver));
    Map<String, List<Effect>> effects = new TreeMap<>();
    Map<String, Integer> calls = new TreeMap<>();
    for (Remote remote : rig.remotes()) {
      BookReading book = remote.book();
      for (Effect effect : book.effects()) {
        if (effect.businessKey().startsWith(prefix)) {
          effects.computeIfAbsent(effect.businessKey(), none -> new ArrayList<>()).add(effect);
        }
      }
      remote
          .allCalls()
          .forEach(
              (key, count) -> {
                if (key.startsWith(prefix)) {
                  calls.merge(key, count, Integer::sum);
                }
              });
    }
    long duplicates = 0;
    long lost = 0;
    for (Map.Entry<String, Range> entry : expected.entrySet()) {
      int count = effects.getOrDefault(entry.getKey(), List.of()).size();
      duplicates += Math.max(0, count - entry.getValue().most());
      lost += Math.max(0, entry.getValue().least() - count);
    }
    Set<String> unasked = new HashSet<>(effects.keySet());
    unasked.removeAll(expected.keySet());
    check(unasked.isEmpty(), unasked.size() + " effects of what nobody published");
    check(duplicates == 0, duplicates + " duplicate effects");
    check(lost == 0, lost + " operations without their effect");
    return new Tally(effects, calls).report(round, duplicates, lost);
  }

  /** What the agents were told, against what happened. */
  private final class Tally {
    private final Map<String, List<Effect>> effects;
    private final Map<String, Integer> calls;
    private final Map<String, Integer> verdicts = new TreeMap<>();
    private final Map<String, Unknown> unknown = new HashMap<>();
    private final Set<String> falseDedupes = new HashSet<>();
    private final Set<String> deniedEffects = new HashSet<>();
    private long unanswered;
    private long lateRefused;

    private Tally(Map<String, List<Effect>> effects, Map<String, Integer> calls) {
      this.effects = effects;
      this.calls = calls;
    }

    ScenarioReport report(int round, long duplicates, long lost) {
      replies.refresh();
      Map<String, Operation> operations = new LinkedHashMap<>();
      delivered.forEach(
          (id, operation) -> {
            operations.putIfAbsent(name(operation), operation);
            take(id, operation);
          });
      rig.journal().read(prefix).stream()
          .collect(
              Collectors.groupingBy(
                  it -> it.getTenant() + "/" + it.getScope() + "/" + it.getOperationId()))
          .forEach((name, lines) -> Unknown.of(lines).ifPresent(it -> unknown.put(name, it)));
      long askable =
          unknown.entrySet().stream()
              .filter(it -> it.getValue().until().isEmpty())
              .map(it -> operations.get(it.getKey()))
              .filter(it -> it != null && isAskable(it))
              .count();
      check(askable == 0, askable + " operations stay unknown although their remote can be asked");
      check(unanswered == 0, unanswered + " deliveries without a last reply");
      check(falseDedupes.isEmpty(), falseDedupes.size() + " operations told of another's effect");
      check(deniedEffects.isEmpty(), deniedEffects.size() + " effects were told as failed");
      return new ScenarioReport(
          scenario,
          round,
          operations.size(),
          delivered.size(),
          effects.values().stream().mapToLong(List::size).sum(),
          duplicates,
          lost,
          stillUnknown(),
          unanswered,
          new Metrics(
              operations.size(),
              delivered.size(),
              calls.values().stream().mapToLong(Integer::longValue).sum(),
              duplicates,
              falseDedupes.size(),
              unknown.size(),
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
        if ("FAILED_TERMINAL".equals(reply.state())
            && !effects.getOrDefault(operation.business(), List.of()).isEmpty()) {
          deniedEffects.add(name(operation));
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
      return !own.isEmpty()
          && (reply.remoteReference() == null
              || own.stream().anyMatch(it -> reply.remoteReference().contains(it.reference()))
              || operation.action().equals("object.put"));
    }

    private String name(Operation operation) {
      return operation.tenant() + "/" + operation.scope() + "/" + operation.id();
    }
  }
}
