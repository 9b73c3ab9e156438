package dev.ichido.decision;

import dev.ichido.decision.Effect.ReplyAddress;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.operation.Refusal;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * No further attempt is wanted. Where none can act the operation is cancelled; where one may, it
 * only gets no successor; what is settled stays. What is older than everything that is remembered
 * is refused: it may have taken effect and been forgotten. Where a success was reported of which no
 * intent is known, nobody is told that nothing took effect.
 */
final class CancelRules {
  private CancelRules() {}

  static Decision decide(Draft d, CancelReceived e) {
    ReplyAddress to = address(e);
    Refusal refusal = IntentRules.refusal(e.refusal(), e.issuedAt(), e.at(), e.clockSkew());
    if (refusal != null) {
      return d.refuse(to, refusal);
    }
    if (!e.permitted()) {
      return d.unauthorized(to);
    }
    Lapses.catchUp(d);
    return switch (d.state()) {
      case Absent s -> {
        Instant issuedAt = Objects.requireNonNull(e.issuedAt(), "issuedAt");
        if (d.isOver(issuedAt.plus(e.horizon()))) {
          yield IntentRules.late(d, to);
        }
        OrphanEvidence evidence = s.evidence();
        if (evidence != null) {
          d.reply(
              to,
              Verdict.HELD_UNKNOWN,
              null,
              "Expected an operation that did not take effect, but a success was reported under its id before any intent. Check by its natural key what took effect; it is not cancelled.");
          yield d.close(Verdict.HELD_UNKNOWN, Note.alarm(evidence.remoteReference()));
        }
        Cancelled next = Settling.cancelled(d, 0, Binding.ofCancel(e.principal()), 0);
        yield tell(d, to, next);
      }
      case Known s ->
          IntentRules.mayUse(s.binding(), e.principal(), d.policy())
              ? known(d, to, s)
              : d.unauthorized(to);
    };
  }

  private static Decision known(Draft d, @Nullable ReplyAddress to, Known state) {
    return switch (state) {
      case InProgress s ->
          IntentRules.inProgress(
              d,
              to,
              s.attempts().noFurther()
                  ? s
                  : new InProgress(
                      s.revision() + 1,
                      s.binding(),
                      s.attempts().withoutFurther(),
                      s.work(),
                      s.leaseUntil(),
                      s.waiting()));
      case UnknownReconciliation s ->
          IntentRules.held(d, to, s.attempts().noFurther() ? s : s.withoutFurther());
      case FailedRetryable s -> {
        Cancelled next = Settling.cancelled(d, s.revision(), s.binding(), s.attempt());
        for (WaitingDelivery delivery : s.waiting().deliveries()) {
          if (!d.answers(delivery)) {
            d.replyOf(
                next,
                ReplyAddress.of(d.key(), delivery),
                Verdict.CANCELLED,
                null,
                null,
                null,
                List.of(),
                true);
          }
        }
        yield tell(d, to, next);
      }
      case Succeeded s -> IntentRules.replay(d, to, s);
      case FailedTerminal s -> IntentRules.replay(d, to, s);
      case Expired s -> IntentRules.expired(d, to, s);
      case Cancelled s -> IntentRules.cancelled(d, to, s);
    };
  }

  private static Decision tell(Draft d, @Nullable ReplyAddress to, Cancelled next) {
    d.replyOf(next, to, Verdict.CANCELLED, null, null, null, List.of(), true);
    return d.close(Verdict.CANCELLED, next, Note.NONE);
  }

  private static @Nullable ReplyAddress address(CancelReceived e) {
    String deliveryId = e.deliveryId();
    return deliveryId == null
        ? null
        : new ReplyAddress(e.tenant(), e.scope(), e.operationId(), deliveryId, e.principal());
  }
}
