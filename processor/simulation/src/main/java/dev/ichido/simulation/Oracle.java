package dev.ichido.simulation;

import dev.ichido.decision.Answer;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.StateName;
import dev.ichido.decision.Transition;
import dev.ichido.decision.Verdict;
import dev.ichido.executor.Report;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.simulation.Action.Written;
import dev.ichido.simulation.Executors.Sent;
import dev.ichido.simulation.Processors.Made;
import dev.ichido.simulation.Relays.Row;
import dev.ichido.simulation.Remote.Effect;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Holds the world against the invariants. What it goes by is the remote's own book, the list of
 * what was committed in the outbox, and what left the processor; never the state under test alone.
 */
final class Oracle {
  private final World world;
  private final Map<String, SendReply> latest = new HashMap<>();
  private final Of[] operations = new Of[World.OPERATIONS];
  private final Set<Integer> relayed = new HashSet<>();
  private final Set<Verdict> verdicts = EnumSet.noneOf(Verdict.class);
  private int relayedInOrder;

  /** What is known of one operation. */
  private static final class Of {
    int attempt;
    @Nullable String arguments;
    @Nullable String told;
    boolean alarm;
    boolean forgotten;
    boolean expired;

    /** Number of the latest attempt when somebody was told that there was no effect. */
    int toldNothing = -1;

    final Set<String> successes = new HashSet<>();
  }

  Oracle(World world) {
    this.world = world;
    for (int i = 0; i < operations.length; i++) {
      operations[i] = new Of();
    }
  }

  Set<Verdict> verdicts() {
    return verdicts;
  }

  void tookEffect(int operation) {
    List<Effect> effects = world.remote.effects(operation);
    Effect effect = effects.get(effects.size() - 1);
    require(
        effect.arguments().equals(operations[operation].arguments),
        Invariant.EFFECT_IS_WHAT_WAS_CLAIMED,
        operation,
        "another meaning took effect");
    Of of = operations[operation];
    if (world.profile.undoing() && operation > 0) {
      require(
          !world.remote.effects(0).isEmpty() && world.remote.effects(3 - operation).isEmpty(),
          Invariant.UNDONE_ONCE,
          operation,
          "what it undoes did not take effect, or was undone before");
    }
    for (int i = 0; world.profile.holdsSuspects() && i < operations.length; i++) {
      boolean mayBeTwin =
          i != operation && world.key(i).tenant().equals(world.key(operation).tenant());
      require(
          !mayBeTwin
              || operations[i].expired
              || world.remote.effects(i).stream()
                  .noneMatch(it -> it.arguments().equals(effect.arguments())),
          Invariant.SUSPECT_IS_HELD,
          operation,
          "its twin took effect, and nobody said that it is another one");
    }
    require(
        effects.size() < 2 || isGap(operation),
        Invariant.AT_MOST_ONE_EFFECT,
        operation,
        "it took effect " + effects.size() + " times");
    require(
        effect.attempt() > of.toldNothing || isGap(operation),
        Invariant.TRUTH,
        operation,
        "attempt " + effect.attempt() + " took effect after it was told that it had none");
  }

  /** A call that was under way too long, or a status read that lied, where no key protects. */
  private boolean isGap(int operation) {
    return world.profile.hasGap()
        && (world.remote.lied(operation)
            || world.remote.effects(operation).stream().anyMatch(Effect::late));
  }

  void relayed(Row row, List<Row> log) {
    relayed.add(row.id());
    while (relayedInOrder < log.size() && relayed.contains(log.get(relayedInOrder).id())) {
      relayedInOrder++;
    }
    require(
        log.indexOf(row) < relayedInOrder,
        Invariant.RELAY_IN_COMMIT_ORDER,
        row.operation(),
        row.deliveryId() + " overtook a row that was committed before it");
  }

  void sent(Sent sent, boolean once) {
    Of of = operations[sent.operation()];
    ToolCommand command = sent.command();
    if (command.kind() != ToolCommand.Kind.EXECUTE) {
      return;
    }
    require(
        !once || command.attempt() > of.attempt,
        Invariant.ATTEMPTS_GROW,
        sent.operation(),
        "attempt " + command.attempt() + " left after attempt " + of.attempt);
    of.attempt = Math.max(of.attempt, command.attempt());
    require(
        of.arguments == null || of.arguments.equals(command.arguments()),
        Invariant.EFFECT_IS_WHAT_WAS_CLAIMED,
        sent.operation(),
        "attempts of two meanings left");
    of.arguments = command.arguments();
  }

  void replied(int operation, SendReply reply) {
    latest.put(reply.to().deliveryId(), reply);
    if (reply.verdict() == Verdict.PASSED_THROUGH) {
      // Of a read, whose answer is no operation's.
      return;
    }
    Answer answer = reply.answer();
    if (answer != null) {
      require(
          answer.body() == null || answer.body().equals(world.recordKey(operation)),
          Invariant.NO_FALSE_DEDUPE,
          operation,
          "it was answered with the result of another operation");
      require(
          !world.relays.isOfAnotherMeaning(
              reply.to().deliveryId(), operations[operation].arguments),
          Invariant.NO_FALSE_DEDUPE,
          operation,
          reply.to().deliveryId() + " was answered with the result of another meaning");
    }
    if (reply.state() == StateName.SUCCEEDED && answer != null) {
      Of of = operations[operation];
      String reference = String.valueOf(answer.remoteReference());
      require(
          world.remote.effects(operation).stream().anyMatch(it -> it.reference().equals(reference)),
          Invariant.TRUTH,
          operation,
          reply.to().deliveryId() + " was told of an effect that is not in the book");
      require(
          of.told == null || of.told.equals(reference),
          Invariant.SETTLED_STAYS,
          operation,
          "two results were told");
      of.told = reference;
    }
    if (isNothing(reply.state())) {
      Of of = operations[operation];
      of.toldNothing = Math.max(of.toldNothing, reply.attempt());
      require(
          world.remote.effects(operation).isEmpty() || isGap(operation),
          Invariant.TRUTH,
          operation,
          reply.to().deliveryId() + " was told " + reply.state() + " of what took effect");
    }
    require(
        reply.state() != StateName.FAILED_TERMINAL || operations[operation].told == null,
        Invariant.SETTLED_STAYS,
        operation,
        "a failure was told after a success");
  }

  private static boolean isNothing(@Nullable StateName state) {
    return state == StateName.FAILED_RETRYABLE
        || state == StateName.FAILED_TERMINAL
        || state == StateName.CANCELLED;
  }

  /**
   * A decision stands.
   *
   * @param once whether states are committed with what they lead to
   */
  void decided(Made made, boolean once) {
    Of of = operations[made.operation()];
    require(
        !once || !made.unheard(),
        Invariant.HEARD_BEFORE_UNKNOWN,
        made.operation(),
        "its lease is called over although a report that was sent before is unread");
    for (Transition transition : made.decision().transitions()) {
      of.alarm |= transition.alarm();
      verdicts.add(transition.verdict());
      of.expired |= transition.after() instanceof Expired;
      of.forgotten |=
          transition.after() instanceof Absent && !(transition.before() instanceof Absent);
      if (once) {
        stays(made.operation(), transition);
      }
    }
    String reference =
        switch (made.event()) {
          case ResultReported it -> it.answer().remoteReference();
          case ReconciliationReported it -> it.answer().remoteReference();
          default -> null;
        };
    if (reference != null) {
      of.successes.add(reference);
    }
  }

  private void stays(int operation, Transition t) {
    OperationState after = t.after();
    boolean ends = after instanceof Expired || after instanceof Absent;
    if (t.before() instanceof Succeeded before) {
      require(
          ends || (after instanceof Succeeded s && s.result().equals(before.result())),
          Invariant.SETTLED_STAYS,
          operation,
          "a success became " + after.name());
    }
    if (t.before() instanceof FailedTerminal && !(after instanceof FailedTerminal)) {
      boolean late =
          after instanceof Succeeded
              && t.alarm()
              && (t.verdict() == Verdict.LATE_SUCCESS || t.verdict() == Verdict.RECONCILED);
      require(
          ends || late,
          Invariant.SETTLED_STAYS,
          operation,
          "a failure became " + after.name() + " by " + t.verdict());
    }
  }

  /** What holds at every moment, whatever is under way. */
  void afterEveryStep() {
    for (int i = 0; i < operations.length; i++) {
      isTrue(i, world.processors.state(i));
    }
  }

  private void isTrue(int operation, OperationState state) {
    Of of = operations[operation];
    List<Effect> effects = world.remote.effects(operation);
    require(
        effects.size() < 2 || of.successes.size() < 2 || of.alarm,
        Invariant.SECOND_EFFECT_IS_REPORTED,
        operation,
        "two effects were reported and no alarm was raised");
    switch (state) {
      case Succeeded s ->
          require(
              !effects.isEmpty(), Invariant.TRUTH, operation, "a success that is not in the book");
      case FailedRetryable s -> hadNone(operation, "what counts as proven not to have started");
      case FailedTerminal s -> hadNone(operation, "a failure");
      case Cancelled s -> hadNone(operation, "a cancelled operation");
      case Absent s -> {}
      case InProgress s -> {}
      case UnknownReconciliation s -> {}
      case Expired s -> {}
    }
  }

  private void hadNone(int operation, String what) {
    require(
        world.remote.effects(operation).isEmpty() || isGap(operation),
        Invariant.TRUTH,
        operation,
        what + " took effect");
  }

  /** Everything has healed and nothing is under way any more. */
  void atTheEnd(List<Row> log) {
    for (Row row : log) {
      require(
          relayed.contains(row.id()),
          Invariant.NOTHING_LOST,
          row.operation(),
          row.deliveryId() + " never reached the topic");
      SendReply reply = latest.get(row.deliveryId());
      require(
          reply != null,
          Invariant.EVERY_DELIVERY_ANSWERED,
          row.operation(),
          row.deliveryId() + " was never answered");
      OperationState state = world.processors.state(row.operation());
      require(
          Objects.requireNonNull(reply).last()
              || (state instanceof Open && row.written() != Written.READ),
          Invariant.EVERY_DELIVERY_ANSWERED,
          row.operation(),
          row.deliveryId() + " waits for an operation that is " + state.name());
    }
    for (int i = 0; i < operations.length; i++) {
      atTheEnd(i, world.processors.state(i));
    }
  }

  private void atTheEnd(int operation, OperationState state) {
    Of of = operations[operation];
    switch (state) {
      case Absent s ->
          require(
              of.forgotten || of.attempt == 0,
              Invariant.NOTHING_LOST,
              operation,
              "nothing is known of an operation that was started");
      case InProgress s ->
          throw new ViolationException(
              Invariant.NOTHING_LOST, "operation " + operation + " is stuck in progress");
      case UnknownReconciliation s -> {
        require(
            !world.profile.statusRead(),
            Invariant.UNKNOWN_IS_SETTLED,
            operation,
            "it stays unknown although the remote can be asked");
        require(
            s.attempts().unproven().stream().anyMatch(it -> isUnknown(operation, it)),
            Invariant.UNKNOWN_IS_SETTLED,
            operation,
            "it stays unknown although the claims say what became of it");
      }
      case FailedRetryable s ->
          require(
              s.wakeAt() == null,
              Invariant.NOTHING_LOST,
              operation,
              "an attempt that is due is not made");
      case Succeeded s -> {}
      case FailedTerminal s -> {}
      case Cancelled s -> {}
      case Expired s -> {}
    }
  }

  /** Whether the claims say nothing of what became of an attempt. */
  private boolean isUnknown(int operation, int attempt) {
    ClaimAnswer claim = world.executors.claim(operation, attempt);
    return claim instanceof ClaimAnswer.Open
        || (claim instanceof ClaimAnswer.Recorded it
            && it.report().finding() == Report.Finding.UNKNOWN);
  }

  private static void require(boolean holds, Invariant invariant, int operation, String what) {
    if (!holds) {
      throw new ViolationException(invariant, "operation " + operation + ", " + what);
    }
  }
}
