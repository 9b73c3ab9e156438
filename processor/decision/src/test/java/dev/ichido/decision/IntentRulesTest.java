package dev.ichido.decision;

import static dev.ichido.decision.Verdict.CANCELLED;
import static dev.ichido.decision.Verdict.CLAIMED;
import static dev.ichido.decision.Verdict.DUPLICATE_IN_PROGRESS;
import static dev.ichido.decision.Verdict.EXPIRED;
import static dev.ichido.decision.Verdict.FINGERPRINT_MISMATCH;
import static dev.ichido.decision.Verdict.HELD_SUSPECT;
import static dev.ichido.decision.Verdict.HELD_UNKNOWN;
import static dev.ichido.decision.Verdict.INVALID;
import static dev.ichido.decision.Verdict.LATE_REPLAY;
import static dev.ichido.decision.Verdict.LEASE_EXPIRED;
import static dev.ichido.decision.Verdict.PASSED_THROUGH;
import static dev.ichido.decision.Verdict.RECLAIMED;
import static dev.ichido.decision.Verdict.REPLAYED;
import static dev.ichido.decision.Verdict.RETRY_LATER;
import static dev.ichido.decision.Verdict.UNAUTHORIZED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.Effect.ChargeRetryBudget;
import dev.ichido.decision.Effect.Command;
import dev.ichido.decision.Effect.CommandKind;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.table.Cell;
import dev.ichido.operation.Principal;
import dev.ichido.operation.RefusalCode;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What an intent meets in every state, and in which order. */
class IntentRulesTest {

  // Absent

  @Test
  @Tag("ST-01")
  @Tag("ST-01-first")
  @Cell("ABSENT x intent, same fingerprint")
  void firstIntentIsClaimedAndOneCommandLeaves() {
    Journey j = Journey.begin().intent();

    assertThat(j.verdict()).isEqualTo(CLAIMED);
    InProgress s = (InProgress) j.state;
    assertThat(s.revision()).isEqualTo(1);
    assertThat(s.leaseUntil()).isEqualTo(j.now.plusSeconds(60));
    assertThat(s.nextDeadline()).contains(s.leaseUntil());
    assertThat(s.attempts().keyed()).isFalse();
    assertThat(s.binding().principal()).isEqualTo(Journey.A);
    assertThat(s.binding().workflowId()).isEqualTo("wf-1");
    assertThat(s.binding().step()).isEqualTo("step-1");
    assertThat(j.commands()).hasSize(1);
    Command command = j.commands().get(0);
    assertThat(command.kind()).isEqualTo(CommandKind.EXECUTE);
    assertThat(command.attempt()).isEqualTo(1);
    assertThat(command.operationId()).isEqualTo(Journey.KEY.operationId());
    assertThat(command.tenant()).isEqualTo("t1");
    assertThat(command.scope()).isEqualTo("global");
    assertThat(command.deadline()).isEqualTo(s.leaseUntil());
    assertThat(command.firstAttemptAt()).isEqualTo(j.now);
    assertThat(command.issuedAt()).isEqualTo(j.now);
    assertThat(command.arguments()).isEqualTo("{\"amount\":100}");
    assertThat(command.fingerprintVersion()).isEqualTo(1);
    assertThat(command.downstreamKey()).isEqualTo(s.attempts().downstreamKey());
    assertThat(command.principal()).isEqualTo(Journey.A);
    assertThat(command.leaseOver()).isFalse();
    assertThat(command.deliveryId()).isNull();
    SendReply reply = j.reply();
    assertThat(reply.verdict()).isEqualTo(CLAIMED);
    assertThat(reply.state()).isEqualTo(StateName.IN_PROGRESS);
    assertThat(reply.attempt()).isEqualTo(1);
    assertThat(reply.revision()).isEqualTo(1);
    assertThat(reply.last()).isFalse();
    assertThat(reply.leaseUntil()).isEqualTo(s.leaseUntil());
    assertThat(reply.to().deliveryId()).isEqualTo("d-1");
    assertThat(j.last.effects()).noneMatch(ChargeRetryBudget.class::isInstance);
    assertThat(s.waiting().deliveries()).containsExactly(new WaitingDelivery("d-1", Journey.A));
  }

  @Test
  @Tag("TTL-05")
  @Tag("TTL-05-tombstone-gone")
  @Tag("FR-27")
  @Cell("ABSENT x intent, older than the horizon")
  void absentAndExactlyAsOldAsTheHorizonIsLate() {
    Journey j = Journey.begin();
    Duration horizon = Duration.ofDays(31);

    j.then(j.ask().issuedAt(j.now.minus(horizon)).event());
    assertThat(j.verdict()).isEqualTo(LATE_REPLAY);
    assertThat(j.name()).isEqualTo(StateName.ABSENT);
    assertThat(j.reply().state()).isNull();
    assertThat(j.reply().last()).isTrue();
    assertThat(j.commands()).isEmpty();

    j.then(j.ask().issuedAt(j.now.minus(horizon).plusMillis(1)).event());
    assertThat(j.verdict()).isEqualTo(CLAIMED);
  }

  @Test
  @Tag("KEY-18")
  @Cell("ABSENT x intent, suspected twin")
  void suspectIsHeldUnderThatPolicyUntilItCarriesADiscriminator() {
    Journey j = Journey.begin(Policies.holding(Policies.STANDARD));

    j.then(j.ask().suspectOf("op-other").event());
    assertThat(j.verdict()).isEqualTo(HELD_SUSPECT);
    assertThat(j.state).isEqualTo(OperationState.Absent.NOTHING);
    assertThat(j.reply().last()).isTrue();
    assertThat(j.reply().state()).isNull();
    assertThat(j.line().suspectOf()).isEqualTo("op-other");
    assertThat(j.commands()).isEmpty();

    j.then(j.ask().suspectOf("op-other").discriminator("second order").event());
    assertThat(j.verdict()).isEqualTo(CLAIMED);
    assertThat(j.line().suspectOf()).isNull();
    assertThat(j.line().code()).isNull();
  }

  @Test
  @Tag("KEY-19")
  void suspectRunsUnderTheDefaultPolicyAndIsReported() {
    Journey j = Journey.begin();

    j.then(j.ask().suspectOf("op-other").event());
    assertThat(j.verdict()).isEqualTo(CLAIMED);
    assertThat(j.line().code()).isEqualTo("SUSPECTED_REMINT");
    assertThat(j.line().suspectOf()).isEqualTo("op-other");
    assertThat(j.line().alarm()).isFalse();
    assertThat(j.commandsTotal()).isEqualTo(1);
  }

  @Test
  @Cell("ABSENT with evidence x intent, same fingerprint")
  void intentAfterAnOrphanSuccessIsReconciledNotClaimed() {
    Journey j = Journey.begin().result(AttemptOutcome.SUCCEEDED, 3).pass(Duration.ofMinutes(1));

    j.intent();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    assertThat(s.attempt()).isEqualTo(3);
    assertThat(s.attempts().base()).isEqualTo(2);
    assertThat(s.attempts().keyed()).isFalse();
    assertThat(s.revision()).isEqualTo(1);
    assertThat(j.commands()).isEmpty();
    assertThat(j.statusReads()).hasSize(1);
    assertThat(j.statusReads().get(0).attempt()).isEqualTo(3);
    assertThat(j.reply().state()).isEqualTo(StateName.UNKNOWN_RECONCILIATION);
    assertThat(s.waiting().deliveries()).hasSize(1);
  }

  @Test
  void orphanSuccessIsNeverRunAgainEvenUnderADedupingRemote() {
    Journey j = Journey.begin(Policies.KEYED).result(AttemptOutcome.SUCCEEDED, 1).intent();

    for (int i = 0; i < 8; i++) {
      j.pass(Duration.ofMinutes(5)).sweep().intent();
      assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
    }
    assertThat(j.commandsTotal()).isZero();
  }

  @Test
  void evidenceOfAnOrphanIsForgottenWithTheHorizonAndTheSkew() {
    Journey j = Journey.begin().result(AttemptOutcome.SUCCEEDED, 1);
    Instant forgetAt = j.now.plus(Duration.ofDays(31)).plus(Duration.ofMinutes(5));
    assertThat(j.state.nextDeadline()).contains(forgetAt);

    j.passUntil(forgetAt.minusMillis(1)).intent();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);

    Journey late = Journey.begin().result(AttemptOutcome.SUCCEEDED, 1);
    late.passUntil(forgetAt).intent();
    assertThat(late.verdict()).isEqualTo(CLAIMED);
    assertThat(late.last.transitions()).hasSize(2);
  }

  // Refusals come first

  @Test
  @Tag("SCO-07")
  @Tag("SCO-07-validate-before-lookup")
  @Tag("ST-13")
  @Cell({
    "ABSENT x intent, malformed",
    "IN_PROGRESS x intent, malformed",
    "UNKNOWN_RECONCILIATION x intent, malformed",
    "FAILED_RETRYABLE x intent, malformed",
    "SUCCEEDED x intent, malformed",
    "FAILED_TERMINAL x intent, malformed",
    "EXPIRED x intent, malformed",
    "CANCELLED x intent, malformed",
    "ABSENT with evidence x intent, malformed"
  })
  void malformedIntentIsRefusedInEveryStateAndTouchesNothing() {
    for (OperationState state : States.all()) {
      Journey j = States.journeyAt(state);
      j.then(
          j.ask()
              .by(Journey.B)
              .forbidden()
              .refused(RefusalCode.ARGUMENTS_NOT_JSON.because("it ended early"))
              .event());
      assertThat(j.verdict()).as(state.name().name()).isEqualTo(INVALID);
      assertThat(j.state).isSameAs(state);
      assertThat(j.reply().code()).isEqualTo("ARGUMENTS_NOT_JSON");
      assertThat(j.reply().detail()).contains("it ended early");
      assertThat(j.reply().last()).isTrue();
      assertTellsNothing(j.reply());
      assertThat(j.line().code()).isEqualTo("ARGUMENTS_NOT_JSON");
      assertThat(j.last.effects()).hasSize(1);
    }
  }

  @Test
  void anIntentWithoutAnOperationIdCanBeRefused() {
    Journey j = Journey.begin();
    j.then(
        j.ask()
            .operation(null)
            .refused(RefusalCode.OPERATION_ID_MISSING.because("it was null"))
            .event());
    assertThat(j.verdict()).isEqualTo(INVALID);
    assertThat(j.reply().to().operationId()).isNull();
  }

  @Test
  void issueTimeIsMandatory() {
    Journey j = Journey.begin();
    j.then(j.ask().issuedAt(null).event());
    assertThat(j.reply().code()).isEqualTo("ISSUED_AT_MISSING");
    assertThat(j.state).isEqualTo(OperationState.Absent.NOTHING);
  }

  @Test
  void issueTimeMayBeAheadByExactlyTheSkew() {
    Journey j = Journey.begin();
    j.then(j.ask().issuedAt(j.now.plus(Duration.ofMinutes(5)).plusMillis(1)).event());
    assertThat(j.verdict()).isEqualTo(INVALID);
    assertThat(j.reply().code()).isEqualTo("CLOCK_SKEW");

    j.then(j.ask().issuedAt(j.now.plus(Duration.ofMinutes(5))).event());
    assertThat(j.verdict()).isEqualTo(CLAIMED);
  }

  /** Else who may ask for nothing learns from it under which ids something is known. */
  @Test
  void skewIsThatOfTheActionThatIsAskedForWhateverTheOperationIsBoundTo() {
    Duration ahead = Duration.ofHours(1);
    for (OperationState state : States.all()) {
      Journey stranger = States.journeyAt(state);
      stranger.then(
          stranger
              .ask()
              .forbidden()
              .issuedAt(stranger.now.plus(ahead))
              .terms(ahead, Duration.ofSeconds(1))
              .event());
      assertThat(stranger.verdict()).as(state.name().name()).isEqualTo(UNAUTHORIZED);

      Journey strict = States.journeyAt(state);
      strict.then(
          strict
              .ask()
              .issuedAt(strict.now.plusSeconds(2))
              .terms(Duration.ofSeconds(1), Duration.ofSeconds(1))
              .event());
      assertThat(strict.reply().code()).as(state.name().name()).isEqualTo("CLOCK_SKEW");
    }
  }

  @Test
  void aReadHasTheTimesOfItsOwnAction() {
    for (OperationState state : States.all()) {
      Journey j = States.journeyAt(state);
      j.then(
          j.ask()
              .read()
              .issuedAt(j.now.plus(Duration.ofHours(1)))
              .terms(Duration.ofHours(1), Duration.ofSeconds(7))
              .event());
      assertThat(j.verdict()).as(state.name().name()).isEqualTo(PASSED_THROUGH);
      assertThat(j.commands().get(0).deadline()).isEqualTo(j.now.plusSeconds(7));
    }
  }

  @Test
  @Tag("SCO-05")
  @Tag("FR-44")
  @Cell({
    "ABSENT x intent, not permitted",
    "IN_PROGRESS x intent, not permitted",
    "UNKNOWN_RECONCILIATION x intent, not permitted",
    "FAILED_RETRYABLE x intent, not permitted",
    "SUCCEEDED x intent, not permitted",
    "FAILED_TERMINAL x intent, not permitted",
    "EXPIRED x intent, not permitted",
    "CANCELLED x intent, not permitted",
    "ABSENT with evidence x intent, not permitted"
  })
  void whoIsNotPermittedLearnsNothingInAnyState() {
    for (OperationState state : States.all()) {
      Journey j = States.journeyAt(state);
      j.then(j.ask().meaning("{\"amount\":1}").forbidden().event());
      assertThat(j.verdict()).as(state.name().name()).isEqualTo(UNAUTHORIZED);
      assertThat(j.state).isSameAs(state);
      assertThat(j.reply().last()).isTrue();
      assertTellsNothing(j.reply());
      assertThat(j.last.effects()).hasSize(1);
    }
  }

  @Test
  @Tag("FR-44")
  @Cell({
    "IN_PROGRESS x intent, other principal",
    "UNKNOWN_RECONCILIATION x intent, other principal",
    "FAILED_RETRYABLE x intent, other principal",
    "SUCCEEDED x intent, other principal",
    "FAILED_TERMINAL x intent, other principal",
    "EXPIRED x intent, other principal",
    "CANCELLED x intent, other principal"
  })
  void anotherPrincipalLearnsNothingOfAKnownOperation() {
    for (OperationState state : States.known()) {
      for (String arguments : new String[] {"{\"amount\":100}", "{\"amount\":1}"}) {
        Journey j = States.journeyAt(state);
        j.then(j.ask().by(Journey.B).meaning(arguments).event());
        assertThat(j.verdict()).as(state.name().name()).isEqualTo(UNAUTHORIZED);
        assertThat(j.state).isSameAs(state);
        assertTellsNothing(j.reply());
        assertThat(j.line().by()).isEqualTo("agent:b");
      }
    }
  }

  @Test
  void sharedActionAnswersEveryPrincipalUnderItsOwnName() {
    Journey j = Journey.begin(Policies.shared(Policies.STANDARD)).intent().intentOf(Journey.B);
    assertThat(j.verdict()).isEqualTo(DUPLICATE_IN_PROGRESS);
    assertThat(j.line().by()).isEqualTo("agent:b");

    j.succeeds();
    assertThat(j.replies())
        .extracting(reply -> reply.to().principal())
        .containsExactly(Journey.A, Journey.B);

    j.intentOf(Journey.B);
    assertThat(j.verdict()).isEqualTo(REPLAYED);
    assertThat(j.reply().to().principal()).isEqualTo(Journey.B);
  }

  @ParameterizedTest
  @CsvSource({"true, PT30S, PT30S", "true, PT0S, PT1S", "true, , ", "false, PT30S, "})
  void aCallStartsBeforeItsAbsenceCanBeProven(
      boolean statusRead, @Nullable Duration over, @Nullable Duration within) {
    AbsentAfter absence = over == null ? null : new AbsentAfter(1, over);
    Journey j = Journey.begin(Policies.statusRead(Policies.STANDARD, statusRead, absence));
    j.then(j.ask().event());
    assertThat(j.commands().get(0).startWithin()).isEqualTo(within);
  }

  @Test
  @Tag("FR-16")
  @Cell({
    "ABSENT x intent, read",
    "IN_PROGRESS x intent, read",
    "UNKNOWN_RECONCILIATION x intent, read",
    "FAILED_RETRYABLE x intent, read",
    "SUCCEEDED x intent, read",
    "FAILED_TERMINAL x intent, read",
    "EXPIRED x intent, read",
    "CANCELLED x intent, read",
    "ABSENT with evidence x intent, read"
  })
  void readPassesThroughInEveryStateAndKeepsNoRecord() {
    for (OperationState state : States.all()) {
      Journey j = States.journeyAt(state);
      j.then(j.ask().by(Journey.B).read().event());
      assertThat(j.verdict()).as(state.name().name()).isEqualTo(PASSED_THROUGH);
      assertThat(j.state).isSameAs(state);
      Command command = j.commands().get(0);
      assertThat(j.commands()).hasSize(1);
      assertThat(command.kind()).isEqualTo(CommandKind.READ);
      assertThat(command.attempt()).isZero();
      assertThat(command.action()).isEqualTo("kb.search");
      assertThat(command.deliveryId()).isEqualTo("d-1");
      assertThat(command.downstreamKey()).isNull();
      assertThat(command.deadline()).isEqualTo(j.now.plusSeconds(60));
      assertTellsNothing(j.reply());
      assertThat(j.reply().last()).isFalse();
    }
  }

  /** A changed policy re-opens nothing. */
  @Test
  void whatWasClaimedAsAWriteIsNoReadWhateverItsActionIsNow() {
    for (OperationState state : States.all()) {
      Journey write = States.journeyAt(state);
      write.then(write.ask().event());
      Journey read = States.journeyAt(state);
      read.then(read.ask().nowRead().event());
      if (state.isBoundTo(Journey.ACTION)) {
        assertThat(read.last).as(state.name().name()).isEqualTo(write.last);
        read.then(read.ask().nowRead().by(Journey.B).event());
        assertThat(read.verdict()).isEqualTo(UNAUTHORIZED);
      } else {
        assertThat(read.verdict()).as(state.name().name()).isEqualTo(PASSED_THROUGH);
        assertThat(read.state).isSameAs(state);
      }
    }
  }

  @Test
  void whatIsForgottenIsAReadWhenItsActionIsOneNow() {
    Journey kept = States.succeeded().pass(Duration.ofHours(24));
    kept.then(kept.ask().nowRead().event());
    assertThat(kept.verdict()).isEqualTo(EXPIRED);
    assertThat(kept.commands()).isEmpty();

    Journey forgotten = States.succeeded().pass(Duration.ofDays(32));
    forgotten.then(forgotten.ask().nowRead().event());
    assertThat(forgotten.verdict()).isEqualTo(PASSED_THROUGH);
    assertThat(forgotten.state).isEqualTo(OperationState.Absent.NOTHING);
    assertThat(forgotten.commands()).hasSize(1);
  }

  @Test
  void readWithoutAnOperationIdPassesAndEachDeliveryHasItsOwnCommand() {
    Journey j = Journey.begin();
    j.then(j.ask().operation(null).read().event());
    String first = j.commands().get(0).commandId();
    j.then(j.ask().operation(null).read().event());
    assertThat(j.commands().get(0).commandId()).isNotEqualTo(first);
    j.then(j.ask().operation(null).delivery("d-1").read().event());
    assertThat(j.commands().get(0).commandId()).isEqualTo(first);
  }

  @Test
  @Cell({
    "ABSENT x read report",
    "IN_PROGRESS x read report",
    "UNKNOWN_RECONCILIATION x read report",
    "FAILED_RETRYABLE x read report",
    "SUCCEEDED x read report",
    "FAILED_TERMINAL x read report",
    "EXPIRED x read report",
    "CANCELLED x read report",
    "ABSENT with evidence x read report"
  })
  void answerToAReadGoesToItsDeliveryInEveryState() {
    for (OperationState state : States.all()) {
      Journey j = States.journeyAt(state);
      j.then(j.readReport("d-9"));
      assertThat(j.verdict()).isEqualTo(PASSED_THROUGH);
      assertThat(j.state).isSameAs(state);
      SendReply reply = j.reply();
      assertThat(reply.to().deliveryId()).isEqualTo("d-9");
      assertThat(reply.to().principal()).isEqualTo(Journey.B);
      assertThat(reply.marker()).isEqualTo(Marker.EXECUTED);
      assertThat(reply.last()).isTrue();
      assertThat(java.util.Objects.requireNonNull(reply.answer()).body())
          .isEqualTo("{\"found\":1}");
      assertThat(reply.state()).isEqualTo(StateName.SUCCEEDED);
    }
  }

  @Test
  void refusedReadIsToldAsAFailure() {
    Journey j = Journey.begin();
    OperationEvent.ReadReported ok = j.readReport("d-1");
    j.then(
        new OperationEvent.ReadReported(
            ok.tenant(), ok.scope(), null, "d-1", Journey.A, j.now, "x", false, Answer.NONE));
    assertThat(j.reply().state()).isEqualTo(StateName.FAILED_TERMINAL);
  }

  // Fingerprint

  @Test
  @Tag("ST-03")
  @Tag("FR-04")
  @Tag("FR-41")
  @Tag("PRE-04")
  @Cell({
    "IN_PROGRESS x intent, other fingerprint",
    "UNKNOWN_RECONCILIATION x intent, other fingerprint",
    "FAILED_RETRYABLE x intent, other fingerprint",
    "SUCCEEDED x intent, other fingerprint",
    "FAILED_TERMINAL x intent, other fingerprint",
    "CANCELLED x intent, other fingerprint"
  })
  void anotherMeaningIsAMismatchInEveryStateAndLeavesTheRecord() {
    for (OperationState state : States.known()) {
      if (state.name() == StateName.EXPIRED) {
        continue;
      }
      Journey j = States.journeyAt(state);
      j.otherIntent();
      assertThat(j.verdict()).as(state.name().name()).isEqualTo(FINGERPRINT_MISMATCH);
      assertThat(j.state).isSameAs(state);
      assertThat(j.reply().differing()).containsExactly("arguments.amount");
      assertThat(j.reply().last()).isTrue();
      assertThat(j.reply().marker()).isNull();
      assertThat(j.reply().answer()).isNull();
      assertThat(j.last.effects()).hasSize(1);
    }
  }

  @Test
  @Tag("FP-21")
  void fingerprintUnderAnotherVersionIsADefectOfTheAdapter() {
    Journey j = Journey.begin().intent();
    IntentReceived e = j.ask().event();
    IntentReceived wrong =
        new IntentReceived(
            e.intent(),
            e.at(),
            null,
            true,
            e.terms(),
            new Fingerprint(2, "x", new TreeMap<>()),
            e.budget(),
            null);
    assertThatThrownBy(() -> j.take(wrong))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("stored version");
  }

  // In progress

  @Test
  @Tag("ST-02")
  @Tag("FR-11")
  @Tag("FR-12")
  @Tag("TRN-01")
  @Cell("IN_PROGRESS x intent, same fingerprint")
  void duplicateInProgressWaitsAndExtendsNothing() {
    Journey j = Journey.begin().intent();
    InProgress before = (InProgress) j.state;

    j.pass(Duration.ofSeconds(10)).intent();
    assertThat(j.verdict()).isEqualTo(DUPLICATE_IN_PROGRESS);
    InProgress after = (InProgress) j.state;
    assertThat(after.leaseUntil()).isEqualTo(before.leaseUntil());
    assertThat(after.revision()).isEqualTo(before.revision());
    assertThat(after.waiting().deliveries()).hasSize(2);
    assertThat(j.reply().leaseUntil()).isEqualTo(before.leaseUntil());
    assertThat(j.reply().last()).isFalse();
    assertThat(j.commands()).isEmpty();

    j.then(j.ask().delivery("d-1").event());
    assertThat(((Open) j.state).waiting().deliveries()).hasSize(2);
    assertThat(j.reply().last()).isFalse();
  }

  @Test
  void noMoreThan256Wait() {
    Journey j = Journey.begin();
    for (int i = 0; i < Waiting.MOST; i++) {
      j.intent();
      assertThat(j.reply().last()).isFalse();
    }
    j.intent();
    assertThat(j.verdict()).isEqualTo(DUPLICATE_IN_PROGRESS);
    assertThat(j.reply().last()).isTrue();
    assertThat(j.reply().code()).isEqualTo("WAITING_FULL");
    assertThat(((Open) j.state).waiting().deliveries()).hasSize(Waiting.MOST);

    j.then(j.ask().delivery("d-1").event());
    assertThat(j.reply().last()).isFalse();

    j.succeeds();
    assertThat(j.replies()).hasSize(Waiting.MOST);
  }

  /** What is kept of who waits must fit a record beside the arguments. */
  @Test
  void nobodyWaitsWhoseNamesFindNoRoom() {
    Journey j = Journey.begin();
    j.intent();
    String half = "d".repeat(Waiting.MOST_CHARACTERS / 2);
    j.then(j.ask().delivery(half).event());
    assertThat(j.reply().last()).isFalse();
    j.then(j.ask().delivery("other" + half).event());
    assertThat(j.reply().code()).isEqualTo("WAITING_FULL");
    j.then(j.ask().delivery(half).event());
    assertThat(j.reply().last()).isFalse();
    assertThat(((Open) j.state).waiting().deliveries()).hasSize(2);
  }

  @Test
  @Tag("ST-15")
  @Tag("FR-01")
  @Cell("IN_PROGRESS, lease over x intent, same fingerprint")
  void intentAtTheEndOfTheLeaseIsHeldWhetherOrNotTheSweepCame() {
    Journey unswept = Journey.begin().intent().pass(Duration.ofSeconds(60)).intent();
    Journey swept = Journey.begin().intent().pass(Duration.ofSeconds(60)).sweep().intent();

    assertThat(unswept.verdict()).isEqualTo(HELD_UNKNOWN);
    assertThat(unswept.state).isEqualTo(swept.state);
    assertThat(unswept.last.transitions())
        .extracting(Transition::verdict)
        .containsExactly(LEASE_EXPIRED, HELD_UNKNOWN);
    assertThat(unswept.statusReads()).hasSize(1);
    assertThat(unswept.statusReads().get(0).leaseOver()).isTrue();
    assertThat(unswept.commands()).isEmpty();

    Journey alive = Journey.begin().intent().pass(Duration.ofMillis(59_999)).intent();
    assertThat(alive.verdict()).isEqualTo(DUPLICATE_IN_PROGRESS);
  }

  @Test
  @Tag("TTL-07")
  void aProcessorWhoseClockIsBehindNeitherEndsALeaseNorMakesItLonger() {
    Journey j = Journey.begin().intent();
    Instant end = ((InProgress) j.state).leaseUntil();
    j.pass(Duration.ofMinutes(-3)).intent();
    assertThat(j.verdict()).isEqualTo(DUPLICATE_IN_PROGRESS);
    assertThat(((InProgress) j.state).leaseUntil()).isEqualTo(end);
  }

  // Unknown

  @Test
  @Tag("ST-07")
  @Tag("FR-10")
  @Cell("UNKNOWN_RECONCILIATION x intent, same fingerprint")
  void unknownIsHeldHoweverLong() {
    Journey j = Journey.begin().intent().endsUnknown();
    UnknownReconciliation s = (UnknownReconciliation) j.state;

    j.intent();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
    assertThat(j.reply().retryAt()).isEqualTo(s.reconciliation().nextAt());
    assertThat(j.reply().detail()).contains("Status read 1");
    assertThat(j.reply().last()).isFalse();

    j.pass(Duration.ofDays(400)).intent();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
    assertThat(j.commandsTotal()).isEqualTo(1);
    assertThat(((Known) j.state).revision()).isEqualTo(2);
  }

  @Test
  @Tag("ST-10")
  @Tag("ST-10-downstream-key-contract")
  @Cell("UNKNOWN_RECONCILIATION, dedupe window open x intent, same fingerprint")
  void unknownIsReclaimedUnderTheRemotesOwnKeyWithTheSameKey() {
    Journey j = Journey.begin(Policies.KEYED).intent();
    String key = j.commands().get(0).downstreamKey();
    j.endsUnknown();

    j.intent();
    assertThat(j.verdict()).as("before the backoff is over").isEqualTo(HELD_UNKNOWN);

    j.pass(Duration.ofSeconds(10)).intent();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
    InProgress s = (InProgress) j.state;
    assertThat(s.attempt()).isEqualTo(2);
    assertThat(s.attempts().unproven()).containsExactly(1, 2);
    assertThat(s.attempts().startedAt()).isEqualTo(j.now);
    assertThat(s.attempts().firstStartedAt()).isEqualTo(Journey.START);
    assertThat(j.commands().get(0).downstreamKey()).isEqualTo(key);
    assertThat(j.commands().get(0).attempt()).isEqualTo(2);
    assertThat(j.last.effects()).contains(new ChargeRetryBudget("t1", Journey.ACTION, j.now));
    assertThat(s.waiting().deliveries()).hasSize(3);
  }

  @Test
  void callThatOnlyTheRemotesMemoryMakesSafeDoesNotStartAfterThatMemoryEnds() {
    ActionPolicy policy =
        Policies.remote(Policies.STANDARD, true, Duration.ofMinutes(6), DedupeAnchor.FIRST_REQUEST);
    Journey j = Journey.begin(policy).intent().endsUnknown();
    Journey soon = j.copy().pass(Duration.ofSeconds(10)).intent();
    assertThat(soon.verdict()).isEqualTo(RECLAIMED);
    assertThat(soon.commands().get(0).deadline())
        .as("a minute is left when the skew is taken off, the lease is longer")
        .isEqualTo(Journey.START.plusSeconds(60));
    assertThat(((InProgress) soon.state).leaseUntil()).isEqualTo(soon.now.plusSeconds(60));
    Journey later = j.copy().pass(Duration.ofSeconds(59)).intent();
    assertThat(later.commands().get(0).deadline()).isEqualTo(Journey.START.plusSeconds(60));

    Journey longer = Journey.begin(Policies.KEYED).intent().endsUnknown();
    longer.pass(Duration.ofSeconds(10)).intent();
    assertThat(longer.commands().get(0).deadline()).isEqualTo(longer.now.plusSeconds(60));

    Journey proven = Journey.begin(policy).intent().failsRetryably();
    proven.pass(Duration.ofSeconds(30)).intent();
    assertThat(proven.commands().get(0).deadline())
        .as("proof needs no memory")
        .isEqualTo(proven.now.plusSeconds(60));
  }

  @Test
  void changedPolicyCannotGiveTheNextAttemptAnotherDownstreamKey() {
    Journey j = Journey.begin(Policies.KEYED).intent();
    String key = j.commands().get(0).downstreamKey();
    j.endsUnknown().pass(Duration.ofSeconds(10));
    j.policy = Policies.keyLimit(Policies.KEYED, 36);

    j.intent();
    assertThat(j.commands().get(0).downstreamKey()).isEqualTo(key);
  }

  @Test
  @Tag("TTL-11")
  @Tag("TTL-11-dlq-redrive")
  void unknownIsHeldOnceTheWindowLessTheSkewIsOver() {
    ActionPolicy policy =
        Policies.times(
            Policies.KEYED,
            Duration.ofSeconds(60),
            Duration.ofHours(24),
            Duration.ofDays(30),
            Duration.ofMinutes(5),
            Duration.ofDays(3));
    Duration open = Policies.WINDOW.minus(Duration.ofMinutes(5));

    Journey over = Journey.begin(policy).intent().endsUnknown().passUntil(Journey.START.plus(open));
    over.intent();
    assertThat(over.verdict()).isEqualTo(HELD_UNKNOWN);

    Journey alive =
        Journey.begin(policy)
            .intent()
            .endsUnknown()
            .passUntil(Journey.START.plus(open).minusMillis(1));
    alive.intent();
    assertThat(alive.verdict()).isEqualTo(RECLAIMED);
  }

  @Test
  void windowMayCountFromTheLatestRequest() {
    ActionPolicy policy =
        Policies.times(
            Policies.remote(
                Policies.STANDARD, true, Duration.ofMinutes(10), DedupeAnchor.LAST_REQUEST),
            Duration.ofSeconds(60),
            Duration.ofHours(24),
            Duration.ofDays(30),
            Duration.ofMinutes(5),
            Duration.ofDays(3));
    Journey j = Journey.begin(policy).intent().endsUnknown();
    j.pass(Duration.ofMinutes(4)).intent();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
    j.endsUnknown().pass(Duration.ofMinutes(4)).intent();
    assertThat(j.verdict())
        .as("eight minutes after the first, four after the latest")
        .isEqualTo(RECLAIMED);
    j.policy = Policies.remote(policy, true, Duration.ofMinutes(10), DedupeAnchor.FIRST_REQUEST);
    j.policy = Policies.maxAttempts(j.policy, 9);
    j.endsUnknown().pass(Duration.ofMinutes(2)).intent();
    assertThat(j.verdict()).as("the same counted from the first").isEqualTo(HELD_UNKNOWN);
  }

  @Test
  void unknownIsNeverReclaimedWithoutAWindowOrOverTheLimitsOrOnAnEmptyBudget() {
    ActionPolicy unbounded =
        Policies.remote(Policies.STANDARD, true, null, DedupeAnchor.FIRST_REQUEST);
    assertThat(heldAfterTenSeconds(Journey.begin(unbounded))).isTrue();
    assertThat(heldAfterTenSeconds(Journey.begin(Policies.STANDARD))).isTrue();
    assertThat(heldAfterTenSeconds(Journey.begin(Policies.maxAttempts(Policies.KEYED, 1))))
        .isTrue();
    Journey poor = Journey.begin(Policies.KEYED);
    poor.budget = RetryBudget.empty(Journey.START.plusSeconds(3600));
    assertThat(heldAfterTenSeconds(poor)).isTrue();
    assertThat(heldAfterTenSeconds(Journey.begin(Policies.KEYED))).isFalse();

    Journey late = Journey.begin(Policies.KEYED).intent().endsUnknown();
    late.passUntil(Journey.START.plus(Duration.ofHours(1)).plusMillis(1)).intent();
    assertThat(late.verdict()).as("after the retry horizon").isEqualTo(HELD_UNKNOWN);
    Journey justInTime = Journey.begin(Policies.KEYED).intent().endsUnknown();
    justInTime.passUntil(Journey.START.plus(Duration.ofHours(1))).intent();
    assertThat(justInTime.verdict()).isEqualTo(RECLAIMED);
  }

  private static boolean heldAfterTenSeconds(Journey j) {
    j.intent().endsUnknown().pass(Duration.ofSeconds(10)).intent();
    return j.verdict() == HELD_UNKNOWN && j.commandsTotal() == 1;
  }

  @Test
  void attemptsStartedBeforeTheContractSaidSoAreNotCoveredByIt() {
    Journey j = Journey.begin(Policies.STANDARD).intent().endsUnknown();
    j.policy = Policies.KEYED;
    j.pass(Duration.ofSeconds(10)).intent();
    assertThat(j.verdict()).isEqualTo(HELD_UNKNOWN);
  }

  // Failed retryable

  @Test
  @Tag("ST-06")
  @Tag("FR-02")
  @Cell("FAILED_RETRYABLE x intent, same fingerprint")
  void provenFailureIsReclaimedAtExactlyTheEndOfTheBackoff() {
    Journey j = Journey.begin().intent().failsRetryably();
    Instant retryAt = ((FailedRetryable) j.state).retryAt();

    Journey early = j.copy().passUntil(retryAt.minusMillis(1)).intent();
    assertThat(early.verdict()).isEqualTo(RETRY_LATER);
    assertThat(early.reply().code()).isEqualTo("BACKOFF");
    assertThat(early.line().code()).isEqualTo("BACKOFF");
    assertThat(early.reply().retryAt()).isEqualTo(retryAt);
    assertThat(early.reply().last()).isFalse();
    assertThat(early.commands()).isEmpty();
    assertThat(((Open) early.state).waiting().deliveries()).hasSize(2);

    j.passUntil(retryAt).intent();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
    InProgress s = (InProgress) j.state;
    assertThat(s.attempt()).isEqualTo(2);
    assertThat(s.attempts().unproven()).containsExactly(2);
    assertThat(s.leaseUntil()).isEqualTo(j.now.plusSeconds(60));
    assertThat(s.revision()).isEqualTo(3);
    assertThat(j.commands()).hasSize(1);
    assertThat(j.last.effects()).contains(new ChargeRetryBudget("t1", Journey.ACTION, j.now));
  }

  @Test
  @Tag("RET-02")
  @Tag("RET-02-budget-empty")
  void emptyBudgetHoldsTheNextAttemptAndSaysWhen() {
    Journey j = Journey.begin().intent().failsRetryably().pass(Duration.ofSeconds(10));
    Instant token = j.now.plusSeconds(30);
    j.budget = RetryBudget.empty(token);
    Open before = (Open) j.state;

    j.intent();
    assertThat(j.verdict()).isEqualTo(RETRY_LATER);
    assertThat(j.reply().code()).isEqualTo("BUDGET_EMPTY");
    assertThat(j.reply().retryAt()).isEqualTo(token);
    assertThat(((Open) j.state).withWaiting(before.waiting())).isEqualTo(before);
  }

  @Test
  void usedUpAttemptsAndThePassedHorizonAreNamedBeforeTheBackoff() {
    Journey used = Journey.begin(Policies.maxAttempts(Policies.STANDARD, 1)).intent();
    used.failsRetryably().intent();
    assertThat(used.reply().code()).isEqualTo("MAX_ATTEMPTS");
    assertThat(used.reply().retryAt()).isNull();

    Journey late = Journey.begin().intent().failsRetryably();
    late.passUntil(Journey.START.plus(Duration.ofHours(1)).plusMillis(1)).intent();
    assertThat(late.reply().code()).isEqualTo("RETRY_HORIZON");
    Journey justInTime = Journey.begin().intent().failsRetryably();
    justInTime.passUntil(Journey.START.plus(Duration.ofHours(1))).intent();
    assertThat(justInTime.verdict()).isEqualTo(RECLAIMED);
  }

  // Settled

  @Test
  @Tag("ST-05")
  @Tag("ST-19")
  @Tag("FR-03")
  @Cell("SUCCEEDED x intent, same fingerprint")
  void successIsReplayedWithItsOriginalTime() {
    Journey j = Journey.begin().intent().pass(Duration.ofSeconds(5)).succeeds();
    Instant settledAt = j.now;
    Succeeded settled = (Succeeded) j.state;

    j.pass(Duration.ofHours(20)).intent();
    assertThat(j.verdict()).isEqualTo(REPLAYED);
    assertThat(j.state).isSameAs(settled);
    SendReply reply = j.reply();
    assertThat(reply.marker()).isEqualTo(Marker.REPLAYED);
    assertThat(reply.originalAt()).isEqualTo(settledAt);
    assertThat(reply.answer()).isEqualTo(settled.result().answer());
    assertThat(reply.revision()).isEqualTo(settled.revision());
    assertThat(reply.last()).isTrue();
    assertThat(j.commands()).isEmpty();
  }

  @Test
  @Tag("TTL-01")
  @Tag("TTL-02")
  @Tag("TTL-04")
  @Tag("TTL-09")
  @Cell({
    "SUCCEEDED, retention over x intent, same fingerprint",
    "EXPIRED x intent, same fingerprint",
    "EXPIRED x intent, other fingerprint"
  })
  void resultIsReplayedUntilTheEndOfRetentionAndTheIdentityIsKeptAfterIt() {
    Journey j = Journey.begin().intent().succeeds();
    Succeeded settled = (Succeeded) j.state;
    assertThat(settled.retainUntil()).isEqualTo(j.now.plus(Duration.ofHours(24)));
    assertThat(settled.forgetAt())
        .isEqualTo(j.now.plus(Duration.ofDays(31)).plus(Duration.ofMinutes(5)));

    assertThat(j.copy().pass(Duration.ofHours(24).minusMillis(1)).intent().verdict())
        .isEqualTo(REPLAYED);
    j.pass(Duration.ofHours(24)).intent();
    assertThat(j.verdict()).isEqualTo(EXPIRED);
    assertThat(j.last.transitions()).hasSize(2);
    assertThat(j.reply().state()).isEqualTo(StateName.EXPIRED);
    assertThat(j.reply().marker()).isNull();
    OperationState.Expired tombstone = (OperationState.Expired) j.state;
    assertThat(tombstone.was()).isEqualTo(StateName.SUCCEEDED);
    assertThat(tombstone.revision()).isEqualTo(settled.revision() + 1);
    assertThat(java.util.Objects.requireNonNull(tombstone.binding().fingerprint()).memberDigests())
        .isEmpty();
    assertThat(tombstone.nextDeadline()).contains(settled.forgetAt());

    j.otherIntent();
    assertThat(j.verdict()).isEqualTo(EXPIRED);
    j.passUntil(settled.forgetAt().minusMillis(1)).intent();
    assertThat(j.verdict()).isEqualTo(EXPIRED);
  }

  @Test
  void idIssuedAheadOfTimeCannotRunAgainAfterItsTombstone() {
    Journey j = Journey.begin();
    Instant ahead = j.now.plus(Duration.ofMinutes(5));
    j.then(j.ask().issuedAt(ahead).event()).succeeds();
    j.passUntil(((Succeeded) j.state).forgetAt());
    j.then(j.ask().issuedAt(ahead).event());
    assertThat(j.verdict()).isEqualTo(LATE_REPLAY);
    assertThat(j.commandsTotal()).isEqualTo(1);
    assertThat(j.state).isEqualTo(OperationState.Absent.NOTHING);
  }

  @Test
  @Tag("ST-12")
  @Tag("PRE-01")
  @Cell("FAILED_TERMINAL x intent, same fingerprint")
  void terminalFailureIsReplayed() {
    Journey j = Journey.begin().intent().failsTerminally().pass(Duration.ofHours(1)).intent();
    assertThat(j.verdict()).isEqualTo(REPLAYED);
    assertThat(j.reply().state()).isEqualTo(StateName.FAILED_TERMINAL);
    assertThat(j.reply().marker()).isEqualTo(Marker.REPLAYED);
    assertThat(j.reply().answer()).isNotNull();
    assertThat(j.reply().originalAt()).isEqualTo(Journey.START);
    assertThat(j.commands()).isEmpty();
  }

  @Test
  @Cell("CANCELLED x intent, same fingerprint")
  void cancelledOperationStartsNothing() {
    Journey before = Journey.begin().cancel().intent();
    assertThat(before.verdict()).isEqualTo(CANCELLED);
    before.otherIntent();
    assertThat(before.verdict()).as("no meaning is known yet").isEqualTo(CANCELLED);

    Journey after = Journey.begin().intent().failsRetryably().cancel();
    after.pass(Duration.ofHours(1)).intent();
    assertThat(after.verdict()).isEqualTo(CANCELLED);
    assertThat(after.reply().last()).isTrue();
    assertThat(after.reply().state()).isEqualTo(StateName.CANCELLED);
    assertThat(after.commandsTotal()).isEqualTo(1);
  }

  @Test
  void missingFactStopsTheTask() {
    Journey j = Journey.begin();
    IntentReceived e = j.ask().event();
    IntentReceived bare =
        new IntentReceived(e.intent(), e.at(), null, true, e.terms(), null, e.budget(), null);
    assertThatThrownBy(() -> j.take(bare))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("fingerprint");
  }

  @ParameterizedTest
  @EnumSource(Verdict.class)
  void onlyWhatIsNotFinalLeavesADeliveryWaiting(Verdict verdict) {
    boolean expected =
        switch (verdict.name()) {
          case "CLAIMED", "RECLAIMED", "DUPLICATE_IN_PROGRESS", "HELD_UNKNOWN", "RETRY_LATER" ->
              true;
          default -> false;
        };
    assertThat(verdict.leavesWaiting()).isEqualTo(expected);
  }

  @Test
  void governingActionIsThatOfTheRecordOnceThereIsOne() {
    Journey j = Journey.begin();
    IntentReceived read = j.ask().read().event();
    assertThat(OperationStateMachine.governingAction(j.state, read)).isEqualTo("kb.search");
    j.intent();
    assertThat(OperationStateMachine.governingAction(j.state, read)).isEqualTo(Journey.ACTION);
    Journey cancelled = Journey.begin().cancel();
    assertThat(OperationStateMachine.governingAction(cancelled.state, read)).isEqualTo("kb.search");
    assertThat(
            OperationStateMachine.governingAction(
                OperationState.Absent.NOTHING, j.cancellation(new Principal("x"), "d", true)))
        .isNull();
  }

  private static void assertTellsNothing(SendReply reply) {
    assertThat(reply.state()).isNull();
    assertThat(reply.attempt()).isZero();
    assertThat(reply.revision()).isZero();
    assertThat(reply.marker()).isNull();
    assertThat(reply.answer()).isNull();
    assertThat(reply.originalAt()).isNull();
    assertThat(reply.leaseUntil()).isNull();
    assertThat(reply.retryAt()).isNull();
    assertThat(reply.differing()).isEmpty();
  }
}
