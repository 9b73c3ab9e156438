package dev.ichido.decision;

import dev.ichido.decision.Effect.ReplyAddress;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settling an operation and telling who waits. Retention counts from here on, and both of its ends
 * are stored.
 */
final class Settling {
  private Settling() {}

  /** An open operation took effect: who waits is released. */
  static Decision succeed(Draft d, Verdict verdict, Open s, StoredResult result, Note note) {
    Superseded superseded =
        s instanceof FailedRetryable failed
            ? new Superseded(failed.name(), failed.settledAt())
            : null;
    Succeeded next = succeeded(d, s, s.attempts(), result, superseded);
    releaseAll(d, verdict, s.waiting(), next, result, next.settledAt());
    return d.close(verdict, next, note);
  }

  /** A refused operation took effect after all. */
  static Decision succeedAfterFailure(
      Draft d, Verdict verdict, FailedTerminal s, StoredResult result) {
    Succeeded next = succeeded(d, s, s.attempts(), result, new Superseded(s.name(), s.settledAt()));
    return d.close(verdict, next, Note.ALARM);
  }

  private static Succeeded succeeded(
      Draft d, Known s, Attempts attempts, StoredResult result, @Nullable Superseded superseded) {
    return new Succeeded(
        s.revision() + 1,
        s.binding(),
        attempts,
        result,
        d.at(),
        retainUntil(d),
        forgetAt(d),
        List.of(),
        superseded);
  }

  /** The remote refused an open operation for good: who waits is released. */
  static Decision failTerminally(Draft d, Verdict verdict, Open s, StoredResult result, Note note) {
    FailedTerminal next =
        new FailedTerminal(
            s.revision() + 1,
            s.binding(),
            s.attempts().allProven(),
            result,
            d.at(),
            retainUntil(d),
            forgetAt(d));
    releaseAll(d, verdict, s.waiting(), next, result, next.settledAt());
    CompensationRules.release(d, s.binding());
    return d.close(verdict, next, note);
  }

  /**
   * It is proven that no attempt took effect: who waits is told and goes on waiting. Where no
   * attempt can follow, that is said; only a person brings it on then. If no further attempt is
   * wanted, the operation is cancelled instead and who waits is released.
   *
   * @param retryAfter the remote's own wish
   */
  static Decision failRetryably(
      Draft d,
      Verdict verdict,
      Open s,
      Attempts attempts,
      String settlingId,
      @Nullable Duration retryAfter,
      Note note) {
    if (attempts.noFurther()) {
      return cancel(d, verdict, s, note);
    }
    Instant retryAt = d.at().plus(Attempting.delay(d, attempts, retryAfter));
    FailedRetryable asleep =
        new FailedRetryable(
            s.revision() + 1,
            s.binding(),
            attempts,
            s.work(),
            settlingId,
            d.at(),
            retryAt,
            null,
            retainUntil(d),
            forgetAt(d),
            s.waiting());
    ReasonCode hindrance =
        Attempting.hindrance(asleep, retryAt, d.policy(), RetryBudget.full(retryAt));
    FailedRetryable next =
        hindrance == null && d.policy().retry().auto() ? asleep.withWakeAt(retryAt) : asleep;
    String code = hindrance == null ? null : hindrance.name();
    for (WaitingDelivery delivery : s.waiting().deliveries()) {
      d.replyOf(
          next,
          ReplyAddress.of(d.key(), delivery),
          verdict,
          code,
          null,
          hindrance == null ? retryAt : null,
          List.of(),
          false);
    }
    return d.close(verdict, next, note.because(hindrance));
  }

  /**
   * It is proven that one attempt did not take effect, and others still may have: nobody knows.
   *
   * @param attempts with that proof
   * @param retryAfter the remote's own wish
   */
  static Decision stillUnproven(
      Draft d, Verdict verdict, Open s, Attempts attempts, @Nullable Duration retryAfter) {
    if (!(s instanceof UnknownReconciliation u)) {
      return becomeUnknown(d, verdict, s, attempts, retryAfter);
    }
    return d.close(Verdict.STILL_UNKNOWN, u.withAttempts(attempts), Note.NONE);
  }

  /** No attempt can act and none is wanted: who waits is released. */
  static Decision cancel(Draft d, Verdict verdict, Open s, Note note) {
    Cancelled next = cancelled(d, s.revision(), s.binding(), s.attempt());
    for (WaitingDelivery delivery : s.waiting().deliveries()) {
      d.replyOf(
          next, ReplyAddress.of(d.key(), delivery), verdict, null, null, null, List.of(), true);
    }
    return d.close(verdict, next, note);
  }

  static Cancelled cancelled(Draft d, long revision, Binding binding, int attempt) {
    CompensationRules.release(d, binding);
    return new Cancelled(revision + 1, binding, attempt, d.at(), retainUntil(d), forgetAt(d));
  }

  /**
   * It is settled that nobody knows: who waits is told and goes on waiting, and the remote is
   * asked.
   *
   * @param attempts of which some are unproven
   * @param retryAfter the remote's own wish
   */
  static Decision becomeUnknown(
      Draft d, Verdict verdict, Open s, Attempts attempts, @Nullable Duration retryAfter) {
    UnknownReconciliation next =
        Unknowns.enter(d, s.revision(), s.binding(), attempts, s.work(), d.at(), retryAfter, false)
            .withWaiting(s.waiting());
    for (WaitingDelivery delivery : s.waiting().deliveries()) {
      d.replyOf(
          next,
          ReplyAddress.of(d.key(), delivery),
          verdict,
          null,
          Unknowns.whatIsBeingDone(next),
          Unknowns.nextStepAt(next),
          List.of(),
          false);
    }
    return d.close(verdict, next, Note.NONE);
  }

  private static void releaseAll(
      Draft d,
      Verdict verdict,
      Waiting waiting,
      Known next,
      StoredResult result,
      Instant settledAt) {
    for (WaitingDelivery delivery : waiting.deliveries()) {
      d.release(
          next, ReplyAddress.of(d.key(), delivery), verdict, result.settledBy(), result, settledAt);
    }
  }

  private static Instant retainUntil(Draft d) {
    return d.at().plus(d.policy().retention());
  }

  /**
   * Identity outlives the horizon by the skew, so that an id issued ahead of time cannot run again.
   */
  static Instant forgetAt(Draft d) {
    return d.at().plus(d.policy().horizon()).plus(d.policy().clockSkew());
  }
}
