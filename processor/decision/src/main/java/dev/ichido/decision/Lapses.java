package dev.ichido.decision;

import dev.ichido.decision.Effect.ReplyAddress;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import java.time.Instant;
import java.util.List;

/**
 * What time alone has done to an operation: the lease ends, a result is no longer kept, an identity
 * is forgotten. It is judged before every event, so that a decision does not depend on the sweep.
 * That a lease ended tells something only where no report on its attempt is still to be read.
 */
final class Lapses {
  private Lapses() {}

  /** Acts on every deadline of that kind that is over at the event's time. */
  static void catchUp(Draft d) {
    step(d);
    // A tombstone may itself be over, and after that there is nothing left to end.
    step(d);
  }

  private static void step(Draft d) {
    switch (d.state()) {
      case Absent s -> {
        OrphanEvidence evidence = s.evidence();
        if (evidence != null && d.isOver(evidence.forgetAt())) {
          d.lapse(Verdict.EXPIRED, Absent.NOTHING);
        }
      }
      case InProgress s -> {
        if (d.isOverAndHeard(s.leaseUntil())) {
          leaseOver(d, s);
        }
      }
      case UnknownReconciliation s -> {}
      case FailedRetryable s -> {
        if (d.isOver(s.retainUntil())) {
          retentionOver(d, s);
        }
      }
      case Succeeded s -> retain(d, s, s.settledAt(), s.retainUntil(), s.forgetAt());
      case FailedTerminal s -> retain(d, s, s.settledAt(), s.retainUntil(), s.forgetAt());
      case Cancelled s -> retain(d, s, s.settledAt(), s.retainUntil(), s.forgetAt());
      case Expired s -> {
        if (d.isOver(s.forgetAt())) {
          d.lapse(Verdict.EXPIRED, Absent.NOTHING);
        }
      }
    }
  }

  private static void leaseOver(Draft d, InProgress s) {
    UnknownReconciliation next =
        Unknowns.enter(
                d, s.revision(), s.binding(), s.attempts(), s.work(), s.leaseUntil(), null, true)
            .withWaiting(s.waiting());
    d.lapse(Verdict.LEASE_EXPIRED, next);
  }

  /** Who still waits is released, since no attempt will follow. */
  private static void retentionOver(Draft d, FailedRetryable s) {
    Expired next = expired(s, s.settledAt(), s.forgetAt());
    for (WaitingDelivery delivery : s.waiting().deliveries()) {
      if (d.answers(delivery)) {
        continue;
      }
      d.replyOf(
          next,
          ReplyAddress.of(d.key(), delivery),
          Verdict.EXPIRED,
          null,
          null,
          null,
          List.of(),
          true);
    }
    CompensationRules.release(d, s.binding());
    d.lapse(Verdict.EXPIRED, next);
  }

  private static void retain(
      Draft d, Known s, Instant settledAt, Instant retainUntil, Instant forgetAt) {
    if (d.isOver(retainUntil)) {
      d.lapse(Verdict.EXPIRED, expired(s, settledAt, forgetAt));
    }
  }

  private static Expired expired(Known s, Instant settledAt, Instant forgetAt) {
    return new Expired(
        s.revision() + 1, s.binding().bare(), s.attempt(), s.name(), settledAt, forgetAt);
  }
}
