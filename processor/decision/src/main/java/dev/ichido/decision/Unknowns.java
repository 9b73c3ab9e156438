package dev.ichido.decision;

import dev.ichido.decision.Effect.Command;
import dev.ichido.decision.Effect.CommandKind;
import dev.ichido.decision.Effect.RequestReconciliation;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Coming to not know, and asking. */
final class Unknowns {
  private Unknowns() {}

  /**
   * The state of not knowing what the unproven attempts did, with nobody waiting yet. The remote is
   * asked at once.
   *
   * @param revision of the state before
   * @param since when it came to be so; a next attempt under the remote's own dedupe counts from
   *     it, so that it does not depend on when that was noticed
   * @param retryAfter the remote's own wish
   */
  static UnknownReconciliation enter(
      Draft d,
      long revision,
      Binding binding,
      Attempts attempts,
      Work work,
      Instant since,
      @Nullable Duration retryAfter,
      boolean leaseOver) {
    Instant reclaimAt = since.plus(Attempting.delay(d, attempts, retryAfter));
    UnknownReconciliation next =
        new UnknownReconciliation(
            revision + 1,
            binding,
            attempts,
            work,
            Reconciliation.first(d.at(), leaseOver),
            since,
            reclaimAt,
            null,
            Waiting.NOBODY);
    boolean wakes =
        d.policy().retry().auto()
            && Attempting.isCovered(next, reclaimAt, d.policy())
            && Attempting.hindrance(next, reclaimAt, d.policy(), RetryBudget.full(reclaimAt))
                == null;
    ask(d, next);
    return wakes ? next.withWakeAt(reclaimAt) : next;
  }

  /**
   * Sends the status read that the state counts. Once the latest attempt is proven it is about an
   * earlier one, whose lease is over and of which perhaps nobody reported.
   */
  static void ask(Draft d, UnknownReconciliation s) {
    Binding binding = s.binding();
    Fingerprint fingerprint = Objects.requireNonNull(binding.fingerprint(), "fingerprint");
    int latest = s.attempts().number();
    int attempt = s.attempts().asked();
    int read = s.reconciliation().reads();
    d.emit(
        new RequestReconciliation(
            new Command(
                CommandKind.RECONCILE,
                DerivedIds.reconcile(d.key(), latest, read),
                d.key().tenant(),
                d.key().scope(),
                d.key().operationId(),
                null,
                attempt,
                read,
                Objects.requireNonNull(binding.action(), "action"),
                binding.actionVersion(),
                binding.target(),
                s.work().arguments(),
                s.work().precondition(),
                binding.principal(),
                fingerprint.version(),
                s.attempts().downstreamKey(),
                s.work().issuedAt(),
                s.attempts().firstStartedAt(),
                null,
                null,
                s.reconciliation().leaseOver() || attempt < latest,
                binding.workflowId(),
                binding.step(),
                binding.compensates())));
  }

  /** The earliest time at which something is done about it. */
  static Instant nextStepAt(UnknownReconciliation s) {
    return s.nextDeadline().orElseThrow();
  }

  /** What is being done, for a person. */
  static String whatIsBeingDone(UnknownReconciliation s) {
    return "What attempt "
        + s.attempts().unproven().stream().map(String::valueOf).collect(Collectors.joining(", "))
        + " did is unknown and no other is started. Status read "
        + s.reconciliation().reads()
        + " was asked for; the reply tells when the next step is due. A person can settle it with evidence.";
  }
}
