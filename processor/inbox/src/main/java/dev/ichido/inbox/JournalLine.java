package dev.ichido.inbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One decision about an operation.
 *
 * @param seq position of the row, growing in the order of the journal; 0 before it is stored
 * @param event name of what was decided on, such as INTENT_RECEIVED or RECONCILIATION_REPORTED
 * @param eventId delivery id or report id; null for a deadline
 * @param attempt number of the latest attempt after the decision
 * @param by who acted, where it is not the principal that the operation is bound to
 * @param evidence why a person was sure
 * @param otherReference of a second effect
 * @param suspectOf operation id under which the same meaning is known
 * @param reported what a report said: an attempt's outcome, what a status read found, a settlement
 * @param reportedAttempt the attempt that the report named
 * @param reason the report's stable code of why
 */
public record JournalLine(
    long seq,
    String tenant,
    String scope,
    String operationId,
    long revision,
    String event,
    @Nullable String eventId,
    String verdict,
    @Nullable String code,
    boolean alarm,
    String stateBefore,
    String stateAfter,
    int attempt,
    @Nullable String by,
    @Nullable String evidence,
    @Nullable String remoteReference,
    @Nullable String otherReference,
    @Nullable String suspectOf,
    @Nullable String reported,
    @Nullable Integer reportedAttempt,
    @Nullable String reason,
    Instant at) {}
