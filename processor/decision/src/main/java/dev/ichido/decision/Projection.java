package dev.ichido.decision;

import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A state without arguments and bodies: what the journal and a query tell of it. A member that the
 * state has no word for is null, a number 0.
 *
 * @param fingerprint keyed digest, lower-case hexadecimal
 * @param resultSha256 digest of the stored result's body, lower-case hexadecimal
 * @param remoteReference of the effect that counts, or of the evidence that is kept
 */
public record Projection(
    StateName state,
    long revision,
    int attempt,
    @Nullable String action,
    @Nullable String principal,
    int fingerprintVersion,
    @Nullable String fingerprint,
    @Nullable String resultSha256,
    @Nullable String remoteReference,
    @Nullable Instant firstAttemptAt,
    @Nullable Instant attemptStartedAt,
    @Nullable Instant settledAt,
    @Nullable Instant leaseUntil,
    @Nullable Instant retryAt,
    @Nullable Instant reconcileAt,
    @Nullable Instant retainUntil,
    @Nullable Instant forgetAt,
    @Nullable String workflowId,
    @Nullable String step,
    @Nullable String compensates,
    @Nullable String compensatedBy) {

  /** What the journal keeps of a state. */
  public static Projection of(OperationState state) {
    return switch (state) {
      case Absent s -> absent(s.evidence());
      case InProgress s ->
          known(s, s.attempts(), null, null, s.leaseUntil(), null, null, null, null);
      case UnknownReconciliation s ->
          known(
              s,
              s.attempts(),
              null,
              null,
              null,
              s.reclaimAt(),
              s.reconciliation().nextAt(),
              null,
              null);
      case FailedRetryable s ->
          known(
              s,
              s.attempts(),
              null,
              s.settledAt(),
              null,
              s.retryAt(),
              null,
              s.retainUntil(),
              s.forgetAt());
      case Succeeded s ->
          known(
              s,
              s.attempts(),
              s.result(),
              s.settledAt(),
              null,
              null,
              null,
              s.retainUntil(),
              s.forgetAt());
      case FailedTerminal s ->
          known(
              s,
              s.attempts(),
              s.result(),
              s.settledAt(),
              null,
              null,
              null,
              s.retainUntil(),
              s.forgetAt());
      case Expired s -> known(s, null, null, s.settledAt(), null, null, null, null, s.forgetAt());
      case Cancelled s ->
          known(s, null, null, s.settledAt(), null, null, null, s.retainUntil(), s.forgetAt());
    };
  }

  private static Projection absent(@Nullable OrphanEvidence evidence) {
    return new Projection(
        StateName.ABSENT,
        0,
        evidence == null ? 0 : evidence.attempt(),
        null,
        null,
        0,
        null,
        null,
        evidence == null ? null : evidence.remoteReference(),
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        evidence == null ? null : evidence.forgetAt(),
        null,
        null,
        null,
        null);
  }

  private static Projection known(
      Known state,
      @Nullable Attempts attempts,
      @Nullable StoredResult result,
      @Nullable Instant settledAt,
      @Nullable Instant leaseUntil,
      @Nullable Instant retryAt,
      @Nullable Instant reconcileAt,
      @Nullable Instant retainUntil,
      @Nullable Instant forgetAt) {
    Binding binding = state.binding();
    Fingerprint fingerprint = binding.fingerprint();
    return new Projection(
        state.name(),
        state.revision(),
        state.attempt(),
        binding.action(),
        binding.principal().name(),
        fingerprint == null ? 0 : fingerprint.version(),
        fingerprint == null ? null : fingerprint.digest(),
        result == null ? null : result.sha256(),
        result == null ? null : result.answer().remoteReference(),
        attempts == null ? null : attempts.firstStartedAt(),
        attempts == null ? null : attempts.startedAt(),
        settledAt,
        leaseUntil,
        retryAt,
        reconcileAt,
        retainUntil,
        forgetAt,
        binding.workflowId(),
        binding.step(),
        binding.compensates(),
        binding.compensatedBy());
  }
}
