package dev.ichido.decision;

import static dev.ichido.decision.Verdict.CANCELLED;
import static dev.ichido.decision.Verdict.DUPLICATE_IN_PROGRESS;
import static dev.ichido.decision.Verdict.EXPIRED;
import static dev.ichido.decision.Verdict.HELD_UNKNOWN;
import static dev.ichido.decision.Verdict.INVALID;
import static dev.ichido.decision.Verdict.LATE_REPLAY;
import static dev.ichido.decision.Verdict.RECLAIMED;
import static dev.ichido.decision.Verdict.REPLAYED;
import static dev.ichido.decision.Verdict.SETTLED;
import static dev.ichido.decision.Verdict.STILL_UNKNOWN;
import static dev.ichido.decision.Verdict.UNAUTHORIZED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.Found;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.table.Cell;
import dev.ichido.operation.RefusalCode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a cancel does in every state. */
class CancelRulesTest {

  @Test
  @Cell("ABSENT x cancel")
  void cancelBeforeArrivalBindsThePrincipalAndStartsNothing() {
    Journey j = Journey.begin().cancel();
    assertThat(j.verdict()).isEqualTo(CANCELLED);
    Cancelled s = (Cancelled) j.state;
    assertThat(s.revision()).isEqualTo(1);
    assertThat(s.attempt()).isZero();
    assertThat(s.binding().principal()).isEqualTo(Journey.A);
    assertThat(s.binding().fingerprint()).isNull();
    assertThat(s.retainUntil()).isEqualTo(j.now.plus(Duration.ofHours(24)));
    assertThat(s.forgetAt()).isEqualTo(j.now.plus(Duration.ofDays(31)).plus(Duration.ofMinutes(5)));
    assertThat(j.reply().last()).isTrue();
    assertThat(j.reply().state()).isEqualTo(StateName.CANCELLED);

    j.intentOf(Journey.B);
    assertThat(j.verdict()).isEqualTo(UNAUTHORIZED);
    j.intent();
    assertThat(j.verdict()).isEqualTo(CANCELLED);
    j.pass(Duration.ofHours(24)).intent();
    assertThat(j.verdict()).isEqualTo(EXPIRED);
    assertThat(j.commandsTotal()).isZero();
  }

  /** It took effect, says the report: nobody is told that it did not, and the report stays. */
  @Test
  @Cell("ABSENT with evidence x cancel")
  void cancelAfterAnOrphanSuccessIsHeldWithAnAlarmAndKeepsTheEvidence() {
    Journey j = States.absentWithEvidence();
    OperationState before = j.state;

    j.cancel();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
    assertThat(j.state).isSameAs(before);
    assertThat(j.line().alarm()).isTrue();
    assertThat(j.line().otherReference()).isEqualTo("ref-1");
    assertThat(j.reply().last()).isTrue();
    assertThat(j.reply().state()).isNull();
    assertThat(j.reply().answer()).isNull();

    j.intent();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
    assertThat(j.state).isInstanceOf(UnknownReconciliation.class);
    assertThat(j.statusReads()).hasSize(1);
    assertThat(j.commandsTotal()).isZero();
  }

  /** It may have taken effect and been forgotten since: nobody is told that it never was. */
  @Test
  @Cell({
    "ABSENT x cancel, older than the horizon",
    "ABSENT with evidence x cancel, older than the horizon"
  })
  void cancelOfWhatIsOlderThanTheHorizonIsTooLateToKnow() {
    for (Journey j : new Journey[] {Journey.begin(), States.absentWithEvidence()}) {
      OperationState before = j.state;
      Journey inTime = j.copy().cancelIssued(j.now.minus(Duration.ofDays(31)).plusMillis(1));
      assertThat(inTime.verdict()).isIn(CANCELLED, HELD_UNKNOWN);

      j.cancelIssued(j.now.minus(Duration.ofDays(31)));
      assertThat(j.verdict()).isEqualTo(LATE_REPLAY);
      assertThat(j.state).isSameAs(before);
      assertThat(j.reply().last()).isTrue();
      assertThat(j.reply().state()).isNull();
    }
    Journey forgotten = States.succeeded().pass(Duration.ofDays(32)).cancelIssued(Journey.START);
    assertThat(forgotten.verdict()).isEqualTo(LATE_REPLAY);
    assertThat(forgotten.state).isEqualTo(OperationState.Absent.NOTHING);
  }

  /** Which action it was of may not be said; then the adapter names the shortest memory of all. */
  @Test
  void horizonOfACancelIsNotThatOfThePolicyThatRemembersLongest() {
    Journey j = Journey.begin().pass(Duration.ofMinutes(1));
    j.then(
        new CancelReceived(
            "t1",
            "global",
            Journey.KEY.operationId(),
            j.now,
            Journey.A,
            "d-9",
            Journey.START,
            Duration.ofMinutes(1),
            j.policy.clockSkew(),
            null,
            true));
    assertThat(j.verdict()).isEqualTo(LATE_REPLAY);
  }

  @Test
  void skewOfACancelIsThatOfTheActionItNames() {
    for (Duration skew : List.of(Duration.ofHours(1), Duration.ofSeconds(1))) {
      Journey j = Journey.begin();
      j.then(
          new CancelReceived(
              "t1",
              "global",
              Journey.KEY.operationId(),
              j.now,
              Journey.A,
              "d-9",
              j.now.plus(Duration.ofSeconds(2)),
              Duration.ofDays(31),
              skew,
              null,
              true));
      assertThat(j.verdict())
          .isEqualTo(skew.compareTo(Duration.ofSeconds(2)) < 0 ? INVALID : CANCELLED);
    }
  }

  @Test
  void cancelSaysWhenItsOperationWasIssued() {
    for (OperationState state : States.known()) {
      Journey silent = States.journeyAt(state).cancelIssued(null);
      assertThat(silent.reply().code()).isEqualTo("ISSUED_AT_MISSING");
      assertThat(silent.state).isSameAs(state);

      Journey ahead = States.journeyAt(state);
      ahead.cancelIssued(ahead.now.plus(Duration.ofMinutes(5)).plusMillis(1));
      assertThat(ahead.reply().code()).isEqualTo("CLOCK_SKEW");
      assertThat(ahead.state).isSameAs(state);
    }
    Journey justInTime = Journey.begin();
    justInTime.cancelIssued(justInTime.now.plus(Duration.ofMinutes(5)));
    assertThat(justInTime.verdict()).isEqualTo(CANCELLED);
  }

  @Test
  @Cell("FAILED_RETRYABLE x cancel")
  void cancelAfterProofReleasesWhoWaits() {
    Journey j = States.failedRetryable().cancel();
    assertThat(j.verdict()).isEqualTo(CANCELLED);
    Cancelled s = (Cancelled) j.state;
    assertThat(s.attempt()).isEqualTo(1);
    assertThat(s.revision()).isEqualTo(3);
    assertThat(s.binding().fingerprint()).isNotNull();
    assertThat(j.replies())
        .hasSize(2)
        .allSatisfy(
            reply -> {
              assertThat(reply.verdict()).isEqualTo(CANCELLED);
              assertThat(reply.last()).isTrue();
              assertThat(reply.state()).isEqualTo(StateName.CANCELLED);
            });

    Journey sameDelivery = States.failedRetryable();
    sameDelivery.then(sameDelivery.cancellation(Journey.A, "d-1", true));
    assertThat(sameDelivery.replies()).hasSize(1);
    Journey otherPrincipal = States.failedRetryable();
    otherPrincipal.policy = Policies.shared(Policies.STANDARD);
    otherPrincipal.then(otherPrincipal.cancellation(Journey.B, "d-1", true));
    assertThat(otherPrincipal.replies()).hasSize(2);
    Journey silent = States.failedRetryable();
    silent.then(silent.cancellation(Journey.A, null, true));
    assertThat(silent.replies()).hasSize(1);
  }

  @Test
  @Cell("IN_PROGRESS x cancel")
  void runningAttemptIsLeftButGetsNoSuccessor() {
    Journey j = States.inProgress();
    InProgress before = (InProgress) j.state;
    j.cancel();
    assertThat(j.verdict()).isEqualTo(DUPLICATE_IN_PROGRESS);
    InProgress s = (InProgress) j.state;
    assertThat(s.attempts().noFurther()).isTrue();
    assertThat(s.leaseUntil()).isEqualTo(before.leaseUntil());
    assertThat(s.revision()).isEqualTo(before.revision() + 1);
    assertThat(s.waiting().deliveries()).hasSize(2);
    assertThat(j.reply().last()).isFalse();

    j.cancel();
    assertThat(((Known) j.state).revision()).as("once is enough").isEqualTo(s.revision());
    j.succeeds();
    assertThat(j.name()).as("a running attempt may still succeed").isEqualTo(StateName.SUCCEEDED);
    assertThat(j.replies()).hasSize(3);
  }

  @Test
  @Cell("UNKNOWN_RECONCILIATION x cancel")
  void unknownAttemptGetsNoSuccessorEvenUnderADedupingRemote() {
    Journey j = Journey.begin(Policies.KEYED).intent().endsUnknown();
    assertThat(((UnknownReconciliation) j.state).wakeAt()).isNotNull();
    j.cancel();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    assertThat(s.attempts().noFurther()).isTrue();
    assertThat(s.wakeAt()).isNull();
    assertThat(s.revision()).isEqualTo(3);
    j.cancel();
    assertThat(((Known) j.state).revision()).isEqualTo(3);

    j.pass(Duration.ofSeconds(10)).sweep().intent();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
    assertThat(j.commandsTotal()).isEqualTo(1);
  }

  /** An attempt that was started again under the remote's dedupe leaves the one before unproven. */
  @Test
  void whatAnEarlierAttemptMayHaveDoneIsNotCancelled() {
    Journey running = Journey.begin(Policies.KEYED).intent().endsUnknown();
    running.pass(Duration.ofSeconds(1)).sweep();
    assertThat(running.verdict()).isEqualTo(RECLAIMED);

    Journey after = running.copy().failsRetryably();
    assertThat(after.statusReads()).hasSize(1);
    after.cancel();
    assertThat(after.verdict()).isEqualTo(HELD_UNKNOWN);
    Journey before = running.copy().cancel().failsRetryably();
    assertThat(before.verdict()).isEqualTo(SETTLED);
    assertThat(before.statusReads()).hasSize(1);
    for (Journey j : new Journey[] {after, before}) {
      UnknownReconciliation s = (UnknownReconciliation) j.state;
      assertThat(s.attempts().noFurther()).isTrue();
      assertThat(s.wakeAt()).isNull();
      assertThat(s.waiting().deliveries()).hasSize(2);

      // The same proof about the latest attempt again says nothing of the one before.
      j.failsRetryably();
      assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
      assertThat(j.statusReads()).isEmpty();
      Journey found = j.copy().reconcile(Found.COMMITTED, 2);
      assertThat(found.state).isInstanceOf(Succeeded.class);
      assertThat(found.replies()).hasSize(2);
      for (int read = 0; read < 3; read++) {
        j.pass(Duration.ofSeconds(20)).reconcile(Found.ABSENT, 2);
      }
      assertThat(j.state).isInstanceOf(Cancelled.class);
      assertThat(j.commandsTotal()).isEqualTo(2);
    }

    Journey revoked = running.copy().cancel().pass(Duration.ofSeconds(60)).sweep();
    assertThat(revoked.statusReads()).singleElement().matches(Effect.Command::leaseOver);
    revoked.failsRetryably();
    assertThat(revoked.verdict()).isEqualTo(STILL_UNKNOWN);
    revoked.sweepAtDeadline();
    // Of the earlier one nobody may ever have reported.
    assertThat(revoked.statusReads())
        .singleElement()
        .matches(read -> read.attempt() == 1 && read.leaseOver());
  }

  @Test
  void cancelOutlivesTheEndOfTheLease() {
    Journey j = Journey.begin(Policies.KEYED).intent().cancel();
    j.pass(Duration.ofSeconds(60)).sweep();
    assertThat(((UnknownReconciliation) j.state).attempts().noFurther()).isTrue();
    assertThat(((UnknownReconciliation) j.state).wakeAt()).isNull();
    j.pass(Duration.ofSeconds(10)).intent();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
  }

  @Test
  @Cell({
    "SUCCEEDED x cancel",
    "FAILED_TERMINAL x cancel",
    "EXPIRED x cancel",
    "CANCELLED x cancel"
  })
  void settledOperationAnswersAsToAnIntent() {
    for (OperationState state : States.known()) {
      Verdict expected =
          switch (state.name()) {
            case SUCCEEDED, FAILED_TERMINAL -> REPLAYED;
            case EXPIRED -> EXPIRED;
            case CANCELLED -> CANCELLED;
            default -> null;
          };
      if (expected == null) {
        continue;
      }
      Journey j = States.journeyAt(state).cancel();
      assertThat(j.verdict()).isEqualTo(expected);
      assertThat(j.state).isSameAs(state);
      assertThat(j.reply().verdict()).isEqualTo(expected);
      assertThat(j.reply().last()).isTrue();
      Journey silent = States.journeyAt(state);
      silent.then(silent.cancellation(Journey.A, null, true));
      assertThat(silent.verdict()).isEqualTo(expected);
      assertThat(silent.replies()).isEmpty();
    }
  }

  @Test
  @Cell({
    "IN_PROGRESS x cancel, other principal",
    "UNKNOWN_RECONCILIATION x cancel, other principal",
    "FAILED_RETRYABLE x cancel, other principal",
    "SUCCEEDED x cancel, other principal",
    "FAILED_TERMINAL x cancel, other principal",
    "EXPIRED x cancel, other principal",
    "CANCELLED x cancel, other principal"
  })
  void cancelIsAuthorizedLikeAnIntent() {
    for (OperationState state : States.known()) {
      Journey other = States.journeyAt(state).cancelBy(Journey.B);
      assertThat(other.verdict()).isEqualTo(UNAUTHORIZED);
      assertThat(other.state).isSameAs(state);
      assertThat(other.reply().state()).isNull();
      assertThat(other.line().by()).isEqualTo("agent:b");

      Journey forbidden = States.journeyAt(state);
      forbidden.then(forbidden.cancellation(Journey.A, "d", false));
      assertThat(forbidden.verdict()).isEqualTo(UNAUTHORIZED);
      assertThat(forbidden.state).isSameAs(state);
      assertThat(forbidden.reply().revision()).isZero();
    }
  }

  @Test
  void malformedCancelIsRefused() {
    Journey j = States.inProgress();
    OperationState before = j.state;
    j.then(
        new CancelReceived(
            "t1",
            "global",
            null,
            j.now,
            Journey.A,
            "d-9",
            j.now,
            j.policy.horizon(),
            j.policy.clockSkew(),
            RefusalCode.OPERATION_ID_MISSING.because("it was null"),
            true));
    assertThat(j.verdict()).isEqualTo(INVALID);
    assertThat(j.reply().code()).isEqualTo("OPERATION_ID_MISSING");
    assertThat(j.state).isSameAs(before);
  }
}
