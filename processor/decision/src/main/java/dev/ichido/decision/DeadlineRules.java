package dev.ichido.decision;

import dev.ichido.decision.Effect.PromiseRetryToken;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/**
 * The sweep came by. What time alone does comes first and is then all that is done; else the work
 * that is due is started: a next attempt or a status read. A stale deadline does nothing.
 */
final class DeadlineRules {
  private static final Duration LONGEST_PARK = Duration.ofMinutes(1);

  private DeadlineRules() {}

  static Decision decide(Draft d, DeadlineReached e) {
    Lapses.catchUp(d);
    if (d.hasLapsed()) {
      return d.closeLapsed();
    }
    return switch (d.state()) {
      case UnknownReconciliation s -> unknown(d, e, s);
      case FailedRetryable s -> failedRetryable(d, e, s);
      case Absent s -> d.closeLapsed();
      case InProgress s -> d.closeLapsed();
      case Succeeded s -> d.closeLapsed();
      case FailedTerminal s -> d.closeLapsed();
      case Expired s -> d.closeLapsed();
      case Cancelled s -> d.closeLapsed();
    };
  }

  private static Decision unknown(Draft d, DeadlineReached e, UnknownReconciliation s) {
    UnknownReconciliation looked = s;
    Instant wakeAt = s.wakeAt();
    if (wakeAt != null && d.isOver(wakeAt)) {
      boolean covered = d.policy().retry().auto() && Attempting.isCovered(s, e.at(), d.policy());
      ReasonCode hindrance = Attempting.hindrance(s, e.at(), d.policy(), e.budget());
      if (covered && hindrance == null) {
        return d.close(Verdict.RECLAIMED, Attempting.startNext(d, s), Note.NONE);
      }
      boolean lasting = !covered || Attempting.isLasting(hindrance);
      looked = s.withWakeAt(lasting ? null : nextLook(d, s, s.reclaimAt(), e));
    }
    if (!d.isOver(s.reconciliation().nextAt())) {
      return d.closeQuietly(looked);
    }
    UnknownReconciliation asking = looked.withReconciliation(s.reconciliation().askedAgain(e.at()));
    Unknowns.ask(d, asking);
    return d.close(Verdict.STILL_UNKNOWN, asking, isOld(d, s) ? Note.ALARM : Note.NONE);
  }

  /** No attempt starts any more: only the remote's answer or a person can settle it. */
  private static boolean isOld(Draft d, UnknownReconciliation s) {
    return d.isOver(s.attempts().firstStartedAt().plus(d.policy().retryHorizon()));
  }

  /**
   * An attempt that is due and finds the budget empty is parked until a token comes, never dropped.
   * The journal hears of it once, not each time that the token went to another operation.
   */
  private static Decision failedRetryable(Draft d, DeadlineReached e, FailedRetryable s) {
    Instant wakeAt = s.wakeAt();
    if (wakeAt == null || !d.isOver(wakeAt)) {
      return d.closeLapsed();
    }
    if (!d.policy().retry().auto()) {
      return d.closeQuietly(s.withWakeAt(null));
    }
    ReasonCode hindrance = Attempting.hindrance(s, e.at(), d.policy(), e.budget());
    if (hindrance == null) {
      return d.close(Verdict.RECLAIMED, Attempting.startNext(d, s), Note.NONE);
    }
    boolean lasting = Attempting.isLasting(hindrance);
    FailedRetryable looked = s.withWakeAt(lasting ? null : nextLook(d, s, s.retryAt(), e));
    boolean parkedBefore = wakeAt.isAfter(s.retryAt());
    return parkedBefore && !lasting
        ? d.closeQuietly(looked)
        : d.close(Verdict.RETRY_LATER, looked, Note.code(hindrance.name()));
  }

  /**
   * When the token comes that nobody waits for yet, and after a minute at most: an outage leaves
   * thousands, and to look at all of them for each token would keep everybody else waiting. Never
   * before the attempt's own time, and always after now.
   */
  private static Instant nextLook(Draft d, Open s, Instant earliest, DeadlineReached e) {
    Instant token = later(e.budget().nextTokenAt(), e.at().plusMillis(1));
    Instant rest = e.at().plus(LONGEST_PARK);
    if (token.isAfter(rest)) {
      return later(rest, earliest);
    }
    d.emit(
        new PromiseRetryToken(
            d.key().tenant(),
            Objects.requireNonNull(s.binding().action(), "action"),
            e.at(),
            token));
    return later(token, earliest);
  }

  private static Instant later(Instant a, Instant b) {
    return a.isAfter(b) ? a : b;
  }
}
