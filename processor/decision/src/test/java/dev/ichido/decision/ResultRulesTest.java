package dev.ichido.decision;

import static dev.ichido.decision.Verdict.DUPLICATE_RESULT;
import static dev.ichido.decision.Verdict.HELD_UNKNOWN;
import static dev.ichido.decision.Verdict.LATE_SUCCESS;
import static dev.ichido.decision.Verdict.LEASE_EXPIRED;
import static dev.ichido.decision.Verdict.ORPHAN_RESULT;
import static dev.ichido.decision.Verdict.RECLAIMED;
import static dev.ichido.decision.Verdict.REPLAYED;
import static dev.ichido.decision.Verdict.SECOND_EFFECT;
import static dev.ichido.decision.Verdict.SETTLED;
import static dev.ichido.decision.Verdict.STALE_RESULT;
import static dev.ichido.decision.Verdict.STILL_UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.Found;
import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.table.Cell;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a report on an attempt does in every state. */
class ResultRulesTest {

  // Attempts under the remote's dedupe, of which an earlier one may have taken effect

  /** The second attempt runs; what the first did is unknown. */
  private static Journey runningAfterUnknown(ActionPolicy policy) {
    Journey j = Journey.begin(policy).intent().endsUnknown().pass(Duration.ofSeconds(10)).intent();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
    return j;
  }

  private static List<Integer> unproven(Journey j) {
    return ((Open) j.state).attempts().unproven();
  }

  @ParameterizedTest
  @EnumSource(
      value = AttemptOutcome.class,
      names = {"FAILED_RETRYABLE", "FAILED_TERMINAL"})
  @Cell({
    "IN_PROGRESS, earlier attempt unproven x result FAILED_RETRYABLE",
    "IN_PROGRESS, earlier attempt unproven x result FAILED_TERMINAL"
  })
  void failureOfTheLatestAttemptIsNoneOfTheOperation(AttemptOutcome outcome) {
    Journey j = runningAfterUnknown(Policies.KEYED).result(outcome, 2);
    assertThat(j.verdict()).isEqualTo(SETTLED);
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    assertThat(s.attempts().unproven()).containsExactly(1);
    assertThat(s.reconciliation().leaseOver()).isFalse();
    assertThat(j.statusReads()).hasSize(1);
    assertThat(j.replies())
        .hasSize(2)
        .allSatisfy(
            reply -> {
              assertThat(reply.state()).isEqualTo(StateName.UNKNOWN_RECONCILIATION);
              assertThat(reply.last()).isFalse();
              assertThat(reply.answer()).isNull();
              assertThat(reply.detail()).startsWith("What attempt 1 did is unknown");
            });

    Journey next = j.copy().passUntil(s.reclaimAt()).sweep();
    assertThat(next.verdict()).isEqualTo(RECLAIMED);
    assertThat(unproven(next)).containsExactly(1, 3);
    next.result(outcome, 3);
    assertThat(next.name())
        .as("attempts used up, and still nobody knows of the first")
        .isEqualTo(StateName.UNKNOWN_RECONCILIATION);
    next.pass(Duration.ofDays(40)).intent();
    assertThat(next.verdict()).isEqualTo(HELD_UNKNOWN);
    assertThat(next.copy().reconcile(Found.COMMITTED, null).name()).isEqualTo(StateName.SUCCEEDED);
    assertThat(next.copy().result(AttemptOutcome.SUCCEEDED, 1).name())
        .isEqualTo(StateName.SUCCEEDED);
    for (int read = 0; read < 3; read++) {
      next.pass(Duration.ofSeconds(20)).reconcile(Found.ABSENT, 3);
    }
    assertThat(next.name()).isEqualTo(StateName.FAILED_RETRYABLE);
    assertThat(unproven(next)).isEmpty();
    assertThat(next.intent().reply().code()).isEqualTo("MAX_ATTEMPTS");
  }

  @Test
  void absencesCountForTheAttemptThatIsAskedAbout() {
    Journey j = runningAfterUnknown(Policies.auto(Policies.KEYED, false));
    j.pass(Duration.ofSeconds(61)).sweep().reconcile(Found.ABSENT, 2);
    assertThat(absences(j)).isEqualTo(1);
    j.result(AttemptOutcome.FAILED_RETRYABLE, 2);
    assertThat(unproven(j)).containsExactly(1);
    assertThat(absences(j)).isZero();
    j.reconcile(Found.ABSENT, 1);
    assertThat(absences(j)).isEqualTo(1);
    j.result(AttemptOutcome.UNKNOWN, 2);
    assertThat(unproven(j)).containsExactly(1, 2);
    assertThat(absences(j)).as("the latest is asked about again").isZero();
    j.reconcile(Found.ABSENT, 2).result(AttemptOutcome.FAILED_RETRYABLE, 1);
    assertThat(unproven(j)).containsExactly(2);
    assertThat(absences(j)).as("it still is").isEqualTo(1);
  }

  private static int absences(Journey j) {
    return ((UnknownReconciliation) j.state).reconciliation().absences();
  }

  @Test
  void remotesWishHoldsBackAnAttemptThatFollowsTheUnknownToo() {
    Journey j = runningAfterUnknown(Policies.KEYED);
    j.then(
        new ResultReported(
            Journey.KEY,
            j.now,
            "r-wish",
            2,
            AttemptOutcome.FAILED_RETRYABLE,
            Answer.NONE,
            Duration.ofMinutes(3)));
    assertThat(((UnknownReconciliation) j.state).reclaimAt())
        .isEqualTo(j.now.plus(Duration.ofMinutes(3)));
  }

  @Test
  @Cell({
    "UNKNOWN_RECONCILIATION, only an earlier attempt unproven x earlier attempt, no success",
    "UNKNOWN_RECONCILIATION, only an earlier attempt unproven x result FAILED_RETRYABLE",
    "UNKNOWN_RECONCILIATION, only an earlier attempt unproven x result UNKNOWN"
  })
  void proofAboutTheLastUnprovenAttemptSettles() {
    Journey j = runningAfterUnknown(Policies.KEYED).failsRetryably();

    Journey retryable = j.copy().result(AttemptOutcome.FAILED_RETRYABLE, 1);
    assertThat(retryable.verdict()).isEqualTo(SETTLED);
    assertThat(retryable.name()).isEqualTo(StateName.FAILED_RETRYABLE);
    assertThat(retryable.replies()).hasSize(2);
    Journey terminal = j.copy().result(AttemptOutcome.FAILED_TERMINAL, 1);
    assertThat(terminal.verdict()).isEqualTo(SETTLED);
    assertThat(terminal.name()).isEqualTo(StateName.FAILED_TERMINAL);
    Journey cancelled = j.copy().cancel().result(AttemptOutcome.FAILED_RETRYABLE, 1);
    assertThat(cancelled.name()).isEqualTo(StateName.CANCELLED);

    Journey unknown = j.copy().result(AttemptOutcome.UNKNOWN, 1);
    assertThat(unknown.verdict()).isEqualTo(STALE_RESULT);
    assertThat(unknown.state).isSameAs(j.state);
    Journey again = j.copy().failsRetryably();
    assertThat(again.verdict()).isEqualTo(STILL_UNKNOWN);
    assertThat(again.state).isSameAs(j.state);
    Journey refuted = j.copy().endsUnknown();
    assertThat(refuted.verdict()).isEqualTo(STILL_UNKNOWN);
    assertThat(unproven(refuted)).containsExactly(1, 2);
  }

  @Test
  @Cell("IN_PROGRESS, earlier attempt unproven x earlier attempt, no success")
  void proofAboutAnEarlierAttemptIsKeptWhileTheNextRuns() {
    Journey j = runningAfterUnknown(Policies.KEYED);
    long revision = ((Known) j.state).revision();
    j.result(AttemptOutcome.UNKNOWN, 1);
    assertThat(unproven(j)).containsExactly(1, 2);
    j.result(AttemptOutcome.FAILED_RETRYABLE, 1);
    assertThat(j.verdict()).isEqualTo(STALE_RESULT);
    assertThat(unproven(j)).containsExactly(2);
    assertThat(((Known) j.state).revision()).isEqualTo(revision);
    assertThat(j.copy().failsTerminally().name()).isEqualTo(StateName.FAILED_TERMINAL);
    assertThat(j.failsRetryably().name()).isEqualTo(StateName.FAILED_RETRYABLE);

    Journey both = runningAfterUnknown(Policies.KEYED).endsUnknown();
    both.result(AttemptOutcome.FAILED_TERMINAL, 1);
    assertThat(both.verdict()).isEqualTo(STALE_RESULT);
    assertThat(unproven(both)).containsExactly(2);
    assertThat(both.failsRetryably().name()).isEqualTo(StateName.FAILED_RETRYABLE);
  }

  /** A revocation that was won tells of its own attempt only; then the remote is asked. */
  @Test
  void revokedAttemptLeavesTheEarlierUnknown() {
    Journey j = runningAfterUnknown(Policies.KEYED).pass(Duration.ofSeconds(60)).sweep();
    assertThat(((UnknownReconciliation) j.state).reconciliation().leaseOver()).isTrue();
    j.failsRetryably();
    assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
    assertThat(unproven(j)).containsExactly(1);
    assertThat(((UnknownReconciliation) j.state).reconciliation().leaseOver()).isFalse();
  }

  @Test
  void personsWordIsAboutEveryAttempt() {
    Journey j = runningAfterUnknown(Policies.KEYED).failsRetryably();
    assertThat(unproven(j.copy().resolve(ResolvedAs.NOT_STARTED))).isEmpty();
    assertThat(j.resolve(ResolvedAs.FAILED_TERMINAL).name()).isEqualTo(StateName.FAILED_TERMINAL);
  }

  @Test
  void failureWithoutProofAboutEveryAttemptIsNoState() {
    Journey j = States.failedRetryable();
    FailedRetryable s = (FailedRetryable) j.state;
    assertThatThrownBy(
            () ->
                new FailedRetryable(
                    1,
                    s.binding(),
                    s.attempts().latestUnproven(),
                    s.work(),
                    "r",
                    j.now,
                    j.now,
                    null,
                    j.now,
                    j.now,
                    Waiting.NOBODY))
        .isInstanceOf(IllegalArgumentException.class);
  }

  // Absent

  @Test
  @Cell("ABSENT x result SUCCEEDED")
  void orphanSuccessIsKeptAsEvidenceWithAnAlarmAndNobodyIsTold() {
    Journey j = Journey.begin().result(AttemptOutcome.SUCCEEDED, 2);
    assertThat(j.verdict()).isEqualTo(ORPHAN_RESULT);
    assertThat(j.line().alarm()).isTrue();
    assertThat(j.replies()).isEmpty();
    OrphanEvidence evidence = Objects.requireNonNull(((Absent) j.state).evidence());
    assertThat(evidence.attempt()).isEqualTo(2);
    assertThat(evidence.remoteReference()).isEqualTo("ref-1");
    assertThat(evidence.resultId()).isEqualTo("r-1");
    assertThat(evidence.reportedAt()).isEqualTo(j.now);

    Journey unnumbered = Journey.begin().succeeds();
    assertThat(Objects.requireNonNull(((Absent) unnumbered.state).evidence()).attempt())
        .isEqualTo(1);
  }

  @Test
  @Cell("ABSENT with evidence x result SUCCEEDED")
  void furtherOrphanSuccessAlarmsAndTheFirstStays() {
    Journey j = States.absentWithEvidence();
    OperationState before = j.state;
    j.succeeds();
    assertThat(j.verdict()).isEqualTo(ORPHAN_RESULT);
    assertThat(j.line().alarm()).isTrue();
    assertThat(j.line().otherReference()).isEqualTo("ref-2");
    assertThat(j.state).isEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource(names = "SUCCEEDED", mode = EnumSource.Mode.EXCLUDE)
  @Cell({
    "ABSENT x result FAILED_RETRYABLE",
    "ABSENT x result FAILED_TERMINAL",
    "ABSENT x result UNKNOWN"
  })
  void orphanOfNoSuccessIsOnlyCounted(AttemptOutcome outcome) {
    Journey j = Journey.begin().result(outcome, 1);
    assertThat(j.verdict()).isEqualTo(ORPHAN_RESULT);
    assertThat(j.line().alarm()).isFalse();
    assertThat(j.state).isEqualTo(Absent.NOTHING);
    assertThat(j.last.effects()).isEmpty();
  }

  // In progress and unknown, the latest attempt

  @Test
  @Tag("ST-05")
  @Cell({"IN_PROGRESS x result SUCCEEDED", "UNKNOWN_RECONCILIATION x result SUCCEEDED"})
  void successSettlesAndReleasesWhoWaits() {
    for (Journey j :
        new Journey[] {States.inProgressAgain().intent(), States.unknownAgain().intent()}) {
      Open before = (Open) j.state;
      j.pass(Duration.ofSeconds(1)).succeeds();
      assertThat(j.verdict()).isEqualTo(SETTLED);
      Succeeded s = (Succeeded) j.state;
      assertThat(s.revision()).isEqualTo(before.revision() + 1);
      assertThat(s.settledAt()).isEqualTo(j.now);
      assertThat(s.retainUntil()).isEqualTo(j.now.plus(Duration.ofHours(24)));
      assertThat(s.forgetAt())
          .isEqualTo(j.now.plus(Duration.ofDays(31)).plus(Duration.ofMinutes(5)));
      assertThat(s.nextDeadline()).contains(s.retainUntil());
      assertThat(s.result().settledBy()).isEqualTo(Marker.EXECUTED);
      assertThat(s.result().sha256())
          .isEqualTo(DerivedIds.sha256(Objects.requireNonNull(s.result().answer().body())));
      assertThat(s.attempts()).isEqualTo(before.attempts());
      assertThat(s.others()).isEmpty();
      assertThat(s.superseded()).isNull();
      assertThat(j.line().alarm()).isFalse();
      assertThat(j.replies()).hasSize(2).allSatisfy(reply -> assertReleased(reply, s));
      assertThat(j.replies()).extracting(reply -> reply.to().deliveryId()).doesNotHaveDuplicates();
      assertThat(j.commands()).isEmpty();
    }
  }

  private static void assertReleased(SendReply reply, Succeeded s) {
    assertThat(reply.verdict()).isEqualTo(SETTLED);
    assertThat(reply.state()).isEqualTo(StateName.SUCCEEDED);
    assertThat(reply.marker()).isEqualTo(Marker.EXECUTED);
    assertThat(reply.answer()).isEqualTo(s.result().answer());
    assertThat(reply.originalAt()).isEqualTo(s.settledAt());
    assertThat(reply.revision()).isEqualTo(s.revision());
    assertThat(reply.attempt()).isEqualTo(2);
    assertThat(reply.last()).isTrue();
  }

  @Test
  @Tag("PRE-01")
  @Cell({"IN_PROGRESS x result FAILED_TERMINAL", "UNKNOWN_RECONCILIATION x result FAILED_TERMINAL"})
  void refusalSettlesForGood() {
    for (Journey j : new Journey[] {States.inProgress(), States.unknown()}) {
      long before = ((Known) j.state).revision();
      j.failsTerminally();
      assertThat(j.verdict()).isEqualTo(SETTLED);
      FailedTerminal s = (FailedTerminal) j.state;
      assertThat(s.revision()).isEqualTo(before + 1);
      assertThat(s.retainUntil()).isEqualTo(j.now.plus(Duration.ofHours(24)));
      assertThat(s.nextDeadline()).contains(s.retainUntil());
      assertThat(s.attempt()).isEqualTo(1);
      assertThat(j.reply().state()).isEqualTo(StateName.FAILED_TERMINAL);
      assertThat(j.reply().marker()).isEqualTo(Marker.EXECUTED);
      assertThat(j.reply().answer()).isEqualTo(s.result().answer());
      assertThat(j.reply().last()).isTrue();
    }
  }

  @Test
  @Tag("ST-06")
  @Cell({
    "IN_PROGRESS x result FAILED_RETRYABLE",
    "UNKNOWN_RECONCILIATION x result FAILED_RETRYABLE"
  })
  void proofOfNotStartedFreesTheClaimAndWhoWaitsGoesOnWaiting() {
    for (Journey j : new Journey[] {States.inProgress(), States.unknown()}) {
      j.failsRetryably();
      assertThat(j.verdict()).isEqualTo(SETTLED);
      FailedRetryable s = (FailedRetryable) j.state;
      assertThat(s.retryAt()).isAfter(j.now).isBeforeOrEqualTo(j.now.plusSeconds(1));
      assertThat(s.wakeAt()).isEqualTo(s.retryAt());
      assertThat(s.nextDeadline()).contains(s.retryAt());
      assertThat(s.retainUntil()).isEqualTo(j.now.plus(Duration.ofHours(24)));
      assertThat(s.waiting().deliveries()).hasSize(1);
      assertThat(j.reply().state()).isEqualTo(StateName.FAILED_RETRYABLE);
      assertThat(j.reply().marker()).isNull();
      assertThat(j.reply().answer()).isNull();
      assertThat(j.reply().retryAt()).isEqualTo(s.retryAt());
      assertThat(j.reply().code()).isNull();
      assertThat(j.reply().last()).isFalse();
    }
  }

  @Test
  void lastAllowedFailureSaysSoAndWakesNobody() {
    Journey j = Journey.begin(Policies.maxAttempts(Policies.STANDARD, 1)).intent();
    j.failsRetryably();
    FailedRetryable s = (FailedRetryable) j.state;
    assertThat(s.wakeAt()).isNull();
    assertThat(s.nextDeadline()).contains(s.retainUntil());
    assertThat(j.reply().code()).isEqualTo("MAX_ATTEMPTS");
    assertThat(j.reply().retryAt()).isNull();
  }

  @Test
  void remotesOwnWishRaisesTheDelayAndNeverLowersIt() {
    Journey j = States.inProgress();
    ResultReported report =
        new ResultReported(
            Journey.KEY,
            j.now,
            "r-1",
            1,
            AttemptOutcome.FAILED_RETRYABLE,
            Answer.NONE,
            Duration.ofSeconds(90));
    Journey asked = j.copy().then(report);
    assertThat(((FailedRetryable) asked.state).retryAt()).isEqualTo(j.now.plusSeconds(90));

    ResultReported hasty =
        new ResultReported(
            Journey.KEY,
            j.now,
            "r-1",
            1,
            AttemptOutcome.FAILED_RETRYABLE,
            Answer.NONE,
            Duration.ZERO);
    Journey plain = j.copy().failsRetryably();
    assertThat(((FailedRetryable) j.copy().then(hasty).state).retryAt())
        .isEqualTo(((FailedRetryable) plain.state).retryAt());

    ResultReported never =
        new ResultReported(
            Journey.KEY,
            j.now,
            "r-1",
            1,
            AttemptOutcome.FAILED_RETRYABLE,
            Answer.NONE,
            Duration.ofHours(2));
    Journey beyond = j.copy().then(never);
    assertThat(beyond.reply().code()).isEqualTo("RETRY_HORIZON");
    assertThat(((FailedRetryable) beyond.state).wakeAt()).isNull();
  }

  @Test
  void withoutAutomaticRetryNobodyIsWoken() {
    Journey j = Journey.begin(Policies.auto(Policies.STANDARD, false)).intent().failsRetryably();
    FailedRetryable s = (FailedRetryable) j.state;
    assertThat(s.wakeAt()).isNull();
    assertThat(j.reply().retryAt()).isEqualTo(s.retryAt());
  }

  @Test
  @Tag("ST-07")
  @Tag("FR-14")
  @Cell("IN_PROGRESS x result UNKNOWN")
  void unknownOutcomeIsReconciledAtOnce() {
    Journey j = States.inProgress().endsUnknown();
    assertThat(j.verdict()).isEqualTo(SETTLED);
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    assertThat(s.since()).isEqualTo(j.now);
    assertThat(s.reconciliation().reads()).isEqualTo(1);
    assertThat(s.reconciliation().leaseOver()).isFalse();
    assertThat(s.reconciliation().nextAt()).isEqualTo(j.now.plusSeconds(1));
    assertThat(s.nextDeadline()).contains(s.reconciliation().nextAt());
    assertThat(s.wakeAt()).isNull();
    assertThat(s.waiting().deliveries()).hasSize(1);
    assertThat(j.statusReads()).hasSize(1);
    Effect.Command read = j.statusReads().get(0);
    assertThat(read.kind()).isEqualTo(Effect.CommandKind.RECONCILE);
    assertThat(read.read()).isEqualTo(1);
    assertThat(read.attempt()).isEqualTo(1);
    assertThat(read.leaseOver()).isFalse();
    assertThat(read.deadline()).isNull();
    assertThat(read.downstreamKey()).isEqualTo(s.attempts().downstreamKey());
    assertThat(read.arguments()).isEqualTo("{\"amount\":100}");
    assertThat(read.firstAttemptAt()).isEqualTo(Journey.START);
    assertThat(j.reply().state()).isEqualTo(StateName.UNKNOWN_RECONCILIATION);
    assertThat(j.reply().last()).isFalse();
    assertThat(j.reply().retryAt()).isEqualTo(s.reconciliation().nextAt());
    assertThat(j.reply().detail()).contains("attempt 1");
    assertThat(j.commands()).isEmpty();
  }

  @Test
  @Cell("UNKNOWN_RECONCILIATION x result UNKNOWN")
  void unknownAgainChangesNothing() {
    Journey j = States.unknown();
    OperationState before = j.state;
    j.endsUnknown();
    assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
    assertThat(j.state).isEqualTo(before);
    assertThat(j.last.effects()).isEmpty();
  }

  @Test
  @Tag("FR-01")
  @Tag("FR-13")
  @Cell({
    "IN_PROGRESS, lease over x result SUCCEEDED",
    "IN_PROGRESS, lease over x result FAILED_RETRYABLE",
    "IN_PROGRESS, lease over x result FAILED_TERMINAL",
    "IN_PROGRESS, lease over x result UNKNOWN"
  })
  void resultAfterTheLeaseCountsWhetherOrNotTheSweepCame() {
    for (AttemptOutcome outcome : AttemptOutcome.values()) {
      Journey unswept = States.inProgress().pass(Duration.ofSeconds(61)).result(outcome, null);
      Journey swept =
          States.inProgress().pass(Duration.ofSeconds(61)).sweep().result(outcome, null);
      assertThat(unswept.state).isEqualTo(swept.state);
      assertThat(unswept.verdict())
          .isEqualTo(outcome == AttemptOutcome.UNKNOWN ? STILL_UNKNOWN : SETTLED);
      assertThat(unswept.last.transitions()).hasSize(2);
      assertThat(unswept.last.transitions().get(0).verdict()).isEqualTo(LEASE_EXPIRED);
    }
  }

  // Another attempt

  @Test
  @Cell({
    "IN_PROGRESS x earlier attempt SUCCEEDED",
    "UNKNOWN_RECONCILIATION x earlier attempt SUCCEEDED",
    "FAILED_RETRYABLE x earlier attempt SUCCEEDED",
    "FAILED_RETRYABLE x result SUCCEEDED"
  })
  void successOfAnyAttemptIsNeverDropped() {
    for (Journey start :
        new Journey[] {
          States.inProgressAgain(), States.unknownAgain(), States.failedRetryableAgain()
        }) {
      for (int attempt : new int[] {1, 3}) {
        Journey j = start.copy().result(AttemptOutcome.SUCCEEDED, attempt);
        assertLateSuccess(j);
      }
    }
    Journey same = States.failedRetryable().succeeds();
    assertLateSuccess(same);
    assertThat(((Succeeded) same.state).superseded())
        .isEqualTo(new Superseded(StateName.FAILED_RETRYABLE, Journey.START));
  }

  private static void assertLateSuccess(Journey j) {
    assertThat(j.verdict()).isEqualTo(LATE_SUCCESS);
    assertThat(j.name()).isEqualTo(StateName.SUCCEEDED);
    assertThat(j.line().alarm()).isTrue();
    assertThat(j.reply().marker()).isEqualTo(Marker.EXECUTED);
    assertThat(j.reply().verdict()).isEqualTo(LATE_SUCCESS);
    assertThat(j.reply().last()).isTrue();
  }

  @Test
  @Cell({
    "IN_PROGRESS x earlier attempt, no success",
    "UNKNOWN_RECONCILIATION x earlier attempt, no success",
    "FAILED_RETRYABLE x earlier attempt, no success"
  })
  void anythingElseOfAnotherAttemptIsStale() {
    for (Journey start :
        new Journey[] {
          States.inProgressAgain(), States.unknownAgain(), States.failedRetryableAgain()
        }) {
      for (int attempt : new int[] {1, 3}) {
        for (AttemptOutcome outcome :
            new AttemptOutcome[] {
              AttemptOutcome.FAILED_RETRYABLE,
              AttemptOutcome.FAILED_TERMINAL,
              AttemptOutcome.UNKNOWN
            }) {
          Journey j = start.copy();
          OperationState before = j.state;
          j.result(outcome, attempt);
          assertThat(j.verdict()).isEqualTo(STALE_RESULT);
          assertThat(j.state).isSameAs(before);
          assertThat(j.last.effects()).isEmpty();
          assertThat(j.line().alarm()).isFalse();
        }
      }
    }
  }

  // Failed retryable

  @Test
  @Cell({
    "FAILED_RETRYABLE x result UNKNOWN",
    "FAILED_RETRYABLE x result FAILED_RETRYABLE",
    "FAILED_RETRYABLE x result FAILED_TERMINAL"
  })
  void refutedProofFailsClosed() {
    Journey j = States.inProgress();
    j.then(j.result("r-9", AttemptOutcome.FAILED_RETRYABLE, 1, null));
    OperationState before = j.state;

    Journey again = j.copy();
    again.then(j.result("r-10", AttemptOutcome.FAILED_RETRYABLE, 1, null));
    assertThat(again.verdict()).isEqualTo(DUPLICATE_RESULT);
    assertThat(again.state).isSameAs(before);

    Journey terminal = j.copy().failsTerminally();
    assertThat(terminal.verdict()).isEqualTo(STALE_RESULT);
    assertThat(terminal.state).isSameAs(before);

    Journey sameReport = j.copy();
    sameReport.then(j.result("r-9", AttemptOutcome.UNKNOWN, 1, null));
    assertThat(sameReport.verdict()).isEqualTo(DUPLICATE_RESULT);
    assertThat(sameReport.state).isSameAs(before);

    Journey refuted = j.copy();
    refuted.then(j.result("r-10", AttemptOutcome.UNKNOWN, 1, null));
    assertThat(refuted.verdict()).isEqualTo(SETTLED);
    assertThat(refuted.name()).isEqualTo(StateName.UNKNOWN_RECONCILIATION);
    assertThat(refuted.statusReads()).hasSize(1);
    refuted.pass(Duration.ofSeconds(10)).intent();
    assertThat(refuted.verdict()).isEqualTo(HELD_UNKNOWN);
  }

  // Succeeded

  @Test
  @Tag("TRN-04")
  @Tag("FR-17")
  @Cell({"SUCCEEDED x result SUCCEEDED", "SUCCEEDED x earlier attempt SUCCEEDED"})
  void secondSuccessIsADuplicateOnlyIfItIsTheSameReportOrTheSameReference() {
    Journey j = States.inProgressAgain();
    j.then(j.result("r-9", AttemptOutcome.SUCCEEDED, 2, "ref-a"));
    Succeeded settled = (Succeeded) j.state;

    for (ResultReported same :
        new ResultReported[] {
          j.result("r-9", AttemptOutcome.SUCCEEDED, 2, "ref-a"),
          j.result("r-9", AttemptOutcome.SUCCEEDED, 2, null),
          j.result("r-10", AttemptOutcome.SUCCEEDED, 1, "ref-a")
        }) {
      Journey again = j.copy().then(same);
      assertThat(again.verdict()).isEqualTo(DUPLICATE_RESULT);
      assertThat(again.state).isSameAs(settled);
      assertThat(again.last.effects()).isEmpty();
      assertThat(again.line().alarm()).isFalse();
    }

    j.then(j.result("r-10", AttemptOutcome.SUCCEEDED, 1, "ref-b"));
    assertThat(j.verdict()).isEqualTo(SECOND_EFFECT);
    assertThat(j.line().alarm()).isTrue();
    assertThat(j.line().otherReference()).isEqualTo("ref-b");
    Succeeded twice = (Succeeded) j.state;
    assertThat(twice.result()).isEqualTo(settled.result());
    assertThat(twice.settledAt()).isEqualTo(settled.settledAt());
    assertThat(twice.retainUntil()).isEqualTo(settled.retainUntil());
    assertThat(twice.revision()).isEqualTo(settled.revision() + 1);
    assertThat(twice.others()).containsExactly(new OtherEffect("r-10", "ref-b", 1, j.now));
    assertThat(j.replies()).isEmpty();

    j.then(j.result("r-11", AttemptOutcome.SUCCEEDED, 1, "ref-b"));
    assertThat(j.verdict()).as("the second effect again").isEqualTo(DUPLICATE_RESULT);
    j.then(j.result("r-10", AttemptOutcome.SUCCEEDED, 1, "ref-c"));
    assertThat(j.verdict()).as("the second report again").isEqualTo(DUPLICATE_RESULT);

    j.then(j.result("r-12", AttemptOutcome.SUCCEEDED, null, null));
    assertThat(j.verdict()).as("no reference counts as another").isEqualTo(SECOND_EFFECT);
    assertThat(((Succeeded) j.state).others().get(1).attempt()).isEqualTo(2);

    j.intent();
    assertThat(j.verdict()).isEqualTo(REPLAYED);
    assertThat(j.reply().answer()).isEqualTo(settled.result().answer());
  }

  @Test
  void storedResultWithoutAReferenceMatchesNoOther() {
    Journey j = States.inProgress();
    j.then(j.result("r-9", AttemptOutcome.SUCCEEDED, 1, null));
    j.then(j.result("r-10", AttemptOutcome.SUCCEEDED, 1, null));
    assertThat(j.verdict()).isEqualTo(SECOND_EFFECT);
  }

  @Test
  void furtherEffectsBeyondWhatIsKeptStillAlarm() {
    Journey j = States.succeeded();
    for (int i = 0; i < Succeeded.OTHERS_KEPT + 2; i++) {
      j.succeeds();
      assertThat(j.verdict()).isEqualTo(SECOND_EFFECT);
      assertThat(j.line().alarm()).isTrue();
    }
    assertThat(((Succeeded) j.state).others()).hasSize(Succeeded.OTHERS_KEPT);
  }

  @Test
  @Cell({
    "SUCCEEDED x result FAILED_RETRYABLE",
    "SUCCEEDED x result FAILED_TERMINAL",
    "SUCCEEDED x result UNKNOWN",
    "SUCCEEDED x earlier attempt, no success",
    "FAILED_TERMINAL x result FAILED_RETRYABLE",
    "FAILED_TERMINAL x result UNKNOWN",
    "EXPIRED x result FAILED_RETRYABLE",
    "EXPIRED x result FAILED_TERMINAL",
    "EXPIRED x result UNKNOWN",
    "CANCELLED x result FAILED_RETRYABLE",
    "CANCELLED x result FAILED_TERMINAL",
    "CANCELLED x result UNKNOWN"
  })
  void whatIsNoSuccessNeverTouchesASettledOperation() {
    for (Journey start :
        new Journey[] {
          States.succeeded(), States.failedTerminal(), States.expired(), States.cancelled()
        }) {
      for (AttemptOutcome outcome :
          new AttemptOutcome[] {
            AttemptOutcome.FAILED_RETRYABLE, AttemptOutcome.UNKNOWN, AttemptOutcome.FAILED_TERMINAL
          }) {
        if (start.name() == StateName.FAILED_TERMINAL
            && outcome == AttemptOutcome.FAILED_TERMINAL) {
          continue;
        }
        Journey j = start.copy();
        OperationState before = j.state;
        j.result(outcome, null);
        assertThat(j.verdict()).as(before.name() + " " + outcome).isEqualTo(STALE_RESULT);
        assertThat(j.state).isSameAs(before);
        assertThat(j.last.effects()).isEmpty();
      }
    }
  }

  // Failed terminal

  @Test
  @Cell({
    "FAILED_TERMINAL x result SUCCEEDED",
    "FAILED_TERMINAL x earlier attempt SUCCEEDED",
    "FAILED_TERMINAL x result FAILED_TERMINAL",
    "FAILED_TERMINAL x earlier attempt, no success"
  })
  void refusedOperationThatTookEffectAfterAllSucceedsWithItsHistory() {
    Journey j = States.inProgressAgain().failsTerminally();
    FailedTerminal before = (FailedTerminal) j.state;

    Journey again = j.copy().failsTerminally();
    assertThat(again.verdict()).isEqualTo(DUPLICATE_RESULT);
    assertThat(again.state).isSameAs(before);
    Journey older = j.copy().result(AttemptOutcome.FAILED_TERMINAL, 1);
    assertThat(older.verdict()).isEqualTo(STALE_RESULT);
    assertThat(older.state).isSameAs(before);

    for (int attempt : new int[] {1, 2, 3}) {
      Journey late = j.copy().pass(Duration.ofHours(1)).result(AttemptOutcome.SUCCEEDED, attempt);
      assertThat(late.verdict()).isEqualTo(LATE_SUCCESS);
      assertThat(late.line().alarm()).isTrue();
      assertThat(late.replies()).isEmpty();
      Succeeded s = (Succeeded) late.state;
      assertThat(s.superseded())
          .isEqualTo(new Superseded(StateName.FAILED_TERMINAL, before.settledAt()));
      assertThat(s.settledAt()).isEqualTo(late.now);
      assertThat(s.retainUntil()).isEqualTo(late.now.plus(Duration.ofHours(24)));
      assertThat(s.revision()).isEqualTo(before.revision() + 1);
    }
  }

  // After the end

  @Test
  @Cell({
    "EXPIRED x result SUCCEEDED",
    "CANCELLED x result SUCCEEDED",
    "SUCCEEDED, retention over x result SUCCEEDED",
    "EXPIRED, tombstone over x result SUCCEEDED"
  })
  void successAfterTheEndAlarmsAndTheStateStays() {
    for (Journey j : new Journey[] {States.expired(), States.cancelled()}) {
      Known before = (Known) j.state;
      j.succeeds();
      assertThat(j.verdict()).isEqualTo(LATE_SUCCESS);
      assertThat(j.line().alarm()).isTrue();
      assertThat(j.line().otherReference()).isNotNull();
      assertThat(j.state).isSameAs(before);
      assertThat(j.replies()).isEmpty();
    }
    Journey unswept = States.succeeded().pass(Duration.ofHours(24)).succeeds();
    assertThat(unswept.verdict()).isEqualTo(LATE_SUCCESS);
    assertThat(unswept.name()).isEqualTo(StateName.EXPIRED);
    Journey forgotten = States.succeeded().pass(Duration.ofDays(32)).succeeds();
    assertThat(forgotten.verdict()).isEqualTo(ORPHAN_RESULT);
    assertThat(forgotten.last.transitions()).hasSize(3);
  }

  // Cancelled while running

  @Test
  void operationThatWantsNoFurtherAttemptIsCancelledByTheProof() {
    for (Journey start : new Journey[] {States.inProgress(), States.unknown()}) {
      Journey j = start.cancel().failsRetryably();
      assertThat(j.verdict()).isEqualTo(SETTLED);
      Cancelled s = (Cancelled) j.state;
      assertThat(s.attempt()).isEqualTo(1);
      assertThat(s.settledAt()).isEqualTo(j.now);
      assertThat(s.retainUntil()).isEqualTo(j.now.plus(Duration.ofHours(24)));
      assertThat(s.nextDeadline()).contains(s.retainUntil());
      assertThat(j.replies())
          .hasSize(2)
          .allSatisfy(
              reply -> {
                assertThat(reply.last()).isTrue();
                assertThat(reply.state()).isEqualTo(StateName.CANCELLED);
                assertThat(reply.verdict()).isEqualTo(SETTLED);
              });
      Instant later = j.now.plusSeconds(10);
      j.passUntil(later).sweep().intent();
      assertThat(j.verdict()).isEqualTo(Verdict.CANCELLED);
      assertThat(j.commandsTotal()).isEqualTo(1);
    }
  }

  @Test
  @Tag("ST-18")
  void bodyUnderAHandleKeepsTheHandlesDigest() {
    Answer answer = new Answer("ref", null, new BodyHandle("ab12", 8_000_000), 2, null, 201);
    Journey j = States.inProgress();
    j.then(
        new ResultReported(Journey.KEY, j.now, "r-1", 1, AttemptOutcome.SUCCEEDED, answer, null));
    assertThat(((Succeeded) j.state).result().sha256()).isEqualTo("ab12");
    assertThat(j.reply().answer()).isEqualTo(answer);
    assertThat(StoredResult.of("x", Answer.NONE, Marker.EXECUTED).sha256()).isNull();
  }
}
