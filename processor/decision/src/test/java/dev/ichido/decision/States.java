package dev.ichido.decision;

import dev.ichido.decision.OperationEvent.AttemptOutcome;
import java.time.Duration;
import java.util.List;

/** A representative of every state, each reached by events, none of them over any deadline. */
final class States {
  private States() {}

  static Journey absentWithEvidence() {
    return Journey.begin().result(AttemptOutcome.SUCCEEDED, 1);
  }

  static Journey inProgress() {
    return Journey.begin().intent();
  }

  /** The second attempt runs, the first provably did not start. */
  static Journey inProgressAgain() {
    Journey j = failedRetryable();
    return j.passUntil(((OperationState.FailedRetryable) j.state).retryAt()).sweep();
  }

  static Journey unknown() {
    return inProgress().endsUnknown();
  }

  static Journey unknownAgain() {
    return inProgressAgain().endsUnknown();
  }

  static Journey failedRetryable() {
    return inProgress().failsRetryably();
  }

  static Journey failedRetryableAgain() {
    return inProgressAgain().failsRetryably();
  }

  static Journey succeeded() {
    return inProgress().succeeds();
  }

  static Journey failedTerminal() {
    return inProgress().failsTerminally();
  }

  static Journey expired() {
    return succeeded().pass(Duration.ofHours(24)).sweep();
  }

  static Journey cancelled() {
    return failedRetryable().cancel();
  }

  static List<OperationState> all() {
    return List.of(
        OperationState.Absent.NOTHING,
        absentWithEvidence().state,
        inProgress().state,
        unknown().state,
        failedRetryable().state,
        succeeded().state,
        failedTerminal().state,
        expired().state,
        cancelled().state);
  }

  static List<OperationState> known() {
    return all().subList(2, 9);
  }

  /** A fresh journey in the state, at a time when none of its deadlines is over. */
  static Journey journeyAt(OperationState state) {
    return Journey.at(
        state,
        state.name() == StateName.EXPIRED
            ? Journey.START.plus(Duration.ofHours(24))
            : Journey.START,
        Policies.STANDARD);
  }
}
