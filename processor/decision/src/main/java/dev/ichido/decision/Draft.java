package dev.ichido.decision;

import dev.ichido.decision.Effect.ReplyAddress;
import dev.ichido.decision.Effect.RequestReconciliation;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.CompensationAsked;
import dev.ichido.decision.OperationEvent.CompensationReleased;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.EventName;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ReadReported;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.Refusal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A decision while it is being made. Lives for one call of decide and never leaves it. */
final class Draft {
  private final OperationEvent event;
  private final Instant heardUntil;
  private final ActionPolicy policy;
  private final List<Effect> effects = new ArrayList<>(4);
  private final List<Transition> transitions = new ArrayList<>(2);
  private OperationState state;
  private @Nullable OperationKey key;

  Draft(OperationState state, OperationEvent event, Instant heardUntil, ActionPolicy policy) {
    this.state = state;
    this.event = event;
    this.heardUntil = heardUntil;
    this.policy = policy;
  }

  OperationState state() {
    return state;
  }

  ActionPolicy policy() {
    return policy;
  }

  Instant at() {
    return event.at();
  }

  OperationKey key() {
    OperationKey known = key;
    if (known == null) {
      known = event.key();
      key = known;
    }
    return known;
  }

  /** Alive while now is before the deadline, over at exactly its instant. */
  boolean isOver(Instant deadline) {
    return !at().isBefore(deadline);
  }

  /** Over, and what was sent before its end would have been heard by now. */
  boolean isOverAndHeard(Instant deadline) {
    return isOver(deadline) && !heardUntil.isBefore(deadline);
  }

  /** Whether a deadline had passed before the event. */
  boolean hasLapsed() {
    return !transitions.isEmpty();
  }

  /** Whether the event is itself this delivery, which is answered by its own verdict. */
  boolean answers(WaitingDelivery delivery) {
    return delivery.deliveryId().equals(event.eventId()) && delivery.principal().equals(acting());
  }

  void emit(Effect effect) {
    effects.add(effect);
  }

  /** A deadline that had passed before the event. */
  void lapse(Verdict verdict, OperationState next) {
    transitions.add(
        new Transition(
            EventName.DEADLINE_REACHED,
            null,
            at(),
            verdict,
            null,
            false,
            state,
            next,
            null,
            null,
            null,
            null,
            null));
    state = next;
  }

  /** The verdict on the event, with the state that follows. */
  Decision close(Verdict verdict, OperationState next, Note note) {
    if (hasLapsed() && !(next instanceof UnknownReconciliation)) {
      // The lease was over, but the event itself answers what the remote would have been asked.
      effects.removeIf(RequestReconciliation.class::isInstance);
    }
    Note full = note.by(actor(next));
    transitions.add(
        new Transition(
            event.name(),
            event.eventId(),
            at(),
            verdict,
            full.code(),
            full.alarm(),
            state,
            next,
            full.by(),
            full.evidence(),
            full.otherReference(),
            full.suspectOf(),
            Transition.Report.of(event)));
    return new Decision(next, verdict, effects, transitions);
  }

  /** The verdict on an event that leaves the state as it is. */
  Decision close(Verdict verdict, Note note) {
    return close(verdict, state, note);
  }

  /** What time alone has done, if anything; the event itself changes nothing. */
  Decision closeLapsed() {
    Verdict verdict =
        transitions.isEmpty()
            ? Verdict.NOTHING_DUE
            : transitions.get(transitions.size() - 1).verdict();
    return new Decision(state, verdict, effects, transitions);
  }

  /** Nothing that anybody is told of; at most the time at which the sweep looks again has moved. */
  Decision closeQuietly(OperationState next) {
    return new Decision(next, Verdict.NOTHING_DUE, effects, transitions);
  }

  Decision refuse(@Nullable ReplyAddress to, Refusal refusal) {
    reply(to, Verdict.INVALID, refusal.code().name(), refusal.detail());
    return close(Verdict.INVALID, Note.code(refusal.code().name()));
  }

  Decision unauthorized(@Nullable ReplyAddress to) {
    reply(
        to,
        Verdict.UNAUTHORIZED,
        null,
        "Expected a principal that may do this, but it may not. Check the policy and who claimed the operation.");
    return close(Verdict.UNAUTHORIZED, Note.NONE);
  }

  /** A final reply that tells nothing of any state. */
  void reply(
      @Nullable ReplyAddress to, Verdict verdict, @Nullable String code, @Nullable String detail) {
    if (to != null) {
      emit(
          new SendReply(
              to, verdict, code, detail, null, 0, 0, true, null, null, null, null, null, List.of(),
              at()));
    }
  }

  /** A reply that tells of a state and of the time at which it goes on, but releases no result. */
  void replyOf(
      Known about,
      @Nullable ReplyAddress to,
      Verdict verdict,
      @Nullable String code,
      @Nullable String detail,
      @Nullable Instant retryAt,
      List<String> differing,
      boolean last) {
    if (to != null) {
      emit(
          new SendReply(
              to,
              verdict,
              code,
              detail,
              about.name(),
              about.attempt(),
              about.revision(),
              last,
              null,
              null,
              null,
              leaseUntil(about),
              retryAt,
              differing,
              at()));
    }
  }

  /** A final reply that releases a stored result. */
  void release(
      Known about,
      @Nullable ReplyAddress to,
      Verdict verdict,
      Marker marker,
      StoredResult result,
      Instant settledAt) {
    if (to != null) {
      emit(
          new SendReply(
              to,
              verdict,
              null,
              null,
              about.name(),
              about.attempt(),
              about.revision(),
              true,
              marker,
              result.answer(),
              settledAt,
              null,
              null,
              List.of(),
              at()));
    }
  }

  /**
   * Answers a delivery that must wait, keeps it when there is a place, and closes. Without a place
   * the reply is the last, and the runtime asks again.
   */
  Decision keepWaiting(
      Open next,
      @Nullable ReplyAddress to,
      Verdict verdict,
      @Nullable ReasonCode code,
      @Nullable String detail,
      @Nullable Instant retryAt,
      Note note) {
    if (to == null) {
      return close(verdict, next, note);
    }
    WaitingDelivery delivery = new WaitingDelivery(to.deliveryId(), to.principal());
    boolean admitted = next.waiting().admits(delivery);
    ReasonCode told = code == null && !admitted ? ReasonCode.WAITING_FULL : code;
    replyOf(
        next,
        to,
        verdict,
        told == null ? null : told.name(),
        detail,
        retryAt,
        List.of(),
        !admitted);
    return close(verdict, next.withWaiting(next.waiting().with(delivery)), note);
  }

  private static @Nullable Instant leaseUntil(Known about) {
    return switch (about) {
      case InProgress s -> s.leaseUntil();
      case UnknownReconciliation s -> null;
      case FailedRetryable s -> null;
      case Succeeded s -> null;
      case FailedTerminal s -> null;
      case Expired s -> null;
      case Cancelled s -> null;
    };
  }

  /** Who acted, where it is not the principal that the operation is bound to. */
  private @Nullable String actor(OperationState next) {
    Principal acting = acting();
    if (acting == null) {
      return null;
    }
    return switch (next) {
      case Absent s -> acting.name();
      case Known s -> s.binding().principal().equals(acting) ? null : acting.name();
    };
  }

  private @Nullable Principal acting() {
    return switch (event) {
      case IntentReceived e -> e.intent().principal();
      case CancelReceived e -> e.principal();
      case ReadReported e -> e.principal();
      case ResultReported e -> null;
      case ReconciliationReported e -> null;
      case ResolutionReceived e -> null;
      case CompensationAsked e -> e.principal();
      case CompensationReleased e -> null;
      case DeadlineReached e -> null;
    };
  }
}
