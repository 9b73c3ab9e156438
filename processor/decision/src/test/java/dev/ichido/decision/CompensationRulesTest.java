package dev.ichido.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.Effect.AskOriginal;
import dev.ichido.decision.Effect.ReleaseOriginal;
import dev.ichido.decision.Effect.TellCompensation;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.RefusalCode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CompensationRulesTest {
  private static final String ORIGINAL = "op-00000000000000or";
  private static final String FIRST = "undo-000000000000001";
  private static final String SECOND = "undo-000000000000002";

  private static Journey asked(OriginalStanding standing) {
    Journey j = Journey.begin();
    return j.then(j.ask().undoes(ORIGINAL).told(standing).event());
  }

  private static Journey undoing() {
    return asked(OriginalStanding.GRANTED);
  }

  private static List<Effect> released(Journey j) {
    return j.last.effects().stream().filter(ReleaseOriginal.class::isInstance).toList();
  }

  private static OriginalStanding told(Journey j) {
    return j.last.effects().stream()
        .filter(TellCompensation.class::isInstance)
        .map(effect -> ((TellCompensation) effect).standing())
        .findFirst()
        .orElseThrow();
  }

  private static String notedBy(Journey j) {
    return String.valueOf(((Known) j.state).binding().compensatedBy());
  }

  // At the compensation

  @Test
  void theOriginalIsAskedBeforeAnythingIsAnsweredOrKept() {
    Journey j = Journey.begin();
    j.then(j.ask().delivery("d-7").undoes(ORIGINAL).event());
    assertThat(j.verdict()).isEqualTo(Verdict.NOTHING_DUE);
    assertThat(j.name()).isEqualTo(StateName.ABSENT);
    assertThat(j.last.effects())
        .containsExactly(
            new AskOriginal(
                new OperationKey("t1", "global", ORIGINAL),
                Journey.KEY.operationId(),
                "d-7",
                Journey.A));
    assertThat(j.last.transitions()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "ABSENT, RETRY_LATER, ORIGINAL_ABSENT",
    "IN_PROGRESS, RETRY_LATER, ORIGINAL_IN_PROGRESS",
    "UNKNOWN, RETRY_LATER, ORIGINAL_UNKNOWN",
    "RETRYABLE, RETRY_LATER, ORIGINAL_RETRYABLE",
    "WITHOUT_EFFECT, INVALID, NOTHING_TO_UNDO",
    "TAKEN, INVALID, COMPENSATED_ALREADY"
  })
  void whatCannotBeUndoneNowIsRefusedForGoodOrForNow(
      OriginalStanding standing, Verdict verdict, String code) {
    Journey j = asked(standing);
    assertThat(j.verdict()).isEqualTo(verdict);
    assertThat(j.line().code()).isEqualTo(code);
    assertThat(j.reply().code()).isEqualTo(code);
    assertThat(j.reply().last()).isTrue();
    assertThat(j.reply().state()).isNull();
    assertThat(j.name()).isEqualTo(StateName.ABSENT);
    assertThat(j.commands()).isEmpty();
    // The same id is taken as soon as the original stands otherwise.
    j.then(j.ask().undoes(ORIGINAL).told(OriginalStanding.GRANTED).event());
    assertThat(j.verdict()).isEqualTo(Verdict.CLAIMED);
  }

  @Test
  void whoMayNotUseTheOriginalLearnsNothingOfIt() {
    Journey j = asked(OriginalStanding.WITHHELD);
    assertThat(j.verdict()).isEqualTo(Verdict.UNAUTHORIZED);
    assertThat(j.reply().code()).isNull();
  }

  @Test
  @Tag("MS-02")
  void whatTookEffectIsUndoneOnce() {
    Journey j = undoing();
    assertThat(j.verdict()).isEqualTo(Verdict.CLAIMED);
    assertThat(j.commands()).hasSize(1);
    assertThat(j.commands().get(0).compensates()).isEqualTo(ORIGINAL);
    j.then(j.ask().undoes(ORIGINAL).event());
    assertThat(j.verdict()).isEqualTo(Verdict.DUPLICATE_IN_PROGRESS);
    j.succeeds().then(j.ask().undoes(ORIGINAL).event());
    assertThat(j.verdict()).isEqualTo(Verdict.REPLAYED);
    assertThat(j.effects).noneMatch(ReleaseOriginal.class::isInstance);
  }

  @Test
  void whatIsRefusedAnywayAsksNobody() {
    Journey j = Journey.begin();
    j.then(j.ask().undoes(ORIGINAL).forbidden().event());
    assertThat(j.verdict()).isEqualTo(Verdict.UNAUTHORIZED);
    j.then(j.ask().undoes(ORIGINAL).refused(RefusalCode.ARGUMENTS_NOT_JSON.because("x")).event());
    assertThat(j.verdict()).isEqualTo(Verdict.INVALID);
    j.then(j.ask().undoes(ORIGINAL).issuedAt(j.now.minus(Policies.STANDARD.horizon())).event());
    assertThat(j.verdict()).isEqualTo(Verdict.LATE_REPLAY);
    j.then(j.ask().undoes(ORIGINAL).read().event());
    assertThat(j.verdict()).isEqualTo(Verdict.PASSED_THROUGH);
    assertThat(j.effects).noneMatch(AskOriginal.class::isInstance);
  }

  @Test
  void whatAnOperationUndoesIsPartOfItsMeaning() {
    Journey j = undoing();
    j.then(j.ask().undoes("op-00000000000other").event());
    assertThat(j.verdict()).isEqualTo(Verdict.FINGERPRINT_MISMATCH);
    assertThat(j.reply().differing()).containsExactly("compensates");
    j.intent();
    assertThat(j.verdict()).isEqualTo(Verdict.FINGERPRINT_MISMATCH);
  }

  @Test
  void aCompensationThatWillNotTakeEffectGivesItsPlaceBack() {
    ReleaseOriginal release =
        new ReleaseOriginal(new OperationKey("t1", "global", ORIGINAL), Journey.KEY.operationId());
    assertThat(released(undoing().failsTerminally())).containsExactly(release);
    assertThat(released(undoing().failsRetryably().cancel())).containsExactly(release);
    assertThat(released(undoing().cancel().failsRetryably())).containsExactly(release);
    Journey stuck = undoing();
    stuck.policy = Policies.maxAttempts(Policies.STANDARD, 1);
    stuck.failsRetryably().pass(Duration.ofHours(24)).sweep();
    assertThat(stuck.name()).isEqualTo(StateName.EXPIRED);
    assertThat(released(stuck)).containsExactly(release);
  }

  @Test
  void aCompensationThatMayTakeEffectKeepsItsPlace() {
    Journey j = undoing().failsRetryably();
    assertThat(released(j)).isEmpty();
    j.sweepAtDeadline().endsUnknown();
    assertThat(released(j)).isEmpty();
    j.succeeds();
    assertThat(released(j)).isEmpty();
    j.pass(Duration.ofHours(24)).sweep();
    assertThat(j.name()).isEqualTo(StateName.EXPIRED);
    assertThat(released(j)).isEmpty();
  }

  @Test
  void aPlaceThatIsNotTakenIsGivenBack() {
    Journey other = Journey.begin().intent();
    other.then(other.ask().undoes(ORIGINAL).told(OriginalStanding.GRANTED).event());
    assertThat(other.verdict()).isEqualTo(Verdict.FINGERPRINT_MISMATCH);
    assertThat(released(other)).hasSize(1);

    Journey held = Journey.begin(Policies.holding(Policies.STANDARD));
    held.then(
        held.ask()
            .undoes(ORIGINAL)
            .suspectOf("twin-0000000000001")
            .told(OriginalStanding.GRANTED)
            .event());
    assertThat(held.verdict()).isEqualTo(Verdict.HELD_SUSPECT);
    assertThat(released(held)).hasSize(1);

    Journey cancelled = Journey.begin().cancel();
    cancelled.then(cancelled.ask().undoes(ORIGINAL).told(OriginalStanding.GRANTED).event());
    assertThat(cancelled.verdict()).isEqualTo(Verdict.CANCELLED);
    assertThat(released(cancelled)).hasSize(1);

    Journey again = undoing();
    again.then(again.ask().undoes(ORIGINAL).told(OriginalStanding.GRANTED).event());
    assertThat(released(again)).isEmpty();
  }

  // At the original

  @Test
  void everyStateTellsHowItStands() {
    assertThat(told(Journey.begin().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.ABSENT);
    assertThat(told(States.absentWithEvidence().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.ABSENT);
    assertThat(told(States.inProgress().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.IN_PROGRESS);
    assertThat(told(States.unknown().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.UNKNOWN);
    assertThat(told(States.failedRetryable().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.RETRYABLE);
    assertThat(told(States.failedTerminal().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.WITHOUT_EFFECT);
    assertThat(told(States.cancelled().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.WITHOUT_EFFECT);
    assertThat(told(States.succeeded().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.GRANTED);
    assertThat(told(States.expired().undoAsked(FIRST, Journey.A)))
        .isEqualTo(OriginalStanding.GRANTED);
    Journey failed = States.failedTerminal().pass(Duration.ofHours(24)).sweep();
    assertThat(told(failed.undoAsked(FIRST, Journey.A))).isEqualTo(OriginalStanding.WITHOUT_EFFECT);
  }

  @Test
  void anOriginalThatIsOnlyAskedStaysAsItIs() {
    for (OperationState state : States.all()) {
      Journey j = States.journeyAt(state).undoAsked(FIRST, Journey.B);
      assertThat(j.verdict()).isEqualTo(Verdict.NOTHING_DUE);
      assertThat(j.state).isEqualTo(state);
      assertThat(told(j))
          .isEqualTo(state instanceof Known ? OriginalStanding.WITHHELD : OriginalStanding.ABSENT);
    }
  }

  @Test
  void theOriginalNotesTheOneThatMayUndoIt() {
    Journey j = States.succeeded();
    Succeeded before = (Succeeded) j.state;
    j.undoAsked(FIRST, Journey.A);
    assertThat(j.verdict()).isEqualTo(Verdict.COMPENSATION_GRANTED);
    assertThat(j.line().event()).isEqualTo(OperationEvent.EventName.COMPENSATION_ASKED);
    assertThat(notedBy(j)).isEqualTo(FIRST);
    Succeeded noted = (Succeeded) j.state;
    assertThat(noted.revision()).isEqualTo(before.revision() + 1);
    assertThat(noted.result()).isEqualTo(before.result());
    assertThat(noted.retainUntil()).isEqualTo(before.retainUntil());

    j.undoAsked(FIRST, Journey.A);
    assertThat(told(j)).isEqualTo(OriginalStanding.GRANTED);
    assertThat(j.state).isEqualTo(noted);
    j.undoAsked(SECOND, Journey.A);
    assertThat(told(j)).isEqualTo(OriginalStanding.TAKEN);
    assertThat(j.state).isEqualTo(noted);
    j.intent();
    assertThat(j.verdict()).isEqualTo(Verdict.REPLAYED);
    j.pass(Duration.ofHours(24)).sweep();
    assertThat(told(j.undoAsked(SECOND, Journey.A))).isEqualTo(OriginalStanding.TAKEN);
  }

  @Test
  void whoeverMayUseTheOriginalMayUndoIt() {
    Journey j = States.succeeded();
    j.policy = Policies.shared(Policies.STANDARD);
    assertThat(told(j.undoAsked(FIRST, Journey.B))).isEqualTo(OriginalStanding.GRANTED);
    assertThat(j.line().by()).isEqualTo("agent:b");
  }

  @Test
  void onlyTheOneThatWasNotedGivesThePlaceBack() {
    for (Journey j : List.of(States.succeeded(), States.expired())) {
      j.undoAsked(FIRST, Journey.A).undoGivenUp(SECOND);
      assertThat(j.verdict()).isEqualTo(Verdict.NOTHING_DUE);
      assertThat(notedBy(j)).isEqualTo(FIRST);
      j.undoGivenUp(FIRST);
      assertThat(j.verdict()).isEqualTo(Verdict.COMPENSATION_RELEASED);
      assertThat(notedBy(j)).isEqualTo("null");
      j.undoGivenUp(FIRST);
      assertThat(j.verdict()).isEqualTo(Verdict.NOTHING_DUE);
      assertThat(told(j.undoAsked(SECOND, Journey.A))).isEqualTo(OriginalStanding.GRANTED);
    }
  }

  @Test
  void timeComesBeforeTheQuestion() {
    Journey running = States.inProgress().pass(Policies.STANDARD.lease());
    assertThat(told(running.undoAsked(FIRST, Journey.A))).isEqualTo(OriginalStanding.UNKNOWN);
    assertThat(running.verdict()).isEqualTo(Verdict.LEASE_EXPIRED);
    assertThat(running.statusReads()).hasSize(1);
    Journey done = States.succeeded().pass(Duration.ofHours(24));
    done.undoAsked(FIRST, Journey.A);
    assertThat(done.name()).isEqualTo(StateName.EXPIRED);
    assertThat(notedBy(done)).isEqualTo(FIRST);
  }

  @Test
  void aFailureThatTurnsOutASuccessKeepsWhatItUndoes() {
    Journey j = undoing().failsTerminally().succeeds();
    assertThat(j.verdict()).isEqualTo(Verdict.LATE_SUCCESS);
    assertThat(((Known) j.state).binding().compensates()).isEqualTo(ORIGINAL);
  }
}
