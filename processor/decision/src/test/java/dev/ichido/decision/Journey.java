package dev.ichido.decision;

import dev.ichido.decision.ActionPolicy.ActionEffect;
import dev.ichido.decision.Effect.Command;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.Effect.RequestReconciliation;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.CompensationAsked;
import dev.ichido.decision.OperationEvent.CompensationReleased;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.Found;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ReadReported;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationEvent.Terms;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.Refusal;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One operation on its way through events, for tests to read as a story. Time moves only by {@link
 * #pass}; the sweep comes only when asked.
 */
final class Journey {
  static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  static final OperationKey KEY = new OperationKey("t1", "global", "op-0000000000000001");
  static final Principal A = new Principal("agent:a");
  static final Principal B = new Principal("agent:b");
  static final String ACTION = "pay.transfer";

  Instant now = START;
  OperationState state;
  ActionPolicy policy;
  @Nullable Instant heard;
  RetryBudget budget = RetryBudget.full(START);
  Decision last =
      new Decision(OperationState.Absent.NOTHING, Verdict.NOTHING_DUE, List.of(), List.of());
  final List<Transition> journal = new ArrayList<>();
  final List<Effect> effects = new ArrayList<>();
  private int deliveries;
  private int reports;

  private Journey(OperationState state, ActionPolicy policy) {
    this.state = state;
    this.policy = policy;
  }

  static Journey begin() {
    return new Journey(OperationState.Absent.NOTHING, ActionPolicy.standard(ACTION));
  }

  static Journey begin(ActionPolicy policy) {
    return new Journey(OperationState.Absent.NOTHING, policy);
  }

  static Journey at(OperationState state, Instant now, ActionPolicy policy) {
    Journey journey = new Journey(state, policy);
    journey.now = now;
    return journey;
  }

  /** The same operation at the same moment; what happens to one does not touch the other. */
  Journey copy() {
    Journey copy = new Journey(state, policy);
    copy.now = now;
    copy.heard = heard;
    copy.budget = budget;
    copy.deliveries = deliveries;
    copy.reports = reports;
    copy.journal.addAll(journal);
    copy.effects.addAll(effects);
    return copy;
  }

  Journey pass(Duration time) {
    now = now.plus(time);
    return this;
  }

  /** From now on nothing that is sent is read before what happens. */
  Journey hearsNoMore() {
    heard = now;
    return this;
  }

  Journey passUntil(Instant time) {
    now = time;
    return this;
  }

  Decision take(OperationEvent event) {
    Instant heardUntil = heard == null ? event.at() : heard;
    last = OperationStateMachine.decide(state, event, heardUntil, policy);
    state = last.next();
    journal.addAll(last.transitions());
    effects.addAll(last.effects());
    return last;
  }

  Journey then(OperationEvent event) {
    var unused = take(event);
    return this;
  }

  // Intents

  Ask ask() {
    deliveries++;
    return new Ask("d-" + deliveries);
  }

  Journey intent() {
    return then(ask().event());
  }

  Journey intentOf(Principal principal) {
    return then(ask().by(principal).event());
  }

  Journey otherIntent() {
    return then(ask().meaning("{\"amount\":101}").event());
  }

  /** An intent that is being put together; what is not said is as the standard intent has it. */
  final class Ask {
    private String deliveryId;
    private Principal principal = A;
    private String arguments = "{\"amount\":100}";
    private @Nullable Instant issuedAt = now;
    private @Nullable String discriminator;
    private @Nullable Refusal refusal;
    private boolean permitted = true;
    private ActionEffect effect = ActionEffect.WRITE;
    private String action = ACTION;
    private Duration clockSkew = policy.clockSkew();
    private Duration lease = policy.lease();
    private @Nullable String suspectOf;
    private @Nullable String operationId = KEY.operationId();
    private @Nullable String compensates;
    private @Nullable OriginalStanding original;

    private Ask(String deliveryId) {
      this.deliveryId = deliveryId;
    }

    Ask delivery(String id) {
      deliveryId = id;
      return this;
    }

    Ask by(Principal who) {
      principal = who;
      return this;
    }

    Ask meaning(String text) {
      arguments = text;
      return this;
    }

    Ask issuedAt(@Nullable Instant time) {
      issuedAt = time;
      return this;
    }

    Ask discriminator(String text) {
      discriminator = text;
      return this;
    }

    Ask refused(Refusal fault) {
      refusal = fault;
      return this;
    }

    Ask forbidden() {
      permitted = false;
      return this;
    }

    Ask read() {
      effect = ActionEffect.READ;
      action = "kb.search";
      return this;
    }

    /** The operation's own action, of which a new policy says that it reads. */
    Ask nowRead() {
      effect = ActionEffect.READ;
      return this;
    }

    /** What the intent's own action says; the policy stays that of the operation. */
    Ask terms(Duration itsClockSkew, Duration itsLease) {
      clockSkew = itsClockSkew;
      lease = itsLease;
      return this;
    }

    Ask suspectOf(String id) {
      suspectOf = id;
      return this;
    }

    Ask operation(@Nullable String id) {
      operationId = id;
      return this;
    }

    Ask undoes(String id) {
      compensates = id;
      return this;
    }

    Ask told(OriginalStanding standing) {
      original = standing;
      return this;
    }

    IntentReceived event() {
      Intent intent =
          new Intent(
              KEY.tenant(),
              KEY.scope(),
              operationId,
              deliveryId,
              principal,
              action,
              null,
              "acct:1",
              arguments,
              null,
              discriminator,
              issuedAt,
              "wf-1",
              "step-1",
              compensates);
      Fingerprint fingerprint =
          effect == ActionEffect.WRITE || state.isBoundTo(action) ? fingerprintOf(arguments) : null;
      return new IntentReceived(
          intent,
          now,
          refusal,
          permitted,
          new Terms(effect, clockSkew, lease),
          fingerprint,
          budget,
          suspectOf,
          original);
    }
  }

  static Fingerprint fingerprintOf(String arguments) {
    TreeMap<String, String> members = new TreeMap<>();
    members.put("arguments.amount", DerivedIds.sha256(arguments));
    members.put("target", DerivedIds.sha256("acct:1"));
    return new Fingerprint(1, DerivedIds.sha256("whole" + arguments), members);
  }

  // Reports

  Journey result(AttemptOutcome outcome, @Nullable Integer attempt) {
    reports++;
    return then(result("r-" + reports, outcome, attempt, "ref-" + reports));
  }

  ResultReported result(
      String id, AttemptOutcome outcome, @Nullable Integer attempt, @Nullable String reference) {
    return new ResultReported(
        KEY,
        now,
        id,
        attempt,
        outcome,
        Answer.of(reference, "{\"receipt\":\"" + reference + "\"}"),
        null);
  }

  Journey succeeds() {
    return result(AttemptOutcome.SUCCEEDED, null);
  }

  Journey failsRetryably() {
    return result(AttemptOutcome.FAILED_RETRYABLE, null);
  }

  Journey failsTerminally() {
    return result(AttemptOutcome.FAILED_TERMINAL, null);
  }

  Journey endsUnknown() {
    return result(AttemptOutcome.UNKNOWN, null);
  }

  Journey reconcile(Found found, @Nullable Integer attempt) {
    reports++;
    return then(reconcile("c-" + reports, found, attempt, "ref-" + reports));
  }

  ReconciliationReported reconcile(
      String id, Found found, @Nullable Integer attempt, @Nullable String reference) {
    return new ReconciliationReported(
        KEY,
        now,
        id,
        attempt,
        found,
        Answer.of(reference, "{\"receipt\":\"" + reference + "\"}"),
        now);
  }

  ReadReported readReport(String deliveryId) {
    return new ReadReported(
        KEY.tenant(),
        KEY.scope(),
        KEY.operationId(),
        deliveryId,
        B,
        now,
        "read-1",
        true,
        Answer.of(null, "{\"found\":1}"));
  }

  Journey resolve(ResolvedAs as) {
    reports++;
    return then(resolution("s-" + reports, as, "person:p", "seen in the bank's ledger", true));
  }

  ResolutionReceived resolution(
      String id, ResolvedAs as, String by, String evidence, boolean permitted) {
    return resolution(id, null, as, by, evidence, permitted);
  }

  ResolutionReceived resolution(
      String id,
      @Nullable Integer attempt,
      ResolvedAs as,
      String by,
      String evidence,
      boolean permitted) {
    return new ResolutionReceived(
        KEY,
        now,
        id,
        attempt,
        as,
        by,
        evidence,
        permitted,
        Answer.of("ref-" + id, "{\"by\":\"hand\"}"));
  }

  Journey cancel() {
    return cancelBy(A);
  }

  Journey cancelBy(Principal principal) {
    deliveries++;
    return then(cancellation(principal, "d-" + deliveries, true));
  }

  CancelReceived cancellation(Principal principal, @Nullable String deliveryId, boolean permitted) {
    return cancellation(principal, deliveryId, now, permitted);
  }

  CancelReceived cancellation(
      Principal principal,
      @Nullable String deliveryId,
      @Nullable Instant issuedAt,
      boolean permitted) {
    return new CancelReceived(
        KEY.tenant(),
        KEY.scope(),
        KEY.operationId(),
        now,
        principal,
        deliveryId,
        issuedAt,
        policy.horizon(),
        policy.clockSkew(),
        null,
        permitted);
  }

  /** As an answered one of the owner that says when the operation was issued. */
  Journey cancelIssued(@Nullable Instant issuedAt) {
    deliveries++;
    return then(cancellation(A, "d-" + deliveries, issuedAt, true));
  }

  Journey undoAsked(String compensation, Principal principal) {
    return then(new CompensationAsked(KEY, now, compensation, "d-undo", principal));
  }

  Journey undoGivenUp(String compensation) {
    return then(new CompensationReleased(KEY, now, compensation));
  }

  Journey sweep() {
    return then(new DeadlineReached(KEY, now, budget));
  }

  /** Moves to the state's next deadline and lets the sweep come. */
  Journey sweepAtDeadline() {
    now = state.nextDeadline().orElseThrow();
    return sweep();
  }

  // What came of the last event

  Verdict verdict() {
    return last.verdict();
  }

  List<Command> commands() {
    return last.effects().stream()
        .filter(DispatchCommand.class::isInstance)
        .map(effect -> ((DispatchCommand) effect).command())
        .toList();
  }

  List<Command> statusReads() {
    return last.effects().stream()
        .filter(RequestReconciliation.class::isInstance)
        .map(effect -> ((RequestReconciliation) effect).command())
        .toList();
  }

  List<SendReply> replies() {
    return last.effects().stream()
        .filter(SendReply.class::isInstance)
        .map(SendReply.class::cast)
        .toList();
  }

  SendReply reply() {
    List<SendReply> all = replies();
    if (all.size() != 1) {
      throw new AssertionError("Expected one reply, but there were " + all);
    }
    return all.get(0);
  }

  /** The journal's line about the last event itself. */
  Transition line() {
    return last.transitions().get(last.transitions().size() - 1);
  }

  long commandsTotal() {
    return effects.stream().filter(DispatchCommand.class::isInstance).count();
  }

  StateName name() {
    return state.name();
  }
}
