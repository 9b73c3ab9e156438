package dev.ichido.decision;

import dev.ichido.decision.Effect.ChargeRetryBudget;
import dev.ichido.decision.Effect.Command;
import dev.ichido.decision.Effect.CommandKind;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Whether a next attempt may start, and starting one. */
final class Attempting {
  private Attempting() {}

  /**
   * What keeps a next attempt after a proven failure from starting; null when nothing does. What
   * only a person can remove comes before what time removes.
   */
  static @Nullable ReasonCode hindrance(
      FailedRetryable s, Instant at, ActionPolicy policy, RetryBudget budget) {
    Instant earliest = at.isBefore(s.retryAt()) ? s.retryAt() : at;
    ReasonCode lasting = lastingHindrance(s.attempts(), earliest, policy);
    if (lasting != null) {
      return lasting;
    }
    if (at.isBefore(s.retryAt())) {
      return ReasonCode.BACKOFF;
    }
    return budget.available() ? null : ReasonCode.BUDGET_EMPTY;
  }

  /**
   * What keeps a next attempt from starting although nobody knows what an earlier one did; null
   * when nothing does. It may only start where {@link #isCovered} says so.
   */
  static @Nullable ReasonCode hindrance(
      UnknownReconciliation s, Instant at, ActionPolicy policy, RetryBudget budget) {
    Instant earliest = at.isBefore(s.reclaimAt()) ? s.reclaimAt() : at;
    ReasonCode lasting = lastingHindrance(s.attempts(), earliest, policy);
    if (lasting != null) {
      return lasting;
    }
    if (at.isBefore(s.reclaimAt())) {
      return ReasonCode.BACKOFF;
    }
    return budget.available() ? null : ReasonCode.BUDGET_EMPTY;
  }

  /** Whether only a person can bring the operation on. */
  static boolean isStuck(FailedRetryable s, Instant at, ActionPolicy policy) {
    return isLasting(hindrance(s, at, policy, RetryBudget.full(at)));
  }

  /** Whether an attempt may follow once a person says that none took effect. */
  static boolean isGrantable(Draft d, Open s) {
    Attempts granted = s.attempts().granted();
    return lastingHindrance(granted, d.at().plus(delay(d, granted, null)), d.policy()) == null;
  }

  /** Whether time alone does not remove the hindrance. */
  static boolean isLasting(@Nullable ReasonCode hindrance) {
    return hindrance == ReasonCode.MAX_ATTEMPTS || hindrance == ReasonCode.RETRY_HORIZON;
  }

  private static @Nullable ReasonCode lastingHindrance(
      Attempts attempts, Instant earliest, ActionPolicy policy) {
    if (attempts.number() >= attempts.base() + policy.retry().maxAttempts()) {
      return ReasonCode.MAX_ATTEMPTS;
    }
    return earliest.isAfter(attempts.firstStartedAt().plus(policy.retryHorizon()))
        ? ReasonCode.RETRY_HORIZON
        : null;
  }

  /**
   * Whether an attempt may follow that is one to the remote with those before it: all of them carry
   * one key, and the window that the remote remembers it for is open even if our clock is behind.
   */
  static boolean isCovered(UnknownReconciliation s, Instant at, ActionPolicy policy) {
    Instant earliest = at.isBefore(s.reclaimAt()) ? s.reclaimAt() : at;
    Instant end = coverEnd(s.attempts(), policy);
    return !s.attempts().noFurther() && end != null && earliest.isBefore(end);
  }

  /** From when on the remote may have forgotten the key; null when it never knew it. */
  private static @Nullable Instant coverEnd(Attempts attempts, ActionPolicy policy) {
    ActionPolicy.Remote remote = policy.remote();
    Duration window = remote.dedupeWindow();
    if (!attempts.keyed() || !remote.dedupesOnKey() || window == null) {
      return null;
    }
    Instant anchor =
        switch (remote.dedupeAnchor()) {
          case FIRST_REQUEST -> attempts.firstStartedAt();
          case LAST_REQUEST -> attempts.startedAt();
        };
    return anchor.plus(window).minus(policy.clockSkew());
  }

  /**
   * The delay before the attempt that follows.
   *
   * @param retryAfter the remote's own wish
   */
  static Duration delay(Draft d, Attempts attempts, @Nullable Duration retryAfter) {
    int made = Math.max(1, attempts.number() - attempts.base());
    Duration delay = Backoff.beforeAttempt(d.policy().retry(), d.key(), attempts.number(), made);
    return retryAfter == null || retryAfter.compareTo(delay) < 0 ? delay : retryAfter;
  }

  /** The state of the next attempt; its command leaves and is charged to the retry budget. */
  static InProgress startNext(Draft d, Open s) {
    Attempts attempts = s.attempts().next(d.at(), isKeyed(d.policy()));
    // What makes this attempt safe is the remote's memory of the ones before it; a call must not
    // start after that has ended, however long the lease.
    Instant notAfter =
        s.attempts().unproven().isEmpty() ? null : coverEnd(s.attempts(), d.policy());
    InProgress next = start(d, s.revision() + 1, s.binding(), attempts, s.work(), notAfter);
    d.emit(
        new ChargeRetryBudget(
            d.key().tenant(), Objects.requireNonNull(s.binding().action(), "action"), d.at()));
    return next.withWaiting(s.waiting());
  }

  /** The state of the first attempt; its command leaves. First claims are not charged. */
  static InProgress startFirst(Draft d, Binding binding, Work work) {
    String downstreamKey = DerivedIds.downstream(d.key(), d.policy().remote().keyLimit());
    Attempts attempts = Attempts.first(d.at(), downstreamKey, isKeyed(d.policy()));
    return start(d, 1, binding, attempts, work, null);
  }

  private static boolean isKeyed(ActionPolicy policy) {
    return policy.remote().dedupesOnKey();
  }

  private static InProgress start(
      Draft d,
      long revision,
      Binding binding,
      Attempts attempts,
      Work work,
      @Nullable Instant notAfter) {
    Fingerprint fingerprint = Objects.requireNonNull(binding.fingerprint(), "fingerprint");
    Instant leaseUntil = d.at().plus(d.policy().lease());
    d.emit(
        new DispatchCommand(
            new Command(
                CommandKind.EXECUTE,
                DerivedIds.execute(d.key(), attempts.number()),
                d.key().tenant(),
                d.key().scope(),
                d.key().operationId(),
                null,
                attempts.number(),
                0,
                Objects.requireNonNull(binding.action(), "action"),
                binding.actionVersion(),
                binding.target(),
                work.arguments(),
                work.precondition(),
                binding.principal(),
                fingerprint.version(),
                attempts.downstreamKey(),
                work.issuedAt(),
                attempts.firstStartedAt(),
                notAfter != null && notAfter.isBefore(leaseUntil) ? notAfter : leaseUntil,
                d.policy().remote().startWithin(),
                false,
                binding.workflowId(),
                binding.step(),
                binding.compensates())));
    return new InProgress(revision, binding, attempts, work, leaseUntil, Waiting.NOBODY);
  }
}
