package dev.ichido.decision;

import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.OperationEvent.Found;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import java.time.Instant;

/**
 * An executor reports on a status read. What it found counts in every state; that it found nothing
 * counts only while nobody knows what the attempt did that was asked about.
 */
final class ReconciliationRules {
  private ReconciliationRules() {}

  static Decision decide(Draft d, ReconciliationReported e) {
    Lapses.catchUp(d);
    return switch (d.state()) {
      case Absent s ->
          ResultRules.orphan(
              d,
              s,
              e.found() == Found.COMMITTED,
              e.resultId(),
              e.attempt(),
              e.answer().remoteReference());
      case InProgress s -> committedOrStale(d, e, s, Note.NONE);
      case UnknownReconciliation s -> unknown(d, e, s);
      case FailedRetryable s -> committedOrStale(d, e, s, Note.ALARM);
      case Succeeded s ->
          switch (e.found()) {
            case COMMITTED ->
                ResultRules.furtherEffect(d, s, e.resultId(), e.attempt(), e.answer());
            case ABSENT, UNKNOWN -> d.close(Verdict.STALE_RESULT, Note.NONE);
          };
      case FailedTerminal s ->
          switch (e.found()) {
            case COMMITTED -> Settling.succeedAfterFailure(d, Verdict.RECONCILED, s, reconciled(e));
            case ABSENT, UNKNOWN -> d.close(Verdict.STALE_RESULT, Note.NONE);
          };
      case Expired s -> afterTheEnd(d, e);
      case Cancelled s -> afterTheEnd(d, e);
    };
  }

  private static Decision committedOrStale(Draft d, ReconciliationReported e, Open s, Note note) {
    return switch (e.found()) {
      case COMMITTED -> Settling.succeed(d, Verdict.RECONCILED, s, reconciled(e), note);
      case ABSENT, UNKNOWN -> d.close(Verdict.STALE_RESULT, Note.NONE);
    };
  }

  private static Decision unknown(Draft d, ReconciliationReported e, UnknownReconciliation s) {
    return switch (e.found()) {
      case COMMITTED -> Settling.succeed(d, Verdict.RECONCILED, s, reconciled(e), Note.NONE);
      case ABSENT ->
          isAskedAbout(e, s) ? absence(d, e, s) : d.close(Verdict.STALE_RESULT, Note.NONE);
      case UNKNOWN ->
          isAskedAbout(e, s)
              ? stillUnknown(d, s, s.reconciliation().stillUnknown(d.at()))
              : d.close(Verdict.STALE_RESULT, Note.NONE);
    };
  }

  private static boolean isAskedAbout(ReconciliationReported e, UnknownReconciliation s) {
    return Standing.of(e.attempt(), s.attempt()) == Standing.LATEST
        || Standing.of(e.attempt(), s.attempts().asked()) == Standing.LATEST;
  }

  /** Each report of absence counts once, and only under a contract that says what proves it. */
  private static Decision absence(Draft d, ReconciliationReported e, UnknownReconciliation s) {
    if (s.reconciliation().absenceIds().contains(e.resultId())) {
      return d.close(Verdict.DUPLICATE_RESULT, Note.NONE);
    }
    AbsentAfter contract = d.policy().remote().absentAfter();
    if (contract == null || !d.policy().remote().statusRead()) {
      return stillUnknown(d, s, s.reconciliation().stillUnknown(d.at()));
    }
    Reconciliation counted = s.reconciliation().foundAbsent(e.resultId(), d.at());
    // A report that was long under way tells of an earlier time, and must not stretch the span.
    Instant readAt = e.readAt().isBefore(d.at()) ? e.readAt() : d.at();
    return counted.proves(contract, readAt)
        ? Settling.failRetryably(
            d, Verdict.RECONCILED, s, s.attempts().allProven(), e.resultId(), null, Note.NONE)
        : stillUnknown(d, s, counted);
  }

  private static Decision stillUnknown(
      Draft d, UnknownReconciliation s, Reconciliation reconciliation) {
    return d.close(Verdict.STILL_UNKNOWN, s.withReconciliation(reconciliation), Note.NONE);
  }

  /** Expired or cancelled: the state stays, whatever is found. */
  private static Decision afterTheEnd(Draft d, ReconciliationReported e) {
    return e.found() == Found.COMMITTED
        ? d.close(Verdict.LATE_SUCCESS, Note.alarm(e.answer().remoteReference()))
        : d.close(Verdict.STALE_RESULT, Note.NONE);
  }

  private static StoredResult reconciled(ReconciliationReported e) {
    return StoredResult.of(e.resultId(), e.answer(), Marker.RECONCILED);
  }
}
