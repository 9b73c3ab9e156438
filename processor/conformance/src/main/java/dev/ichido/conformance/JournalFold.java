package dev.ichido.conformance;

import dev.ichido.decision.OperationState;
import dev.ichido.decision.Projection;
import dev.ichido.decision.StateName;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.topology.wire.EffectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The journal replayed: the last line of each operation must give what the ledger holds of it.
 * Lines of the index of meanings are about an operation without being a decision on it.
 */
final class JournalFold {
  private JournalFold() {}

  /** The first operation whose lines give something else than the ledger. */
  static Optional<String> difference(
      List<JournalEntry> journal, Map<String, OperationState> ledger) {
    Map<String, JournalEntry> folded = new LinkedHashMap<>();
    for (JournalEntry entry : journal) {
      if (entry.getOperationId() != null
          && !entry.getVerdict().equals(EffectMapper.SUSPECTED_REMINT)) {
        folded.put(StepOutput.recordKey(entry), entry);
      }
    }
    for (Map.Entry<String, OperationState> operation : ledger.entrySet()) {
      JournalEntry last = folded.remove(operation.getKey());
      if (last == null) {
        return Optional.of(StepOutput.differs("journal", "a line of the operation", "none"));
      }
      Optional<String> difference = difference(last, Projection.of(operation.getValue()));
      if (difference.isPresent()) {
        return difference;
      }
    }
    return folded.values().stream()
        .filter(it -> !it.getStateAfter().equals(StateName.ABSENT.name()))
        .findFirst()
        .map(it -> StepOutput.differs("journal", StateName.ABSENT.name(), it.getStateAfter()));
  }

  private static Optional<String> difference(JournalEntry entry, Projection kept) {
    Map<String, @Nullable Object> told = new LinkedHashMap<>();
    told.put("state", entry.getStateAfter());
    told.put("revision", entry.getRevision());
    told.put("attempt", entry.getAttempt());
    told.put("action", entry.getAction());
    told.put("principal", entry.getPrincipal());
    told.put("fingerprint_version", entry.getFingerprintVersion());
    told.put("fingerprint", entry.getFingerprint());
    told.put("result_sha256", entry.getResultSha256());
    told.put("remote_reference", entry.getRemoteReference());
    told.put("first_attempt_at", entry.getFirstAttemptAt());
    told.put("attempt_started_at", entry.getAttemptStartedAt());
    told.put("settled_at", entry.getSettledAt());
    told.put("lease_until", entry.getLeaseUntil());
    told.put("retry_at", entry.getRetryAt());
    told.put("reconcile_at", entry.getReconcileAt());
    told.put("retain_until", entry.getRetainUntil());
    told.put("forget_at", entry.getForgetAt());
    told.put("workflow_id", entry.getWorkflowId());
    told.put("step", entry.getStep());
    told.put("compensates", entry.getCompensates());
    told.put("compensated_by", entry.getCompensatedBy());
    Map<String, @Nullable Object> held = new LinkedHashMap<>();
    held.put("state", kept.state().name());
    held.put("revision", kept.revision());
    held.put("attempt", kept.attempt());
    held.put("action", kept.action());
    held.put("principal", kept.principal());
    held.put("fingerprint_version", kept.fingerprintVersion());
    held.put("fingerprint", kept.fingerprint());
    held.put("result_sha256", kept.resultSha256());
    held.put("remote_reference", kept.remoteReference());
    held.put("first_attempt_at", kept.firstAttemptAt());
    held.put("attempt_started_at", kept.attemptStartedAt());
    held.put("settled_at", kept.settledAt());
    held.put("lease_until", kept.leaseUntil());
    held.put("retry_at", kept.retryAt());
    held.put("reconcile_at", kept.reconcileAt());
    held.put("retain_until", kept.retainUntil());
    held.put("forget_at", kept.forgetAt());
    held.put("workflow_id", kept.workflowId());
    held.put("step", kept.step());
    held.put("compensates", kept.compensates());
    held.put("compensated_by", kept.compensatedBy());
    for (Map.Entry<String, @Nullable Object> member : held.entrySet()) {
      Object line = told.get(member.getKey());
      if (!Objects.equals(member.getValue(), line)) {
        return Optional.of(
            StepOutput.differs(
                "journal." + member.getKey(),
                String.valueOf(member.getValue()),
                String.valueOf(line)));
      }
    }
    return Optional.empty();
  }
}
