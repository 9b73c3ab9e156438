package dev.ichido.decision;

import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.CompensationAsked;
import dev.ichido.decision.OperationEvent.CompensationReleased;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ReadReported;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Known;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * May this side effect run now, and if not, what is the truthful reply? A total and pure function:
 * every state answers every event, equal input gives an equal decision, and nothing is read but the
 * arguments.
 *
 * <p>What is promised of every decision:
 *
 * <ul>
 *   <li>an attempt is let through only while no earlier one may still act, or after proof that it
 *       did not start, or while the remote itself dedupes on the key that every attempt carries;
 *   <li>a settled result changes only by {@link Verdict#LATE_SUCCESS}, {@link Verdict#RECONCILED}
 *       or {@link Verdict#RESOLVED}, and each leaves a transition;
 *   <li>an intent is answered at once and once; one that undoes an operation which has to be asked
 *       first is answered when it comes with the answer;
 *   <li>deadlines that have passed are acted on first, so that no decision depends on whether the
 *       sweep came by; the end of a lease has passed when all that was sent until then is read.
 * </ul>
 */
public final class OperationStateMachine {
  private OperationStateMachine() {}

  /** Decides on one event where everything that was sent before it has been read. */
  public static Decision decide(OperationState state, OperationEvent event, ActionPolicy policy) {
    return decide(state, event, event.at(), policy);
  }

  /**
   * Decides on one event.
   *
   * @param heardUntil everything about the operation that was sent until then has been read; a
   *     lease that ended later is not called over yet
   * @param policy of the action that {@link #governingAction} names
   * @throws NullPointerException for an event that lacks a fact it must carry, such as a
   *     fingerprint: a defect of the adapter, on which the task must stop
   * @throws IllegalArgumentException for a fingerprint under another version than the stored one:
   *     likewise
   */
  public static Decision decide(
      OperationState state, OperationEvent event, Instant heardUntil, ActionPolicy policy) {
    Draft d = new Draft(state, event, heardUntil, policy);
    return switch (event) {
      case IntentReceived e -> IntentRules.decide(d, e);
      case ResultReported e -> ResultRules.decide(d, e);
      case ReadReported e -> ReadRules.decide(d, e);
      case ReconciliationReported e -> ReconciliationRules.decide(d, e);
      case ResolutionReceived e -> ResolutionRules.decide(d, e);
      case CancelReceived e -> CancelRules.decide(d, e);
      case CompensationAsked e -> CompensationRules.decide(d, e);
      case CompensationReleased e -> CompensationRules.decide(d, e);
      case DeadlineReached e -> DeadlineRules.decide(d, e);
    };
  }

  /**
   * The action whose policy decides: that of the operation, once it is known, whatever an intent
   * names; else that of the intent. Null when neither names one; then the adapter takes the policy
   * that remembers longest.
   */
  public static @Nullable String governingAction(OperationState state, OperationEvent event) {
    String bound =
        switch (state) {
          case Absent s -> null;
          case Known s -> s.binding().action();
        };
    return bound == null && event instanceof IntentReceived e ? e.intent().action() : bound;
  }
}
