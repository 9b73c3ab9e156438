package dev.ichido.decision;

import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An executor reports on an attempt. A success is never dropped, whichever attempt and state it
 * meets; what is no success counts only for the latest attempt.
 */
final class ResultRules {
  private ResultRules() {}

  static Decision decide(Draft d, ResultReported e) {
    Lapses.catchUp(d);
    return switch (d.state()) {
      case Absent s ->
          orphan(
              d,
              s,
              e.outcome() == AttemptOutcome.SUCCEEDED,
              e.resultId(),
              e.attempt(),
              e.answer().remoteReference());
      case InProgress s -> inProgress(d, e, s);
      case UnknownReconciliation s -> unknown(d, e, s);
      case FailedRetryable s -> failedRetryable(d, e, s);
      case Succeeded s -> succeeded(d, e, s);
      case FailedTerminal s -> failedTerminal(d, e, s);
      case Expired s -> afterTheEnd(d, e);
      case Cancelled s -> afterTheEnd(d, e);
    };
  }

  /**
   * A success is kept as evidence: the first of them, since one is enough to hold the next intent.
   */
  static Decision orphan(
      Draft d,
      Absent s,
      boolean success,
      String resultId,
      @Nullable Integer attempt,
      @Nullable String reference) {
    if (!success) {
      return d.close(Verdict.ORPHAN_RESULT, Note.NONE);
    }
    if (s.evidence() != null) {
      return d.close(Verdict.ORPHAN_RESULT, Note.alarm(reference));
    }
    OrphanEvidence evidence =
        new OrphanEvidence(
            resultId,
            attempt == null ? 1 : Math.max(1, attempt),
            reference,
            d.at(),
            Settling.forgetAt(d));
    return d.close(Verdict.ORPHAN_RESULT, new Absent(evidence), Note.ALARM);
  }

  private static Decision inProgress(Draft d, ResultReported e, InProgress s) {
    return switch (Standing.of(e.attempt(), s.attempt())) {
      case LATEST ->
          switch (e.outcome()) {
            case SUCCEEDED -> Settling.succeed(d, Verdict.SETTLED, s, executed(e), Note.NONE);
            case FAILED_TERMINAL, FAILED_RETRYABLE ->
                failed(d, e, s, s.attempts().proven(s.attempt()));
            case UNKNOWN -> Settling.becomeUnknown(d, Verdict.SETTLED, s, s.attempts(), null);
          };
      case ANOTHER ->
          switch (e.outcome()) {
            case SUCCEEDED -> lateSuccess(d, e, s);
            case FAILED_TERMINAL, FAILED_RETRYABLE ->
                d.close(Verdict.STALE_RESULT, s.withAttempts(provenOf(e, s)), Note.NONE);
            case UNKNOWN -> d.close(Verdict.STALE_RESULT, Note.NONE);
          };
    };
  }

  private static Decision unknown(Draft d, ResultReported e, UnknownReconciliation s) {
    return switch (Standing.of(e.attempt(), s.attempt())) {
      case LATEST ->
          switch (e.outcome()) {
            case SUCCEEDED -> Settling.succeed(d, Verdict.SETTLED, s, executed(e), Note.NONE);
            case FAILED_TERMINAL, FAILED_RETRYABLE ->
                failed(d, e, s, s.attempts().proven(s.attempt()));
            // It may contradict a proof that came before it.
            case UNKNOWN ->
                d.close(
                    Verdict.STILL_UNKNOWN,
                    s.withAttempts(s.attempts().latestUnproven()),
                    Note.NONE);
          };
      case ANOTHER ->
          switch (e.outcome()) {
            case SUCCEEDED -> lateSuccess(d, e, s);
            case FAILED_TERMINAL, FAILED_RETRYABLE -> earlierFailed(d, e, s);
            case UNKNOWN -> d.close(Verdict.STALE_RESULT, Note.NONE);
          };
    };
  }

  /**
   * The proof about an earlier attempt settles what is unknown where it is the last that lacked.
   */
  private static Decision earlierFailed(Draft d, ResultReported e, UnknownReconciliation s) {
    Attempts proven = provenOf(e, s);
    return proven.unproven().isEmpty()
        ? failed(d, e, s, proven)
        : d.close(Verdict.STALE_RESULT, s.withAttempts(proven), Note.NONE);
  }

  private static Decision failedRetryable(Draft d, ResultReported e, FailedRetryable s) {
    return switch (Standing.of(e.attempt(), s.attempt())) {
      case LATEST ->
          switch (e.outcome()) {
            case SUCCEEDED -> lateSuccess(d, e, s);
            case FAILED_TERMINAL -> d.close(Verdict.STALE_RESULT, Note.NONE);
            case FAILED_RETRYABLE -> d.close(Verdict.DUPLICATE_RESULT, Note.NONE);
            // Another report than the proof contradicts it: what cannot be proven is not assumed.
            case UNKNOWN ->
                e.resultId().equals(s.settlingId())
                    ? d.close(Verdict.DUPLICATE_RESULT, Note.NONE)
                    : Settling.becomeUnknown(
                        d, Verdict.SETTLED, s, s.attempts().latestUnproven(), null);
          };
      case ANOTHER ->
          e.outcome() == AttemptOutcome.SUCCEEDED
              ? lateSuccess(d, e, s)
              : d.close(Verdict.STALE_RESULT, Note.NONE);
    };
  }

  private static Decision succeeded(Draft d, ResultReported e, Succeeded s) {
    return switch (e.outcome()) {
      case SUCCEEDED -> furtherEffect(d, s, e.resultId(), e.attempt(), e.answer());
      case FAILED_TERMINAL, FAILED_RETRYABLE, UNKNOWN -> d.close(Verdict.STALE_RESULT, Note.NONE);
    };
  }

  private static Decision failedTerminal(Draft d, ResultReported e, FailedTerminal s) {
    return switch (e.outcome()) {
      case SUCCEEDED -> Settling.succeedAfterFailure(d, Verdict.LATE_SUCCESS, s, executed(e));
      case FAILED_TERMINAL ->
          d.close(
              Standing.of(e.attempt(), s.attempt()) == Standing.LATEST
                  ? Verdict.DUPLICATE_RESULT
                  : Verdict.STALE_RESULT,
              Note.NONE);
      case FAILED_RETRYABLE, UNKNOWN -> d.close(Verdict.STALE_RESULT, Note.NONE);
    };
  }

  /** Expired or cancelled: the state stays, whatever is reported. */
  private static Decision afterTheEnd(Draft d, ResultReported e) {
    return e.outcome() == AttemptOutcome.SUCCEEDED
        ? d.close(Verdict.LATE_SUCCESS, Note.alarm(e.answer().remoteReference()))
        : d.close(Verdict.STALE_RESULT, Note.NONE);
  }

  /**
   * A success beside the one that counts. The same report, or the same reference, is the same
   * effect; a missing reference counts as another one. The stored result stays.
   */
  static Decision furtherEffect(
      Draft d, Succeeded s, String resultId, @Nullable Integer attempt, Answer answer) {
    String reference = answer.remoteReference();
    if (isSame(s.result().resultId(), s.result().answer().remoteReference(), resultId, reference)) {
      return d.close(Verdict.DUPLICATE_RESULT, Note.NONE);
    }
    for (OtherEffect other : s.others()) {
      if (isSame(other.resultId(), other.remoteReference(), resultId, reference)) {
        return d.close(Verdict.DUPLICATE_RESULT, Note.NONE);
      }
    }
    List<OtherEffect> others = s.others();
    if (others.size() < Succeeded.OTHERS_KEPT) {
      others = new ArrayList<>(others);
      others.add(
          new OtherEffect(resultId, reference, attempt == null ? s.attempt() : attempt, d.at()));
    }
    Succeeded next =
        new Succeeded(
            s.revision() + 1,
            s.binding(),
            s.attempts(),
            s.result(),
            s.settledAt(),
            s.retainUntil(),
            s.forgetAt(),
            others,
            s.superseded());
    return d.close(Verdict.SECOND_EFFECT, next, Note.alarm(reference));
  }

  private static boolean isSame(
      String knownId, @Nullable String knownReference, String id, @Nullable String reference) {
    return knownId.equals(id) || (knownReference != null && knownReference.equals(reference));
  }

  /**
   * An attempt provably had no effect. That the operation had none is only told when it is proven
   * of every attempt; before that, nobody knows.
   */
  private static Decision failed(Draft d, ResultReported e, Open s, Attempts proven) {
    if (!proven.unproven().isEmpty()) {
      return Settling.stillUnproven(d, Verdict.SETTLED, s, proven, e.retryAfter());
    }
    return e.outcome() == AttemptOutcome.FAILED_TERMINAL
        ? Settling.failTerminally(d, Verdict.SETTLED, s, executed(e), Note.NONE)
        : Settling.failRetryably(
            d, Verdict.SETTLED, s, proven, e.resultId(), e.retryAfter(), Note.NONE);
  }

  private static Attempts provenOf(ResultReported e, Open s) {
    return s.attempts().proven(Objects.requireNonNull(e.attempt(), "attempt"));
  }

  private static Decision lateSuccess(Draft d, ResultReported e, Open s) {
    return Settling.succeed(d, Verdict.LATE_SUCCESS, s, executed(e), Note.ALARM);
  }

  private static StoredResult executed(ResultReported e) {
    return StoredResult.of(e.resultId(), e.answer(), Marker.EXECUTED);
  }
}
