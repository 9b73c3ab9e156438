package dev.ichido.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.inbox.JournalLine;
import dev.ichido.inbox.OperationSummary;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What the journal says of operations, as documents. */
final class OperationDocuments {
  private static final JsonMapper JSON = new JsonMapper();

  private OperationDocuments() {}

  static ObjectNode of(OperationSummary operation) {
    return JSON.createObjectNode()
        .put("seq", operation.seq())
        .put("tenant", operation.tenant())
        .put("scope", operation.scope())
        .put("operation_id", operation.operationId())
        .put("state", operation.state())
        .put("state_since", text(operation.stateSince()))
        .put("revision", operation.revision())
        .put("attempt", operation.attempt())
        .put("action", operation.action())
        .put("principal", operation.principal())
        .put("fingerprint_version", operation.fingerprintVersion())
        .put("fingerprint", operation.fingerprint())
        .put("workflow_id", operation.workflowId())
        .put("step", operation.step())
        .put("compensates", operation.compensates())
        .put("compensated_by", operation.compensatedBy())
        .put("remote_reference", operation.remoteReference())
        .put("result_sha256", operation.resultSha256())
        .put("alarm", operation.alarm())
        .put("known_since", text(operation.knownSince()))
        .put("first_attempt_at", text(operation.firstAttemptAt()))
        .put("attempt_started_at", text(operation.attemptStartedAt()))
        .put("lease_until", text(operation.leaseUntil()))
        .put("retry_at", text(operation.retryAt()))
        .put("reconcile_at", text(operation.reconcileAt()))
        .put("settled_at", text(operation.settledAt()))
        .put("retain_until", text(operation.retainUntil()))
        .put("forget_at", text(operation.forgetAt()))
        .put("changed_at", text(operation.changedAt()));
  }

  static ObjectNode of(JournalLine line) {
    return JSON.createObjectNode()
        .put("at", text(line.at()))
        .put("event", line.event())
        .put("event_id", line.eventId())
        .put("verdict", line.verdict())
        .put("code", line.code())
        .put("alarm", line.alarm())
        .put("state_before", line.stateBefore())
        .put("state_after", line.stateAfter())
        .put("attempt", line.attempt())
        .put("reported", line.reported())
        .put("reported_attempt", line.reportedAttempt())
        .put("reason", line.reason())
        .put("remote_reference", line.remoteReference())
        .put("other_reference", line.otherReference())
        .put("suspect_of", line.suspectOf())
        .put("by", line.by())
        .put("evidence", line.evidence());
  }

  private static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : time.toString();
  }
}
