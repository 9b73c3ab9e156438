package dev.ichido.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.executor.Report;
import dev.ichido.executor.ToolCommand;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.TenantKey;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.operation.fingerprint.FingerprintResult;
import dev.ichido.operation.fingerprint.FingerprintVersions;
import dev.ichido.operation.fingerprint.IntentMeaning;
import dev.ichido.simulation.Action.Kind;
import dev.ichido.simulation.Action.Written;
import dev.ichido.simulation.Executors.Sent;
import dev.ichido.simulation.Executors.Told;
import dev.ichido.simulation.Relays.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Everything there is, at one moment: the topics, the roles, the remote and the true time. */
final class World {
  private static final String ARGUMENTS = "{\"amount\":1}";
  private static final String OTHER_ARGUMENTS = "{\"amount\":2}";
  private static final String UNDOING_ARGUMENTS = "{\"amount\":-1}";
  static final String TARGET = "target";
  static final TenantKey FINGERPRINT_KEY =
      TenantKey.of("a key for simulations only".getBytes(UTF_8));
  private static final Map<String, Fingerprint> FINGERPRINTS =
      Stream.of(ARGUMENTS, OTHER_ARGUMENTS, UNDOING_ARGUMENTS)
          .collect(Collectors.toMap(it -> it, World::fingerprint));

  static final int OPERATIONS = 3;

  /** Two twins of one meaning, and the same operation id in another tenant. */
  private static final List<OperationKey> TWINS =
      List.of(
          new OperationKey("t1", "global", "op-0000000000000001"),
          new OperationKey("t1", "global", "op-0000000000000002"),
          new OperationKey("t2", "global", "op-0000000000000001"));

  /** One, and two that undo it. */
  private static final List<OperationKey> UNDOING =
      List.of(
          new OperationKey("t1", "global", "op-0000000000000001"),
          new OperationKey("t1", "global", "op-0000000000000002"),
          new OperationKey("t1", "global", "op-0000000000000003"));

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int ROLES = 6;
  private static final int MOST_HEALING = 4_000;
  private static final int MOST_REPLAYS = 3;

  /** While everything heals, where the remote can't be asked: each looks at one attempt's claim. */
  private static final int FURTHER_READS = 4;

  /** Steps that bring work on, the first that is possible first. */
  static final List<Kind> PROGRESS =
      List.of(
          Kind.COMMITS_OPEN_TRANSACTION,
          Kind.RELAY_MARKS,
          Kind.RELAY_COMMITS,
          Kind.RELAY_SENDS,
          Kind.RELAY_NOTICES,
          Kind.RELAY_STARTS,
          Kind.EXECUTOR_NOTICES,
          Kind.EXECUTOR_REPORTS_LATE,
          Kind.EXECUTOR_REPORTS,
          Kind.EXECUTOR_RECORDS,
          Kind.EXECUTOR_ASKS,
          Kind.EXECUTOR_CALLS,
          Kind.EXECUTOR_GOES_ON,
          Kind.EXECUTOR_CLAIMS,
          Kind.ANSWER_ARRIVES,
          Kind.REQUEST_TAKES_EFFECT,
          Kind.PROCESSOR_COMMITS,
          Kind.PROCESSOR_TAKES_MAIL,
          Kind.PROCESSOR_TAKES_RESULT,
          Kind.PROCESSOR_TAKES_INTENT,
          Kind.PROCESSOR_SWEEPS,
          Kind.PROCESSOR_STARTS,
          Kind.EXECUTOR_POLLS);

  /** Faults that end by themselves when no other happens any more. */
  static final List<Kind> HEALING = List.of(Kind.RESUMES, Kind.NETWORK_LETS_GO);

  final Profile profile;
  final Protocol protocol;
  final Oracle oracle;
  final Relays relays;
  final Processors processors;
  final Executors executors;
  final Remote remote;
  private final Person person;
  final Beside beside;

  final List<Row> intents = new ArrayList<>();
  final List<Sent> commands = new ArrayList<>();
  final List<Told> results = new ArrayList<>();

  /** By the number of its topic. */
  final List<List<Mail>> mail =
      Stream.<List<Mail>>generate(ArrayList::new).limit(Mail.TOPICS).toList();

  private final long[] clocks = new long[ROLES];
  private final boolean[] paused = new boolean[ROLES];
  private int replayedIntents;
  private int replayedResults;
  private int mostReads;

  /** How many operations and rows there are to be: the fewer, the deeper a run comes. */
  final int operations;

  final int rows;

  /** True time in milliseconds since the start. */
  long now;

  /**
   * A world at its beginning. The seed says how far the clocks are off, and how much is written.
   */
  World(Profile profile, Protocol protocol, long seed, Function<World, Beside> besides) {
    this.profile = profile;
    this.protocol = protocol;
    this.oracle = new Oracle(this);
    this.relays = new Relays(this);
    this.processors = new Processors(this);
    this.executors = new Executors(this);
    this.remote = new Remote(this);
    this.person = new Person(this);
    Random random = new Random(seed);
    for (int i = 0; i < ROLES; i++) {
      clocks[i] = (random.nextInt(3) - 1L) * profile.clockOff(i);
    }
    this.beside = besides.apply(this);
    this.operations = 1 + random.nextInt(OPERATIONS);
    this.rows = 1 + random.nextInt(Relays.ROWS);
  }

  OperationKey key(int operation) {
    return (profile.undoing() ? UNDOING : TWINS).get(operation);
  }

  String recordKey(int operation) {
    return key(operation).recordKey();
  }

  /** What an intent means. */
  String arguments(Row row) {
    return row.written() == Written.OTHER_MEANING
        ? OTHER_ARGUMENTS
        : undone(row.operation()) == null ? ARGUMENTS : UNDOING_ARGUMENTS;
  }

  Fingerprint fingerprint(Row row) {
    return Objects.requireNonNull(FINGERPRINTS.get(arguments(row)), "fingerprint");
  }

  /** The operation that this one undoes. */
  @Nullable String undone(int operation) {
    return profile.undoing() && operation > 0 ? key(0).operationId() : null;
  }

  static Instant instantOf(long millis) {
    return START.plusMillis(millis);
  }

  /** The time that a role's clock shows. */
  long clock(int role) {
    return now + clocks[role];
  }

  Instant instant(int role) {
    return instantOf(clock(role));
  }

  /** A report reaches its topic. */
  void tell(int operation, ToolCommand command, Report report) {
    results.add(new Told(operation, command, report, processors.clocks()));
  }

  boolean isAwake(int role) {
    return !paused[role];
  }

  /** Adds the action where it is possible. */
  void offer(List<Action> actions, Kind kind, int who, int what) {
    Action action = new Action(kind, who, what);
    if (way(action) != null) {
      actions.add(action);
    }
  }

  /** Everything that may happen next. */
  List<Action> actions() {
    List<Action> actions = new ArrayList<>(64);
    relays.offer(actions);
    processors.offer(actions);
    executors.offer(actions);
    remote.offer(actions);
    person.offer(actions);
    for (int role = 0; role < ROLES; role++) {
      offer(actions, Kind.PAUSES, role, 0);
      offer(actions, Kind.RESUMES, role, 0);
      for (int i = -1; profile.clocksJump() && i <= 1; i++) {
        offer(actions, Kind.CLOCK_JUMPS, role, i * profile.clockOff(role));
      }
    }
    for (int i = 0; i < intents.size(); i++) {
      offer(actions, Kind.REPLAYS_INTENT, i, 0);
    }
    for (int i = 0; i < results.size(); i++) {
      offer(actions, Kind.REPLAYS_RESULT, i, 0);
    }
    for (int i = 0; i < Action.SPANS.length; i++) {
      offer(actions, Kind.TIME_PASSES, i, 0);
    }
    offer(actions, Kind.TIME_COMES, 0, 0);
    return actions;
  }

  /** Makes it happen, unless it is not possible now. */
  boolean take(Action action) {
    Runnable way = way(action);
    if (way == null) {
      return false;
    }
    way.run();
    oracle.afterEveryStep();
    return true;
  }

  private @Nullable Runnable way(Action action) {
    int who = action.who();
    return switch (action.kind()) {
      case WRITES,
          WRITES_IN_OPEN_TRANSACTION,
          COMMITS_OPEN_TRANSACTION,
          RELAY_STARTS,
          RELAY_SENDS,
          RELAY_COMMITS,
          RELAY_MARKS,
          RELAY_NOTICES,
          RELAY_LOSES_SLOT,
          RELAY_CRASHES ->
          relays.way(action);
      case PROCESSOR_STARTS,
          PROCESSOR_TAKES_INTENT,
          PROCESSOR_TAKES_RESULT,
          PROCESSOR_TAKES_MAIL,
          PROCESSOR_SWEEPS,
          PROCESSOR_FLUSHES,
          PROCESSOR_COMMITS,
          PROCESSOR_ABORTS,
          PROCESSOR_CRASHES,
          PROCESSOR_CRASHES_ON_DISK ->
          processors.way(action);
      case EXECUTOR_JOINS,
          EXECUTOR_POLLS,
          EXECUTOR_CLAIMS,
          EXECUTOR_CLAIMS_UNSURE,
          EXECUTOR_GOES_ON,
          EXECUTOR_CALLS,
          EXECUTOR_TIMES_OUT,
          EXECUTOR_GIVES_UP,
          EXECUTOR_ASKS,
          EXECUTOR_ASKS_IN_VAIN,
          EXECUTOR_RECORDS,
          EXECUTOR_REPORTS,
          EXECUTOR_REPORTS_LATE,
          EXECUTOR_COMMITS,
          EXECUTOR_NOTICES,
          EXECUTOR_CRASHES ->
          executors.way(action);
      case REQUEST_TAKES_EFFECT,
          REQUEST_TAKES_EFFECT_AND_BREAKS,
          REQUEST_IS_NOT_ACCEPTED,
          REQUEST_IS_REFUSED,
          REQUEST_IS_LOST,
          ANSWER_ARRIVES,
          NETWORK_HOLDS,
          NETWORK_LETS_GO ->
          remote.way(action);
      case REPLAYS_INTENT ->
          who < intents.size() && replayedIntents < MOST_REPLAYS
              ? () -> {
                replayedIntents++;
                intents.add(intents.get(who));
              }
              : null;
      case REPLAYS_RESULT ->
          who < results.size() && replayedResults < MOST_REPLAYS
              ? () -> {
                replayedResults++;
                Told told = results.get(who);
                tell(told.operation(), told.command(), told.report());
              }
              : null;
      case PERSON_SETTLES -> person.way(action);
      case PAUSES -> paused[who] ? null : () -> paused[who] = true;
      case RESUMES -> paused[who] ? () -> paused[who] = false : null;
      case CLOCK_JUMPS ->
          profile.clocksJump() && clocks[who] != action.what()
              ? () -> clocks[who] = action.what()
              : null;
      case TIME_PASSES -> mayTimePass() ? () -> pass(Action.SPANS[who]) : null;
      case TIME_COMES -> {
        long left = untilNextDeadline(false);
        yield left > 0 && mayTimePass() ? () -> pass(left) : null;
      }
    };
  }

  private boolean mayTimePass() {
    return !profile.bounded() || !executors.atTheLastMetre();
  }

  private void pass(long millis) {
    now += millis;
    remote.timePasses();
  }

  /** Milliseconds until the next deadline of the ledger by the true clock; 0 when there is none. */
  private long untilNextDeadline(boolean ofOpenOnes) {
    long earliest = Long.MAX_VALUE;
    for (int i = 0; i < OPERATIONS; i++) {
      OperationState state = processors.state(i);
      if (!ofOpenOnes || isMoving(state)) {
        long due =
            state
                .nextDeadline()
                .map(it -> it.toEpochMilli() - START.toEpochMilli())
                .orElse(earliest);
        earliest = due > now ? Math.min(earliest, due) : earliest;
      }
    }
    return earliest == Long.MAX_VALUE ? 0 : earliest - now;
  }

  /** Whether time alone brings the operation on. */
  private boolean isMoving(OperationState state) {
    return state instanceof InProgress
        || (state instanceof FailedRetryable f && f.wakeAt() != null)
        || (state instanceof UnknownReconciliation u
            && (profile.statusRead()
                || u.wakeAt() != null
                || u.reconciliation().reads() < mostReads));
  }

  /** No fault happens any more and everybody wakes up, until nothing is left to be done. */
  void heal() {
    for (int i = 0; i < OPERATIONS; i++) {
      if (processors.state(i) instanceof UnknownReconciliation u) {
        mostReads = Math.max(mostReads, u.reconciliation().reads());
      }
    }
    mostReads += FURTHER_READS;
    for (int steps = 0; steps < MOST_HEALING; steps++) {
      if (!stepOfHealing()) {
        long left = untilNextDeadline(true);
        if (left <= 0 && !isOverdue()) {
          oracle.atTheEnd(relays.log());
          return;
        }
        // A clock may be behind the true one by as much as is allowed.
        pass(left + profile.clockOff());
      }
    }
    throw new ViolationException(
        Invariant.NOTHING_LOST, "what was written is still not settled after everything healed");
  }

  private boolean isOverdue() {
    for (int i = 0; i < OPERATIONS; i++) {
      OperationState state = processors.state(i);
      if (isMoving(state)
          && state.nextDeadline().map(it -> !it.isAfter(instantOf(now))).orElse(false)) {
        return true;
      }
    }
    return false;
  }

  /** What a healthy system would do first; null when it would wait. */
  @Nullable Action findProgress(List<Action> actions, List<Kind> order) {
    for (Kind kind : order) {
      Action action = find(actions, kind);
      if (action != null) {
        return action;
      }
    }
    return executors.isOrphaned() ? find(actions, Kind.EXECUTOR_JOINS) : null;
  }

  private static @Nullable Action find(List<Action> actions, Kind kind) {
    for (Action action : actions) {
      if (action.kind() == kind) {
        return action;
      }
    }
    return null;
  }

  private boolean stepOfHealing() {
    List<Action> actions = actions();
    Action next = findProgress(actions, HEALING);
    next = next == null ? findProgress(actions, PROGRESS) : next;
    if (next != null) {
      return take(next);
    }
    for (Action action : actions) {
      if (action.kind() == Kind.EXECUTOR_TIMES_OUT
          && executors.isUnanswerable(action.who(), action.what())) {
        return take(action);
      }
    }
    return false;
  }

  private static Fingerprint fingerprint(String arguments) {
    IntentMeaning meaning = new IntentMeaning("act", null, TARGET, arguments, null, Set.of());
    return switch (FingerprintVersions.released().current().fingerprint(FINGERPRINT_KEY, meaning)) {
      case FingerprintResult.Taken it -> it.fingerprint();
      case FingerprintResult.Refused it ->
          throw new IllegalStateException("Expected a fingerprint, but " + it.refusal().code());
    };
  }
}
