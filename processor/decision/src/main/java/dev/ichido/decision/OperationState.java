package dev.ichido.decision;

import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of an operation at one moment. {@link Absent} is a state, so that there is no
 * null and every state can answer every event.
 *
 * <p>A deadline has its own name and is alive while now is before it, over at exactly its instant.
 * A stored deadline is never moved by a changed policy.
 */
public sealed interface OperationState {

  /** The name of the state in replies and the journal. */
  StateName name();

  /** When something is next due, if ever: the earliest deadline of this state. */
  Optional<Instant> nextDeadline();

  /** Whether this is an operation that was claimed for an action. */
  default boolean isBoundTo(@Nullable String action) {
    return action != null && this instanceof Known known && action.equals(known.binding().action());
  }

  /** An operation of which at least the identity is known. */
  sealed interface Known extends OperationState {
    /**
     * Grows by 1 with every change of what the operation is; who waits, and when the sweep looks
     * next, is no part of that. Equal revisions carry equal results.
     */
    long revision();

    Binding binding();

    /** Number of the latest attempt; 0 when there was none. */
    int attempt();

    /**
     * The fingerprint that an intent must match; null when there is none to compare with, as in a
     * tombstone or in an operation that was cancelled before an intent arrived.
     */
    default @Nullable Fingerprint comparable() {
      return binding().fingerprint();
    }
  }

  /** An operation that may still come to run: it keeps what a next attempt needs and who waits. */
  sealed interface Open extends Known {
    Attempts attempts();

    Work work();

    Waiting waiting();

    Open withWaiting(Waiting waiting);

    @Override
    default int attempt() {
      return attempts().number();
    }
  }

  /**
   * Nothing is known of the operation.
   *
   * @param evidence a success that was reported all the same
   */
  record Absent(@Nullable OrphanEvidence evidence) implements OperationState {
    /** Not even a stray report is known. */
    public static final Absent NOTHING = new Absent(null);

    @Override
    public StateName name() {
      return StateName.ABSENT;
    }

    @Override
    public Optional<Instant> nextDeadline() {
      return evidence == null ? Optional.empty() : Optional.of(evidence.forgetAt());
    }
  }

  /**
   * An attempt runs and may take effect.
   *
   * @param leaseUntil from then on its outcome counts as unknown
   */
  record InProgress(
      long revision,
      Binding binding,
      Attempts attempts,
      Work work,
      Instant leaseUntil,
      Waiting waiting)
      implements Open {
    public InProgress {
      Objects.requireNonNull(binding, "binding");
      Objects.requireNonNull(attempts, "attempts");
      Objects.requireNonNull(work, "work");
      Objects.requireNonNull(leaseUntil, "leaseUntil");
      Objects.requireNonNull(waiting, "waiting");
    }

    @Override
    public StateName name() {
      return StateName.IN_PROGRESS;
    }

    InProgress withAttempts(Attempts next) {
      return next.equals(attempts)
          ? this
          : new InProgress(revision, binding, next, work, leaseUntil, waiting);
    }

    @Override
    public InProgress withWaiting(Waiting next) {
      return new InProgress(revision, binding, attempts, work, leaseUntil, next);
    }

    @Override
    public Optional<Instant> nextDeadline() {
      return Optional.of(leaseUntil);
    }
  }

  /**
   * It is not known what the unproven attempts did. Never expires.
   *
   * @param since when that came to be so
   * @param reclaimAt earliest time of a next attempt under the remote's own dedupe
   * @param wakeAt when the sweep looks whether to start that attempt; null when it never will. Only
   *     the sweep's own matter: no intent is judged by it
   */
  record UnknownReconciliation(
      long revision,
      Binding binding,
      Attempts attempts,
      Work work,
      Reconciliation reconciliation,
      Instant since,
      Instant reclaimAt,
      @Nullable Instant wakeAt,
      Waiting waiting)
      implements Open {
    public UnknownReconciliation {
      Objects.requireNonNull(binding, "binding");
      Objects.requireNonNull(attempts, "attempts");
      Objects.requireNonNull(work, "work");
      Objects.requireNonNull(reconciliation, "reconciliation");
      Objects.requireNonNull(since, "since");
      Objects.requireNonNull(reclaimAt, "reclaimAt");
      Objects.requireNonNull(waiting, "waiting");
    }

    @Override
    public StateName name() {
      return StateName.UNKNOWN_RECONCILIATION;
    }

    @Override
    public UnknownReconciliation withWaiting(Waiting next) {
      return new UnknownReconciliation(
          revision, binding, attempts, work, reconciliation, since, reclaimAt, wakeAt, next);
    }

    UnknownReconciliation withReconciliation(Reconciliation next) {
      return new UnknownReconciliation(
          revision + 1, binding, attempts, work, next, since, reclaimAt, wakeAt, waiting);
    }

    UnknownReconciliation withAttempts(Attempts next) {
      if (next.equals(attempts)) {
        return this;
      }
      Reconciliation asking =
          next.asked() == attempts.asked() ? reconciliation : reconciliation.ofAnotherAttempt();
      return new UnknownReconciliation(
          revision, binding, next, work, asking, since, reclaimAt, wakeAt, waiting);
    }

    /** No attempt follows any more, so the sweep need not look for one. */
    UnknownReconciliation withoutFurther() {
      return new UnknownReconciliation(
          revision + 1,
          binding,
          attempts.withoutFurther(),
          work,
          reconciliation,
          since,
          reclaimAt,
          null,
          waiting);
    }

    UnknownReconciliation withWakeAt(@Nullable Instant next) {
      return new UnknownReconciliation(
          revision, binding, attempts, work, reconciliation, since, reclaimAt, next, waiting);
    }

    @Override
    public Optional<Instant> nextDeadline() {
      Instant wake = wakeAt;
      return Optional.of(
          wake != null && wake.isBefore(reconciliation.nextAt()) ? wake : reconciliation.nextAt());
    }
  }

  /**
   * No attempt took effect, provably.
   *
   * @param settlingId id of the report that proved it
   * @param retryAt earliest time of the next attempt
   * @param wakeAt when the sweep looks whether to start it; null when it never will. Only the
   *     sweep's own matter: no intent is judged by it
   * @param retainUntil from then on only the identity is kept
   * @param forgetAt from then on nothing is
   */
  record FailedRetryable(
      long revision,
      Binding binding,
      Attempts attempts,
      Work work,
      String settlingId,
      Instant settledAt,
      Instant retryAt,
      @Nullable Instant wakeAt,
      Instant retainUntil,
      Instant forgetAt,
      Waiting waiting)
      implements Open {
    public FailedRetryable {
      Objects.requireNonNull(binding, "binding");
      Objects.requireNonNull(attempts, "attempts");
      Objects.requireNonNull(work, "work");
      Objects.requireNonNull(settlingId, "settlingId");
      Objects.requireNonNull(settledAt, "settledAt");
      Objects.requireNonNull(retryAt, "retryAt");
      Objects.requireNonNull(retainUntil, "retainUntil");
      Objects.requireNonNull(forgetAt, "forgetAt");
      Objects.requireNonNull(waiting, "waiting");
      if (!attempts.unproven().isEmpty()) {
        throw new IllegalArgumentException(
            "Expected proof about every attempt, but some have none. Check where the state was read.");
      }
    }

    @Override
    public StateName name() {
      return StateName.FAILED_RETRYABLE;
    }

    @Override
    public FailedRetryable withWaiting(Waiting next) {
      return new FailedRetryable(
          revision,
          binding,
          attempts,
          work,
          settlingId,
          settledAt,
          retryAt,
          wakeAt,
          retainUntil,
          forgetAt,
          next);
    }

    FailedRetryable withWakeAt(@Nullable Instant next) {
      return new FailedRetryable(
          revision,
          binding,
          attempts,
          work,
          settlingId,
          settledAt,
          retryAt,
          next,
          retainUntil,
          forgetAt,
          waiting);
    }

    @Override
    public Optional<Instant> nextDeadline() {
      Instant wake = wakeAt;
      return Optional.of(wake != null && wake.isBefore(retainUntil) ? wake : retainUntil);
    }
  }

  /**
   * The effect took place.
   *
   * @param others further effects that were reported, the first {@value #OTHERS_KEPT} of them
   * @param superseded the settlement that a late success replaced
   */
  record Succeeded(
      long revision,
      Binding binding,
      Attempts attempts,
      StoredResult result,
      Instant settledAt,
      Instant retainUntil,
      Instant forgetAt,
      List<OtherEffect> others,
      @Nullable Superseded superseded)
      implements Known {
    /** More are alarmed but not kept. */
    public static final int OTHERS_KEPT = 16;

    public Succeeded {
      Objects.requireNonNull(binding, "binding");
      Objects.requireNonNull(attempts, "attempts");
      Objects.requireNonNull(result, "result");
      Objects.requireNonNull(settledAt, "settledAt");
      Objects.requireNonNull(retainUntil, "retainUntil");
      Objects.requireNonNull(forgetAt, "forgetAt");
      others = List.copyOf(others);
    }

    @Override
    public StateName name() {
      return StateName.SUCCEEDED;
    }

    Succeeded withBinding(Binding next) {
      return new Succeeded(
          revision + 1,
          next,
          attempts,
          result,
          settledAt,
          retainUntil,
          forgetAt,
          others,
          superseded);
    }

    @Override
    public int attempt() {
      return attempts.number();
    }

    @Override
    public Optional<Instant> nextDeadline() {
      return Optional.of(retainUntil);
    }
  }

  /** The remote refused for good. */
  record FailedTerminal(
      long revision,
      Binding binding,
      Attempts attempts,
      StoredResult result,
      Instant settledAt,
      Instant retainUntil,
      Instant forgetAt)
      implements Known {
    public FailedTerminal {
      Objects.requireNonNull(binding, "binding");
      Objects.requireNonNull(attempts, "attempts");
      Objects.requireNonNull(result, "result");
      Objects.requireNonNull(settledAt, "settledAt");
      Objects.requireNonNull(retainUntil, "retainUntil");
      Objects.requireNonNull(forgetAt, "forgetAt");
    }

    @Override
    public StateName name() {
      return StateName.FAILED_TERMINAL;
    }

    @Override
    public int attempt() {
      return attempts.number();
    }

    @Override
    public Optional<Instant> nextDeadline() {
      return Optional.of(retainUntil);
    }
  }

  /**
   * A tombstone: the operation was settled, and only its identity is kept.
   *
   * @param was the state that expired
   * @param settledAt when it had come to that state
   */
  record Expired(
      long revision,
      Binding binding,
      int attempt,
      StateName was,
      Instant settledAt,
      Instant forgetAt)
      implements Known {
    public Expired {
      Objects.requireNonNull(binding, "binding");
      Objects.requireNonNull(was, "was");
      Objects.requireNonNull(settledAt, "settledAt");
      Objects.requireNonNull(forgetAt, "forgetAt");
    }

    @Override
    public StateName name() {
      return StateName.EXPIRED;
    }

    Expired withBinding(Binding next) {
      return new Expired(revision + 1, next, attempt, was, settledAt, forgetAt);
    }

    @Override
    public @Nullable Fingerprint comparable() {
      return null;
    }

    @Override
    public Optional<Instant> nextDeadline() {
      return Optional.of(forgetAt);
    }
  }

  /** Cancelled while no attempt could act, or as soon as that was proven. */
  record Cancelled(
      long revision,
      Binding binding,
      int attempt,
      Instant settledAt,
      Instant retainUntil,
      Instant forgetAt)
      implements Known {
    public Cancelled {
      Objects.requireNonNull(binding, "binding");
      Objects.requireNonNull(settledAt, "settledAt");
      Objects.requireNonNull(retainUntil, "retainUntil");
      Objects.requireNonNull(forgetAt, "forgetAt");
    }

    @Override
    public StateName name() {
      return StateName.CANCELLED;
    }

    @Override
    public Optional<Instant> nextDeadline() {
      return Optional.of(retainUntil);
    }
  }
}
