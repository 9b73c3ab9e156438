package dev.ichido.decision;

import dev.ichido.decision.ActionPolicy.ActionEffect;
import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.decision.ActionPolicy.Share;
import dev.ichido.decision.Effect.Command;
import dev.ichido.decision.Effect.CommandKind;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.Effect.ReplyAddress;
import dev.ichido.decision.Effect.SendReply;
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
import dev.ichido.operation.Principal;
import dev.ichido.operation.Refusal;
import dev.ichido.operation.RefusalCode;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A runtime asks for an action. The order is fixed: what is malformed, who may ask, what is too
 * old, what it means, and only then what is known. Nothing later may be learnt by who fails at
 * something earlier.
 */
final class IntentRules {
  private IntentRules() {}

  static Decision decide(Draft d, IntentReceived e) {
    return CompensationRules.keepOrRelease(judge(d, e), e);
  }

  private static Decision judge(Draft d, IntentReceived e) {
    Intent intent = e.intent();
    ReplyAddress to =
        new ReplyAddress(
            intent.tenant(),
            intent.scope(),
            intent.operationId(),
            intent.deliveryId(),
            intent.principal());
    Refusal refusal = refusal(e.refusal(), intent.issuedAt(), e.at(), e.terms().clockSkew());
    if (refusal != null) {
      return d.refuse(to, refusal);
    }
    if (!e.permitted()) {
      return d.unauthorized(to);
    }
    boolean reads = e.terms().effect() == ActionEffect.READ;
    if (reads && !d.state().isBoundTo(intent.action())) {
      return passThrough(d, e, to);
    }
    Lapses.catchUp(d);
    if (reads && d.state() instanceof Absent) {
      return passThrough(d, e, to);
    }
    Fingerprint fingerprint = Objects.requireNonNull(e.fingerprint(), "fingerprint");
    return switch (d.state()) {
      case Absent s -> absent(d, e, to, fingerprint, s);
      case Known s -> known(d, e, to, fingerprint, s);
    };
  }

  /** What validation found, and what only the clock can tell. */
  static @Nullable Refusal refusal(
      @Nullable Refusal found, @Nullable Instant issuedAt, Instant at, Duration clockSkew) {
    if (found != null) {
      return found;
    }
    if (issuedAt == null) {
      return RefusalCode.ISSUED_AT_MISSING.because("there was none");
    }
    return issuedAt.isAfter(at.plus(clockSkew))
        ? RefusalCode.CLOCK_SKEW.because("it is further ahead")
        : null;
  }

  /**
   * A read keeps no record. What was claimed while its action was a write is no read, whatever the
   * action is now: it stays the operation that it is until it is forgotten.
   */
  private static Decision passThrough(Draft d, IntentReceived e, ReplyAddress to) {
    Intent intent = e.intent();
    d.emit(
        new DispatchCommand(
            new Command(
                CommandKind.READ,
                DerivedIds.read(intent.tenant(), intent.scope(), intent.deliveryId()),
                intent.tenant(),
                intent.scope(),
                intent.operationId(),
                intent.deliveryId(),
                0,
                0,
                Objects.requireNonNull(intent.action(), "action"),
                intent.actionVersion(),
                intent.target(),
                intent.arguments(),
                intent.precondition(),
                intent.principal(),
                0,
                null,
                intent.issuedAt(),
                null,
                d.at().plus(e.terms().lease()),
                null,
                false,
                intent.workflowId(),
                intent.step(),
                intent.compensates())));
    d.emit(
        new SendReply(
            to,
            Verdict.PASSED_THROUGH,
            null,
            null,
            null,
            0,
            0,
            false,
            null,
            null,
            null,
            null,
            null,
            List.of(),
            d.at()));
    return d.close(Verdict.PASSED_THROUGH, Note.NONE);
  }

  private static Decision absent(
      Draft d, IntentReceived e, ReplyAddress to, Fingerprint fingerprint, Absent s) {
    Intent intent = e.intent();
    Work work = Work.of(intent);
    if (d.isOver(work.issuedAt().plus(d.policy().horizon()))) {
      return late(d, to);
    }
    Decision hindrance = CompensationRules.hindrance(d, e, to);
    if (hindrance != null) {
      return hindrance;
    }
    Binding binding = Binding.of(intent, fingerprint);
    OrphanEvidence evidence = s.evidence();
    if (evidence != null) {
      String downstreamKey = DerivedIds.downstream(d.key(), d.policy().remote().keyLimit());
      Attempts foreign = Attempts.foreign(evidence.attempt(), d.at(), downstreamKey);
      UnknownReconciliation next =
          Unknowns.enter(d, 0, binding, foreign, work, d.at(), null, false);
      return held(d, to, next);
    }
    String suspectOf = intent.discriminator() == null ? e.suspectOf() : null;
    if (suspectOf != null && d.policy().remint() == Remint.HOLD) {
      d.reply(
          to,
          Verdict.HELD_SUSPECT,
          null,
          "Expected one id for one operation, but the same meaning is known under another. Check whether the id was minted again; a deliberate twin carries a discriminator.");
      return d.close(Verdict.HELD_SUSPECT, new Note(null, false, null, null, null, suspectOf));
    }
    InProgress next = Attempting.startFirst(d, binding, work);
    return d.keepWaiting(
        next,
        to,
        Verdict.CLAIMED,
        null,
        null,
        null,
        suspectOf == null ? Note.NONE : Note.suspect(suspectOf));
  }

  /** Older than everything that is remembered: that nothing is known of it says nothing. */
  static Decision late(Draft d, @Nullable ReplyAddress to) {
    d.reply(
        to,
        Verdict.LATE_REPLAY,
        null,
        "Expected an operation issued within the horizon, but it is older and nothing is known of it. Check by its natural key whether it took effect.");
    return d.close(Verdict.LATE_REPLAY, Note.NONE);
  }

  private static Decision known(
      Draft d, IntentReceived e, ReplyAddress to, Fingerprint fingerprint, Known state) {
    if (!mayUse(state.binding(), e.intent().principal(), d.policy()) || isOfNoConcern(e, state)) {
      return d.unauthorized(to);
    }
    Fingerprint stored = state.comparable();
    if (stored != null && !stored.matches(fingerprint)) {
      return mismatch(d, to, state, stored.differingMembers(fingerprint));
    }
    if (stored != null
        && !Objects.equals(state.binding().compensates(), e.intent().compensates())) {
      return mismatch(d, to, state, List.of("compensates"));
    }
    return switch (state) {
      case InProgress s -> inProgress(d, to, s);
      case UnknownReconciliation s -> unknown(d, e, to, s);
      case FailedRetryable s -> failedRetryable(d, e, to, s);
      case Succeeded s -> replay(d, to, s);
      case FailedTerminal s -> replay(d, to, s);
      case Expired s -> expired(d, to, s);
      case Cancelled s -> cancelled(d, to, s);
    };
  }

  /** The intent was permitted under its own action, which says nothing of another's operation. */
  private static boolean isOfNoConcern(IntentReceived e, Known state) {
    Binding binding = state.binding();
    return !binding.principal().equals(e.intent().principal())
        && binding.action() != null
        && !binding.action().equals(e.intent().action());
  }

  /** Whether a principal may learn of an operation that is bound to another one. */
  static boolean mayUse(Binding binding, Principal principal, ActionPolicy policy) {
    return binding.principal().equals(principal) || policy.share() == Share.TENANT;
  }

  private static Decision mismatch(Draft d, ReplyAddress to, Known s, List<String> differing) {
    d.replyOf(
        s,
        to,
        Verdict.FINGERPRINT_MISMATCH,
        null,
        "Expected the meaning that the operation was claimed with, but other members were sent. Check whether the request was changed; a changed request is a new operation.",
        null,
        differing,
        true);
    return d.close(Verdict.FINGERPRINT_MISMATCH, Note.NONE);
  }

  /** A duplicate never extends the lease. */
  static Decision inProgress(Draft d, @Nullable ReplyAddress to, InProgress s) {
    return d.keepWaiting(s, to, Verdict.DUPLICATE_IN_PROGRESS, null, null, null, Note.NONE);
  }

  private static Decision unknown(
      Draft d, IntentReceived e, ReplyAddress to, UnknownReconciliation s) {
    if (!Attempting.isCovered(s, e.at(), d.policy())
        || Attempting.hindrance(s, e.at(), d.policy(), e.budget()) != null) {
      return held(d, to, s);
    }
    InProgress next = Attempting.startNext(d, s);
    return d.keepWaiting(next, to, Verdict.RECLAIMED, null, null, null, Note.NONE);
  }

  static Decision held(Draft d, @Nullable ReplyAddress to, UnknownReconciliation s) {
    return d.keepWaiting(
        s,
        to,
        Verdict.HELD_UNKNOWN,
        null,
        Unknowns.whatIsBeingDone(s),
        Unknowns.nextStepAt(s),
        Note.NONE);
  }

  private static Decision failedRetryable(
      Draft d, IntentReceived e, ReplyAddress to, FailedRetryable s) {
    ReasonCode hindrance = Attempting.hindrance(s, e.at(), d.policy(), e.budget());
    if (hindrance == null) {
      InProgress next = Attempting.startNext(d, s);
      return d.keepWaiting(next, to, Verdict.RECLAIMED, null, null, null, Note.NONE);
    }
    Instant retryAt =
        hindrance == ReasonCode.BACKOFF
            ? s.retryAt()
            : hindrance == ReasonCode.BUDGET_EMPTY ? e.budget().nextTokenAt() : null;
    return d.keepWaiting(
        s, to, Verdict.RETRY_LATER, hindrance, null, retryAt, Note.code(hindrance.name()));
  }

  static Decision replay(Draft d, @Nullable ReplyAddress to, Succeeded s) {
    d.release(s, to, Verdict.REPLAYED, Marker.REPLAYED, s.result(), s.settledAt());
    return d.close(Verdict.REPLAYED, Note.NONE);
  }

  static Decision replay(Draft d, @Nullable ReplyAddress to, FailedTerminal s) {
    d.release(s, to, Verdict.REPLAYED, Marker.REPLAYED, s.result(), s.settledAt());
    return d.close(Verdict.REPLAYED, Note.NONE);
  }

  static Decision expired(Draft d, @Nullable ReplyAddress to, Expired s) {
    d.replyOf(
        s,
        to,
        Verdict.EXPIRED,
        null,
        "Expected an operation whose result is kept, but only its identity is. Check by its natural key what became of it; it does not run again.",
        null,
        List.of(),
        true);
    return d.close(Verdict.EXPIRED, Note.NONE);
  }

  static Decision cancelled(Draft d, @Nullable ReplyAddress to, Cancelled s) {
    d.replyOf(s, to, Verdict.CANCELLED, null, null, null, List.of(), true);
    return d.close(Verdict.CANCELLED, Note.NONE);
  }
}
