package dev.ichido.topology.store;

import dev.ichido.decision.OperationState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An operation as the ledger keeps it.
 *
 * @param armedFor due time of its entry in the deadline store, in whole milliseconds; kept here so
 *     that the entry is found again whatever a later release takes for the next deadline
 * @param traceparent trace context of the intent that claimed, for attempts that no intent starts
 */
public record StoredOperation(
    OperationState state, @Nullable Instant armedFor, @Nullable String traceparent) {}
