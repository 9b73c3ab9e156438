package dev.ichido.decision;

import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.CompensationAsked;
import dev.ichido.decision.OperationEvent.CompensationReleased;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.EventName;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ReadReported;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResultReported;
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
 * @param report what was reported; null where the event is no report
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
    @Nullable String suspectOf,
    @Nullable Report report) {

  /**
   * What a report said.
   *
   * @param attempt that it named; null where it named none
   * @param said an attempt's outcome, what a status read found, or a person's settlement
   * @param reason a stable code of why
   */
  public record Report(@Nullable Integer attempt, String said, @Nullable String reason) {
    public Report {
      Objects.requireNonNull(said, "said");
    }

    static @Nullable Report of(OperationEvent event) {
      return switch (event) {
        case ResultReported e -> new Report(e.attempt(), e.outcome().name(), e.answer().reason());
        case ReadReported e ->
            new Report(
                null,
                (e.succeeded() ? AttemptOutcome.SUCCEEDED : AttemptOutcome.FAILED_TERMINAL).name(),
                e.answer().reason());
        case ReconciliationReported e ->
            new Report(e.attempt(), e.found().name(), e.answer().reason());
        case ResolutionReceived e -> new Report(null, e.as().name(), e.answer().reason());
        case IntentReceived e -> null;
        case CancelReceived e -> null;
        case CompensationAsked e -> null;
        case CompensationReleased e -> null;
        case DeadlineReached e -> null;
      };
    }
  }

  public Transition {
    Objects.requireNonNull(event, "event");
    Objects.requireNonNull(at, "at");
    Objects.requireNonNull(verdict, "verdict");
    Objects.requireNonNull(before, "before");
    Objects.requireNonNull(after, "after");
  }
}
