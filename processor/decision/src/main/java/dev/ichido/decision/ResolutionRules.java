package dev.ichido.decision;

import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.operation.RefusalCode;
import org.jspecify.annotations.Nullable;

/** A person settles what only a person can: an operation that is unknown or stuck. */
final class ResolutionRules {
  private ResolutionRules() {}

  static Decision decide(Draft d, ResolutionReceived e) {
    if (!e.permitted()) {
      return d.close(Verdict.UNAUTHORIZED, person(e, null));
    }
    if (e.by().isBlank() || e.evidence().isBlank()) {
      return d.close(Verdict.INVALID, person(e, RefusalCode.EVIDENCE_MISSING));
    }
    Lapses.catchUp(d);
    return switch (d.state()) {
      case UnknownReconciliation s -> resolve(d, e, s);
      case FailedRetryable s -> failedRetryable(d, e, s);
      case Absent s -> notResolvable(d, e);
      case InProgress s -> notResolvable(d, e);
      case Succeeded s -> notResolvable(d, e);
      case FailedTerminal s -> notResolvable(d, e);
      case Expired s -> notResolvable(d, e);
      case Cancelled s -> notResolvable(d, e);
    };
  }

  /** That nothing started is known already: it is only said again to grant further attempts. */
  private static Decision failedRetryable(Draft d, ResolutionReceived e, FailedRetryable s) {
    boolean helps = e.as() != ResolvedAs.NOT_STARTED || Attempting.isGrantable(d, s);
    return helps && Attempting.isStuck(s, d.at(), d.policy())
        ? resolve(d, e, s)
        : notResolvable(d, e);
  }

  private static Decision resolve(Draft d, ResolutionReceived e, Open s) {
    if (e.attempt() != null && e.attempt() != s.attempts().number()) {
      return notResolvable(d, e);
    }
    return switch (e.as()) {
      case SUCCEEDED -> Settling.succeed(d, Verdict.RESOLVED, s, resolved(e), person(e, null));
      case FAILED_TERMINAL ->
          Settling.failTerminally(d, Verdict.RESOLVED, s, resolved(e), person(e, null));
      case NOT_STARTED ->
          Settling.failRetryably(
              d,
              Verdict.RESOLVED,
              s,
              s.attempts().granted(),
              e.resolutionId(),
              null,
              person(e, null));
    };
  }

  private static Decision notResolvable(Draft d, ResolutionReceived e) {
    return d.close(Verdict.INVALID, person(e, RefusalCode.NOT_RESOLVABLE));
  }

  private static StoredResult resolved(ResolutionReceived e) {
    return StoredResult.of(e.resolutionId(), e.answer(), Marker.RECONCILED);
  }

  private static Note person(ResolutionReceived e, @Nullable RefusalCode code) {
    return Note.person(code == null ? null : code.name(), e.by(), e.evidence());
  }
}
