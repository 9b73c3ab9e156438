package dev.ichido.decision;

import dev.ichido.decision.Effect.AskOriginal;
import dev.ichido.decision.Effect.ReleaseOriginal;
import dev.ichido.decision.Effect.ReplyAddress;
import dev.ichido.decision.Effect.TellCompensation;
import dev.ichido.decision.OperationEvent.CompensationAsked;
import dev.ichido.decision.OperationEvent.CompensationReleased;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.RefusalCode;
import org.jspecify.annotations.Nullable;

/**
 * Undoing an operation is an operation of its own, in another partition. Whether it may run is
 * decided where the original is owned: only there it is certain that it took effect, and that no
 * other operation undoes it. The original notes the one that may before that one can be claimed, so
 * that neither a crash between the two nor a second compensation undoes it twice.
 */
final class CompensationRules {
  private CompensationRules() {}

  /**
   * At the compensation, of which nothing is known yet: asks, or judges by the answer.
   *
   * @return null when it may be claimed
   */
  static @Nullable Decision hindrance(Draft d, IntentReceived e, ReplyAddress to) {
    OperationKey original = original(e.intent());
    if (original == null) {
      return null;
    }
    OriginalStanding standing = e.original();
    if (standing == null) {
      d.emit(
          new AskOriginal(
              original, d.key().operationId(), e.intent().deliveryId(), e.intent().principal()));
      return d.closeLapsed();
    }
    return switch (standing) {
      case GRANTED -> null;
      case ABSENT -> later(d, to, ReasonCode.ORIGINAL_ABSENT, "nothing is known of it");
      case IN_PROGRESS -> later(d, to, ReasonCode.ORIGINAL_IN_PROGRESS, "an attempt of it runs");
      case UNKNOWN ->
          later(d, to, ReasonCode.ORIGINAL_UNKNOWN, "what its last attempt did is unknown");
      case RETRYABLE ->
          later(d, to, ReasonCode.ORIGINAL_RETRYABLE, "a next attempt of it may follow");
      case WITHOUT_EFFECT ->
          d.refuse(to, RefusalCode.NOTHING_TO_UNDO.because("it is over without an effect"));
      case TAKEN ->
          d.refuse(to, RefusalCode.COMPENSATED_ALREADY.because("another operation id undoes it"));
      case WITHHELD -> d.unauthorized(to);
    };
  }

  private static Decision later(Draft d, ReplyAddress to, ReasonCode code, String was) {
    d.reply(
        to,
        Verdict.RETRY_LATER,
        code.name(),
        "Expected an original that took effect, but "
            + was
            + ". Send the compensation again under its id when the original is settled.");
    return d.close(Verdict.RETRY_LATER, Note.code(code.name()));
  }

  /** The place that the original keeps is given back when this operation did not take it. */
  static Decision keepOrRelease(Decision decision, IntentReceived e) {
    OperationKey original = original(e.intent());
    if (original == null || e.original() != OriginalStanding.GRANTED) {
      return decision;
    }
    boolean taken =
        switch (decision.next()) {
          case Absent s -> false;
          case Cancelled s -> false;
          case FailedTerminal s -> false;
          case Expired s -> s.was() == StateName.SUCCEEDED && undoes(s, original);
          case InProgress s -> undoes(s, original);
          case UnknownReconciliation s -> undoes(s, original);
          case FailedRetryable s -> undoes(s, original);
          case Succeeded s -> undoes(s, original);
        };
    return taken ? decision : decision.with(new ReleaseOriginal(original, e.key().operationId()));
  }

  private static boolean undoes(Known s, OperationKey original) {
    return original.operationId().equals(s.binding().compensates());
  }

  /** This operation will not take effect: the place that the original keeps is given back. */
  static void release(Draft d, Binding binding) {
    String compensates = binding.compensates();
    if (compensates != null) {
      d.emit(
          new ReleaseOriginal(
              new OperationKey(d.key().tenant(), d.key().scope(), compensates),
              d.key().operationId()));
    }
  }

  private static @Nullable OperationKey original(Intent intent) {
    return intent.compensates() == null
        ? null
        : new OperationKey(intent.tenant(), intent.scope(), intent.compensates());
  }

  /** At the original: tells how it stands, and notes the one that may undo it. */
  static Decision decide(Draft d, CompensationAsked e) {
    Lapses.catchUp(d);
    return switch (d.state()) {
      case Absent s -> tell(d, OriginalStanding.ABSENT);
      case Known s ->
          IntentRules.mayUse(s.binding(), e.principal(), d.policy())
              ? known(d, e, s)
              : tell(d, OriginalStanding.WITHHELD);
    };
  }

  private static Decision known(Draft d, CompensationAsked e, Known state) {
    return switch (state) {
      case InProgress s -> tell(d, OriginalStanding.IN_PROGRESS);
      case UnknownReconciliation s -> tell(d, OriginalStanding.UNKNOWN);
      case FailedRetryable s -> tell(d, OriginalStanding.RETRYABLE);
      case FailedTerminal s -> tell(d, OriginalStanding.WITHOUT_EFFECT);
      case Cancelled s -> tell(d, OriginalStanding.WITHOUT_EFFECT);
      case Succeeded s -> grant(d, e, s, s.withBinding(noting(s, e.compensation())));
      case Expired s ->
          s.was() == StateName.SUCCEEDED
              ? grant(d, e, s, s.withBinding(noting(s, e.compensation())))
              : tell(d, OriginalStanding.WITHOUT_EFFECT);
    };
  }

  private static Decision grant(Draft d, CompensationAsked e, Known s, Known noted) {
    String by = s.binding().compensatedBy();
    if (by != null) {
      return tell(
          d, by.equals(e.compensation()) ? OriginalStanding.GRANTED : OriginalStanding.TAKEN);
    }
    d.emit(new TellCompensation(OriginalStanding.GRANTED));
    return d.close(Verdict.COMPENSATION_GRANTED, noted, Note.NONE);
  }

  private static Decision tell(Draft d, OriginalStanding standing) {
    d.emit(new TellCompensation(standing));
    return d.closeLapsed();
  }

  /** At the original: the one that it noted gives up. */
  static Decision decide(Draft d, CompensationReleased e) {
    Lapses.catchUp(d);
    return switch (d.state()) {
      case Succeeded s ->
          holds(s, e) ? released(d, s.withBinding(noting(s, null))) : d.closeLapsed();
      case Expired s -> holds(s, e) ? released(d, s.withBinding(noting(s, null))) : d.closeLapsed();
      case Absent s -> d.closeLapsed();
      case InProgress s -> d.closeLapsed();
      case UnknownReconciliation s -> d.closeLapsed();
      case FailedRetryable s -> d.closeLapsed();
      case FailedTerminal s -> d.closeLapsed();
      case Cancelled s -> d.closeLapsed();
    };
  }

  private static Decision released(Draft d, Known next) {
    return d.close(Verdict.COMPENSATION_RELEASED, next, Note.NONE);
  }

  private static boolean holds(Known s, CompensationReleased e) {
    return e.compensation().equals(s.binding().compensatedBy());
  }

  private static Binding noting(Known s, @Nullable String compensation) {
    return s.binding().withCompensatedBy(compensation);
  }
}
