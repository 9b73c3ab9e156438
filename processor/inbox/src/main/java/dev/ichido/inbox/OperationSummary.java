package dev.ichido.inbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An operation as the journal tells of it: who asked for what, how far it is, and until when which
 * of it is kept. It holds no arguments and no result; {@link InboxReader#findOperation} gives the
 * result that was released to a runtime.
 *
 * @param seq grows in the order in which operations became known; 0 before it is stored
 * @param state as on the wire; ABSENT for a success that was reported of an unknown operation
 * @param attempt number of the latest attempt; 0 before the first
 * @param action null when it was cancelled before an intent arrived
 * @param principal that the operation is bound to
 * @param fingerprintVersion 0 when there is no fingerprint
 * @param compensates operation id of the operation that this one undoes
 * @param compensatedBy operation id of the one that may undo this one
 * @param alarm whether a line of its journal asked for a person
 * @param stateSince null when it came to its state before the journal that was read
 */
public record OperationSummary(
    long seq,
    String tenant,
    String scope,
    String operationId,
    long revision,
    String state,
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
    @Nullable String compensatedBy,
    boolean alarm,
    Instant knownSince,
    @Nullable Instant stateSince,
    Instant changedAt) {}
