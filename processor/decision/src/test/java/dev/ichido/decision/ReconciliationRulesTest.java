package dev.ichido.decision;

import static dev.ichido.decision.Verdict.DUPLICATE_RESULT;
import static dev.ichido.decision.Verdict.LATE_SUCCESS;
import static dev.ichido.decision.Verdict.ORPHAN_RESULT;
import static dev.ichido.decision.Verdict.RECLAIMED;
import static dev.ichido.decision.Verdict.RECONCILED;
import static dev.ichido.decision.Verdict.SECOND_EFFECT;
import static dev.ichido.decision.Verdict.STALE_RESULT;
import static dev.ichido.decision.Verdict.STILL_UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.Found;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.table.Cell;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a status read does in every state. */
class ReconciliationRulesTest {

  @Test
  @Tag("ST-08")
  @Tag("FR-09")
  @Tag("FR-14")
  @Cell({
    "UNKNOWN_RECONCILIATION x reconcile COMMITTED",
    "IN_PROGRESS x reconcile COMMITTED",
    "IN_PROGRESS, lease over x reconcile COMMITTED"
  })
  void committedSettlesWhateverAttemptWasAskedAbout() {
    for (Journey start :
        new Journey[] {
          States.unknownAgain(),
          States.inProgressAgain(),
          States.inProgressAgain().pass(Duration.ofSeconds(60))
        }) {
      for (Integer attempt : new Integer[] {null, 1, 2}) {
        Journey j = start.copy().reconcile(Found.COMMITTED, attempt);
        assertThat(j.verdict()).isEqualTo(RECONCILED);
        Succeeded s = (Succeeded) j.state;
        assertThat(s.result().settledBy()).isEqualTo(Marker.RECONCILED);
        assertThat(j.reply().marker()).isEqualTo(Marker.RECONCILED);
        assertThat(j.reply().answer()).isEqualTo(s.result().answer());
        assertThat(j.reply().last()).isTrue();
        assertThat(j.line().alarm()).isFalse();
      }
    }
  }

  /** Once the latest attempt is proven, what is asked and counted is about the one before. */
  @Test
  void theLatestUnprovenAttemptIsAskedAbout() {
    Journey j = Journey.begin(Policies.KEYED).intent().endsUnknown();
    j.pass(Duration.ofSeconds(1)).sweep();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
    j.failsRetryably();
    assertThat(j.statusReads())
        .singleElement()
        .matches(read -> read.attempt() == 1 && read.leaseOver());

    Journey absent = j.copy();
    for (int read = 0; read < 3; read++) {
      absent.pass(Duration.ofSeconds(20)).reconcile(Found.ABSENT, 1);
    }
    assertThat(absent.verdict()).isEqualTo(RECONCILED);

    Journey unknown = j.copy().reconcile(Found.UNKNOWN, 1);
    assertThat(unknown.verdict()).isEqualTo(STILL_UNKNOWN);
    unknown.reconcile(Found.ABSENT, 3);
    assertThat(unknown.verdict()).isEqualTo(STALE_RESULT);
  }

  @Test
  @Cell({"FAILED_RETRYABLE x reconcile COMMITTED", "FAILED_TERMINAL x reconcile COMMITTED"})
  void committedRefutesAFailureWithAnAlarm() {
    for (Journey j : new Journey[] {States.failedRetryable(), States.failedTerminal()}) {
      StateName was = j.name();
      j.reconcile(Found.COMMITTED, 1);
      assertThat(j.verdict()).isEqualTo(RECONCILED);
      assertThat(j.line().alarm()).isTrue();
      Succeeded s = (Succeeded) j.state;
      assertThat(Objects.requireNonNull(s.superseded()).state()).isEqualTo(was);
      assertThat(s.result().settledBy()).isEqualTo(Marker.RECONCILED);
      assertThat(j.replies()).hasSize(was == StateName.FAILED_RETRYABLE ? 1 : 0);
    }
  }

  @Test
  @Cell({
    "IN_PROGRESS x reconcile ABSENT",
    "IN_PROGRESS x reconcile UNKNOWN",
    "FAILED_RETRYABLE x reconcile ABSENT",
    "FAILED_RETRYABLE x reconcile UNKNOWN",
    "SUCCEEDED x reconcile ABSENT",
    "SUCCEEDED x reconcile UNKNOWN",
    "FAILED_TERMINAL x reconcile ABSENT",
    "FAILED_TERMINAL x reconcile UNKNOWN",
    "EXPIRED x reconcile ABSENT",
    "EXPIRED x reconcile UNKNOWN",
    "CANCELLED x reconcile ABSENT",
    "CANCELLED x reconcile UNKNOWN"
  })
  void findingNothingIsStaleWhereNothingIsUnknown() {
    for (OperationState state : States.known()) {
      if (state.name() == StateName.UNKNOWN_RECONCILIATION) {
        continue;
      }
      for (Found found : new Found[] {Found.ABSENT, Found.UNKNOWN}) {
        Journey j = States.journeyAt(state).reconcile(found, 1);
        assertThat(j.verdict()).as(state.name() + " " + found).isEqualTo(STALE_RESULT);
        assertThat(j.state).isSameAs(state);
        assertThat(j.last.effects()).isEmpty();
        assertThat(j.line().alarm()).isFalse();
      }
    }
  }

  @Test
  @Cell("SUCCEEDED x reconcile COMMITTED")
  void committedIsComparedWithTheStoredResult() {
    Journey j = States.inProgress();
    j.then(j.result("r-9", AttemptOutcome.SUCCEEDED, 1, "ref-a"));
    Journey same = j.copy();
    same.then(j.reconcile("c-9", Found.COMMITTED, 1, "ref-a"));
    assertThat(same.verdict()).isEqualTo(DUPLICATE_RESULT);
    Journey other = j.copy();
    other.then(j.reconcile("c-9", Found.COMMITTED, 1, "ref-b"));
    assertThat(other.verdict()).isEqualTo(SECOND_EFFECT);
    assertThat(other.line().alarm()).isTrue();
    assertThat(((Succeeded) other.state).result()).isEqualTo(((Succeeded) j.state).result());
  }

  @Test
  @Cell({
    "ABSENT x reconcile COMMITTED",
    "ABSENT x reconcile ABSENT",
    "ABSENT x reconcile UNKNOWN",
    "ABSENT with evidence x reconcile COMMITTED"
  })
  void answerAboutAnUnheardOfOperationIsAnOrphan() {
    for (Found found : Found.values()) {
      Journey j = Journey.begin().reconcile(found, 1);
      assertThat(j.verdict()).isEqualTo(ORPHAN_RESULT);
      assertThat(j.line().alarm()).isEqualTo(found == Found.COMMITTED);
      assertThat(((Absent) j.state).evidence() != null).isEqualTo(found == Found.COMMITTED);
    }
    Journey known = States.absentWithEvidence().reconcile(Found.COMMITTED, 1);
    assertThat(known.verdict()).isEqualTo(ORPHAN_RESULT);
    assertThat(known.line().alarm()).isTrue();
  }

  @Test
  @Cell({"EXPIRED x reconcile COMMITTED", "CANCELLED x reconcile COMMITTED"})
  void committedAfterTheEndAlarmsAndTheStateStays() {
    for (Journey j : new Journey[] {States.expired(), States.cancelled()}) {
      OperationState before = j.state;
      j.reconcile(Found.COMMITTED, 1);
      assertThat(j.verdict()).isEqualTo(LATE_SUCCESS);
      assertThat(j.line().alarm()).isTrue();
      assertThat(j.line().otherReference()).isNotNull();
      assertThat(j.state).isSameAs(before);
    }
  }

  // Absence

  @Test
  @Cell("UNKNOWN_RECONCILIATION x reconcile ABSENT")
  void absenceIsProofOnlyAfterTheReadsOverTheTimeOfTheContract() {
    Journey j = States.unknown().reconcile(Found.ABSENT, 1);
    assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    assertThat(s.reconciliation().absences()).isEqualTo(1);
    assertThat(s.reconciliation().firstAbsentAt()).isEqualTo(j.now);
    assertThat(s.reconciliation().nextAt()).isEqualTo(j.now.plusSeconds(1));
    assertThat(s.revision()).isEqualTo(3);
    assertThat(j.replies()).isEmpty();

    j.pass(Duration.ofSeconds(1)).reconcile(Found.ABSENT, null);
    assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);

    Journey tooFew = j.copy().pass(Duration.ofHours(1));
    tooFew.then(tooFew.reconcile("c-2", Found.ABSENT, 1, null));
    assertThat(tooFew.verdict()).as("the same report again").isEqualTo(DUPLICATE_RESULT);

    Journey tooSoon = j.copy().pass(Duration.ofMillis(28_999)).reconcile(Found.ABSENT, 1);
    assertThat(tooSoon.verdict()).isEqualTo(STILL_UNKNOWN);
    tooSoon.pass(Duration.ofMillis(1)).reconcile(Found.ABSENT, 1);
    assertThat(tooSoon.verdict()).as("a fourth read, at 30 s").isEqualTo(RECONCILED);

    j.pass(Duration.ofSeconds(29)).reconcile(Found.ABSENT, 1);
    assertThat(j.verdict()).isEqualTo(RECONCILED);
    FailedRetryable failed = (FailedRetryable) j.state;
    assertThat(failed.settledAt()).isEqualTo(j.now);
    assertThat(failed.settlingId()).isEqualTo("c-4");
    assertThat(j.reply().verdict()).isEqualTo(RECONCILED);
    assertThat(j.reply().last()).isFalse();
    assertThat(j.reply().marker()).isNull();

    j.passUntil(failed.retryAt()).intent();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
  }

  @Test
  void reportThatWasLongUnderWayDoesNotStretchTheSpan() {
    Journey j = States.unknown().reconcile(Found.ABSENT, 1).reconcile(Found.ABSENT, 1);
    Instant readAt = j.now.plusSeconds(2);
    j.pass(Duration.ofMinutes(5));
    ReconciliationReported late =
        new ReconciliationReported(
            Journey.KEY, j.now, "c-late", 1, Found.ABSENT, Answer.NONE, readAt);
    j.then(late);
    assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);

    ReconciliationReported ahead =
        new ReconciliationReported(
            Journey.KEY,
            j.now,
            "c-ahead",
            1,
            Found.ABSENT,
            Answer.NONE,
            j.now.plus(Duration.ofDays(1)));
    Journey soon = States.unknown().reconcile(Found.ABSENT, 1).reconcile(Found.ABSENT, 1);
    soon.pass(Duration.ofSeconds(3));
    soon.then(
        new ReconciliationReported(
            Journey.KEY, soon.now, ahead.resultId(), 1, Found.ABSENT, Answer.NONE, ahead.readAt()));
    assertThat(soon.verdict()).as("a clock that is ahead").isEqualTo(STILL_UNKNOWN);
  }

  @Test
  void absenceIsNoProofWithoutAContractThatSaysSo() {
    for (ActionPolicy policy :
        new ActionPolicy[] {
          Policies.statusRead(Policies.STANDARD, false, new AbsentAfter(1, Duration.ZERO)),
          Policies.statusRead(Policies.STANDARD, true, null)
        }) {
      Journey j = Journey.begin(policy).intent().endsUnknown();
      for (int i = 0; i < 5; i++) {
        j.pass(Duration.ofHours(1)).reconcile(Found.ABSENT, 1);
        assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
        assertThat(((UnknownReconciliation) j.state).reconciliation().absences()).isZero();
        assertThat(((UnknownReconciliation) j.state).reconciliation().nextAt())
            .isEqualTo(j.now.plusSeconds(1));
      }
    }
  }

  @Test
  void oneReadMayBeEnough() {
    Journey j =
        Journey.begin(
                Policies.statusRead(Policies.STANDARD, true, new AbsentAfter(1, Duration.ZERO)))
            .intent()
            .endsUnknown()
            .reconcile(Found.ABSENT, 1);
    assertThat(j.verdict()).isEqualTo(RECONCILED);
  }

  @Test
  void absenceIsCountedPerAttempt() {
    Journey j = States.unknownAgain();
    OperationState before = j.state;
    for (int attempt : new int[] {1, 3}) {
      for (Found found : new Found[] {Found.ABSENT, Found.UNKNOWN}) {
        j.pass(Duration.ofHours(1)).reconcile(found, attempt);
        assertThat(j.verdict()).isEqualTo(STALE_RESULT);
        assertThat(j.state).isSameAs(before);
      }
    }

    Journey counted = Journey.begin(Policies.KEYED).intent().endsUnknown();
    counted.reconcile(Found.ABSENT, 1).reconcile(Found.ABSENT, 1);
    counted.pass(Duration.ofSeconds(10)).intent().endsUnknown();
    assertThat(((UnknownReconciliation) counted.state).reconciliation().absences()).isZero();
  }

  @Test
  void provenAbsenceCoversTheEarlierAttemptsToo() {
    ActionPolicy policy = Policies.maxAttempts(Policies.KEYED, 9);
    Journey j = Journey.begin(policy).intent().endsUnknown();
    j.pass(Duration.ofSeconds(10)).intent().endsUnknown();
    j.reconcile(Found.ABSENT, 2).pass(Duration.ofSeconds(15)).reconcile(Found.ABSENT, 2);
    j.pass(Duration.ofSeconds(15)).reconcile(Found.ABSENT, 2);
    assertThat(j.verdict()).isEqualTo(RECONCILED);
    assertThat(((FailedRetryable) j.state).attempts().unproven()).isEmpty();
  }

  @Test
  void absenceAfterACancelCancels() {
    Journey j =
        Journey.begin(
                Policies.statusRead(Policies.STANDARD, true, new AbsentAfter(1, Duration.ZERO)))
            .intent()
            .endsUnknown()
            .cancel()
            .reconcile(Found.ABSENT, 1);
    assertThat(j.verdict()).isEqualTo(RECONCILED);
    assertThat(j.name()).isEqualTo(StateName.CANCELLED);
    assertThat(j.replies()).hasSize(2).allMatch(Effect.SendReply::last);
  }

  @Test
  void manyAbsencesKeepABoundedMemoryOfTheirIds() {
    Journey j =
        Journey.begin(
                Policies.statusRead(
                    Policies.STANDARD, true, new AbsentAfter(3, Duration.ofDays(9))))
            .intent()
            .endsUnknown();
    for (int i = 0; i < 20; i++) {
      j.reconcile(Found.ABSENT, 1);
    }
    Reconciliation r = ((UnknownReconciliation) j.state).reconciliation();
    assertThat(r.absences()).isEqualTo(20);
    assertThat(r.absenceIds()).hasSize(16).endsWith("c-21").startsWith("c-6");
    assertThat(r.firstAbsentAt()).isEqualTo(Journey.START);
  }

  @Test
  @Tag("FR-17")
  @Cell("UNKNOWN_RECONCILIATION x reconcile UNKNOWN")
  void unansweredReadSchedulesTheNext() {
    Journey j = States.unknown().pass(Duration.ofMillis(400)).reconcile(Found.UNKNOWN, 1);
    assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    assertThat(s.reconciliation().nextAt()).isEqualTo(j.now.plusSeconds(1));
    assertThat(s.reconciliation().reads()).isEqualTo(1);
    assertThat(j.last.effects()).isEmpty();
  }
}
