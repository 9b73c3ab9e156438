package dev.ichido.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the journal and a query tell of a state, and what nothing tells of an intent. */
class ProjectionTest {

  @Test
  void nothingIsKnownOfAnAbsentOperation() {
    Projection p = Projection.of(OperationState.Absent.NOTHING);
    assertThat(p.state()).isEqualTo(StateName.ABSENT);
    assertThat(p.attempt()).isZero();
    assertThat(p.remoteReference()).isNull();
    assertThat(p.forgetAt()).isNull();

    Projection evidence = Projection.of(States.absentWithEvidence().state);
    assertThat(evidence.attempt()).isEqualTo(1);
    assertThat(evidence.remoteReference()).isEqualTo("ref-1");
    assertThat(evidence.forgetAt()).isNotNull();
  }

  @Test
  void eachStateTellsItsOwnDeadlines() {
    InProgress running = (InProgress) States.inProgress().state;
    Projection p = Projection.of(running);
    assertThat(p.leaseUntil()).isEqualTo(running.leaseUntil());
    assertThat(p.revision()).isEqualTo(1);
    assertThat(p.principal()).isEqualTo("agent:a");
    assertThat(p.action()).isEqualTo(Journey.ACTION);
    assertThat(p.fingerprintVersion()).isEqualTo(1);
    assertThat(p.fingerprint())
        .isEqualTo(Objects.requireNonNull(running.binding().fingerprint()).digest());
    assertThat(p.firstAttemptAt()).isEqualTo(Journey.START);
    assertThat(p.attemptStartedAt()).isEqualTo(Journey.START);
    assertThat(p.workflowId()).isEqualTo("wf-1");
    assertThat(p.step()).isEqualTo("step-1");
    assertThat(p.settledAt()).isNull();

    UnknownReconciliation unknown = (UnknownReconciliation) States.unknown().state;
    assertThat(Projection.of(unknown).reconcileAt()).isEqualTo(unknown.reconciliation().nextAt());
    assertThat(Projection.of(unknown).retryAt()).isEqualTo(unknown.reclaimAt());

    FailedRetryable failed = (FailedRetryable) States.failedRetryable().state;
    assertThat(Projection.of(failed).retryAt()).isEqualTo(failed.retryAt());
    assertThat(Projection.of(failed).retainUntil()).isEqualTo(failed.retainUntil());

    Succeeded done = (Succeeded) States.succeeded().state;
    assertThat(Projection.of(done).resultSha256()).isEqualTo(done.result().sha256());
    assertThat(Projection.of(done).remoteReference()).isEqualTo("ref-1");
    assertThat(Projection.of(done).settledAt()).isEqualTo(done.settledAt());

    Projection tombstone = Projection.of(States.expired().state);
    assertThat(tombstone.firstAttemptAt()).isNull();
    assertThat(tombstone.resultSha256()).isNull();
    assertThat(tombstone.forgetAt()).isNotNull();

    Projection early = Projection.of(Journey.begin().cancel().state);
    assertThat(early.fingerprint()).isNull();
    assertThat(early.fingerprintVersion()).isZero();
    assertThat(early.action()).isNull();
  }

  @Test
  void everyEventGivesItsIdToTheJournal() {
    Journey j = Journey.begin();
    assertThat(eventId(j.then(j.ask().delivery("d-9").event()))).isEqualTo("d-9");
    assertThat(eventId(j.then(j.readReport("d-8")))).isEqualTo("read-1");
    assertThat(eventId(j.then(j.result("r-9", AttemptOutcome.UNKNOWN, 1, null)))).isEqualTo("r-9");
    assertThat(eventId(j.then(j.reconcile("c-9", OperationEvent.Found.UNKNOWN, 1, null))))
        .isEqualTo("c-9");
    assertThat(eventId(j.then(j.cancellation(Journey.A, "d-7", true)))).isEqualTo("d-7");
    assertThat(
            eventId(
                j.then(
                    j.resolution(
                        "s-9", OperationEvent.ResolvedAs.SUCCEEDED, "person:p", "seen", true))))
        .isEqualTo("s-9");
    assertThat(j.journal)
        .extracting(Transition::event)
        .containsExactly(
            OperationEvent.EventName.INTENT_RECEIVED,
            OperationEvent.EventName.READ_REPORTED,
            OperationEvent.EventName.RESULT_REPORTED,
            OperationEvent.EventName.RECONCILIATION_REPORTED,
            OperationEvent.EventName.CANCEL_RECEIVED,
            OperationEvent.EventName.RESOLUTION_RECEIVED);
  }

  private static @Nullable String eventId(Journey j) {
    return j.line().eventId();
  }

  @Test
  void argumentsAndBodiesAreNotPrinted() {
    Journey j = Journey.begin();
    j.then(j.ask().meaning("{\"secret\":1}").event());
    assertThat(j.last.toString())
        .contains("Work[issuedAt=", "Command[EXECUTE")
        .doesNotContain("secret");
    j.then(j.result("r-1", AttemptOutcome.SUCCEEDED, 1, "seen"));
    assertThat(j.last.toString()).contains("Answer[seen").doesNotContain("receipt");
  }
}
