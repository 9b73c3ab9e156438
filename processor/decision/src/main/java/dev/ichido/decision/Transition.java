package dev.ichido.decision;

import dev.ichido.decision.OperationEvent.EventName;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One line of the journal: what was decided on one event, or on a deadline that had passed before
 * it. The states before and after are the whole ones; {@link Projection} gives what the journal
 * keeps of them.
 *
 * @param event that was decided on
 * @param eventId delivery id or report id; null for a deadline
 * @param code name of a {@link ReasonCode} or {@link dev.ichido.operation.RefusalCode}
 * @param alarm a person should look
 * @param by who acted, where it is not the bound principal
 * @param evidence why a person was sure
 * @param otherReference the reference that the event brought, where the state after does not hold
 *     it as its own
 * @param suspectOf operation id under which the same meaning is known
 */
public record Transition(
    EventName event,
    @Nullable String eventId,
    Instant at,
    Verdict verdict,
    @Nullable String code,
    boolean alarm,
    OperationState before,
    OperationState after,
    @Nullable String by,
    @Nullable String evidence,
    @Nullable String otherReference,
    @Nullable String suspectOf) {
  public Transition {
    Objects.requireNonNull(event, "event");
    Objects.requireNonNull(at, "at");
    Objects.requireNonNull(verdict, "verdict");
    Objects.requireNonNull(before, "before");
    Objects.requireNonNull(after, "after");
  }
}
