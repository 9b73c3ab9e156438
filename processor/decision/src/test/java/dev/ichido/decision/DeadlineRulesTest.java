package dev.ichido.decision;

import static dev.ichido.decision.Verdict.EXPIRED;
import static dev.ichido.decision.Verdict.LEASE_EXPIRED;
import static dev.ichido.decision.Verdict.NOTHING_DUE;
import static dev.ichido.decision.Verdict.RECLAIMED;
import static dev.ichido.decision.Verdict.RETRY_LATER;
import static dev.ichido.decision.Verdict.STILL_UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.Effect.ChargeRetryBudget;
import dev.ichido.decision.Effect.PromiseRetryToken;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.table.Cell;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the sweep does, and what time alone does. */
class DeadlineRulesTest {

  @Test
  @Tag("ST-14")
  @Tag("ST-15")
  @Tag("FR-09")
  @Cell("IN_PROGRESS, lease over x deadline")
  void endOfTheLeaseLeadsToUnknownAndAStatusReadNotToASecondRun() {
    Journey j = States.inProgress().pass(Duration.ofSeconds(61)).sweep();
    assertThat(j.verdict()).isEqualTo(LEASE_EXPIRED);
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    assertThat(s.since()).isEqualTo(Journey.START.plusSeconds(60));
    assertThat(s.reconciliation().leaseOver()).isTrue();
    assertThat(s.reconciliation().nextAt()).isEqualTo(j.now.plusSeconds(1));
    assertThat(s.waiting().deliveries()).hasSize(1);
    assertThat(s.revision()).isEqualTo(2);
    assertThat(j.statusReads()).hasSize(1);
    assertThat(j.statusReads().get(0).leaseOver()).isTrue();
    assertThat(j.commands()).isEmpty();
    assertThat(j.replies()).isEmpty();
    assertThat(j.line().event()).isEqualTo(OperationEvent.EventName.DEADLINE_REACHED);
    assertThat(j.line().eventId()).isNull();
  }

  /** A report of before its end may still be to be read; the executor goes by its own clock. */
  @Test
  @Tag("FR-10")
  void leaseIsNotOverBeforeAllThatWasSentUntilItsEndIsRead() {
    Journey held = States.inProgress().hearsNoMore().pass(Duration.ofDays(1));
    assertThat(held.copy().sweep().verdict()).isEqualTo(NOTHING_DUE);
    assertThat(held.copy().intent().verdict()).isEqualTo(Verdict.DUPLICATE_IN_PROGRESS);
    assertThat(held.copy().cancel().verdict()).isEqualTo(Verdict.DUPLICATE_IN_PROGRESS);
    Journey settled = held.copy().result(AttemptOutcome.SUCCEEDED, null);
    assertThat(settled.last.transitions())
        .extracting(Transition::verdict)
        .containsExactly(Verdict.SETTLED);

    Instant end = ((InProgress) held.state).leaseUntil();
    held.heard = end.minusMillis(1);
    assertThat(held.copy().sweep().verdict()).isEqualTo(NOTHING_DUE);
    held.heard = end;
    assertThat(held.sweep().verdict()).isEqualTo(LEASE_EXPIRED);
  }

  @Test
  @Cell({
    "ABSENT x deadline",
    "ABSENT with evidence x deadline",
    "IN_PROGRESS x deadline",
    "SUCCEEDED x deadline",
    "FAILED_TERMINAL x deadline",
    "EXPIRED x deadline",
    "CANCELLED x deadline"
  })
  void staleDeadlineDoesNothing() {
    for (OperationState state : States.all()) {
      Journey j = States.journeyAt(state).sweep();
      assertThat(j.verdict()).as(state.name().name()).isEqualTo(NOTHING_DUE);
      assertThat(j.state).isEqualTo(state);
      assertThat(j.last.effects()).isEmpty();
      assertThat(j.last.transitions()).isEmpty();
    }
  }

  @Test
  @Cell({"SUCCEEDED, retention over x deadline", "EXPIRED, tombstone over x deadline"})
  void settledOperationsExpireAndAreForgotten() {
    for (Journey j :
        new Journey[] {States.succeeded(), States.failedTerminal(), States.cancelled()}) {
      StateName was = j.name();
      Instant retainUntil = j.state.nextDeadline().orElseThrow();
      j.copy().passUntil(retainUntil.minusMillis(1)).sweep();
      j.passUntil(retainUntil).sweep();
      assertThat(j.verdict()).isEqualTo(EXPIRED);
      Expired s = (Expired) j.state;
      assertThat(s.was()).isEqualTo(was);
      assertThat(s.settledAt()).isEqualTo(Journey.START);
      assertThat(s.attempt()).isEqualTo(1);
      j.passUntil(s.forgetAt().minusMillis(1)).sweep();
      assertThat(j.verdict()).isEqualTo(NOTHING_DUE);
      j.passUntil(s.forgetAt()).sweep();
      assertThat(j.verdict()).isEqualTo(EXPIRED);
      assertThat(j.state).isEqualTo(Absent.NOTHING);
      assertThat(j.last.effects()).isEmpty();
    }
  }

  @Test
  void sweepThatComesVeryLateCatchesUpAtOnce() {
    for (Journey j :
        new Journey[] {
          States.succeeded(), States.failedTerminal(), States.cancelled(), States.failedRetryable()
        }) {
      Journey one = j.copy().pass(Duration.ofDays(2)).sweep();
      assertThat(one.last.transitions()).hasSize(1);
      j.pass(Duration.ofDays(40)).sweep();
      assertThat(j.verdict()).isEqualTo(EXPIRED);
      assertThat(j.state).isEqualTo(Absent.NOTHING);
      assertThat(j.last.transitions()).hasSize(2);
    }
  }

  @Test
  void evidenceOfAnOrphanIsForgotten() {
    Journey j = States.absentWithEvidence().sweepAtDeadline();
    assertThat(j.verdict()).isEqualTo(EXPIRED);
    assertThat(j.state).isEqualTo(Absent.NOTHING);
  }

  @Test
  @Cell("FAILED_RETRYABLE x deadline")
  void dueRetryStartsWithoutAnIntent() {
    Journey j = States.failedRetryable();
    FailedRetryable before = (FailedRetryable) j.state;
    Journey early = j.copy().passUntil(before.retryAt().minusMillis(1)).sweep();
    assertThat(early.verdict()).isEqualTo(NOTHING_DUE);
    assertThat(early.state).isSameAs(before);

    j.passUntil(before.retryAt()).sweep();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
    InProgress s = (InProgress) j.state;
    assertThat(s.attempt()).isEqualTo(2);
    assertThat(s.attempts().unproven()).containsExactly(2);
    assertThat(s.waiting()).isEqualTo(before.waiting());
    assertThat(j.commands()).hasSize(1);
    assertThat(j.replies()).isEmpty();
    assertThat(j.last.effects()).contains(new ChargeRetryBudget("t1", Journey.ACTION, j.now));
  }

  @Test
  @Tag("RET-02")
  void retryWithoutATokenIsParkedAndNeverDropped() {
    Journey j = States.failedRetryable();
    FailedRetryable before = (FailedRetryable) j.state;
    j.passUntil(before.retryAt());
    Instant token = j.now.plusSeconds(5);
    j.budget = RetryBudget.empty(token);
    j.sweep();
    assertThat(j.verdict()).isEqualTo(RETRY_LATER);
    assertThat(j.line().code()).isEqualTo("BUDGET_EMPTY");
    assertThat(j.state).isEqualTo(before.withWakeAt(token));
    assertThat(j.last.effects())
        .containsExactly(new PromiseRetryToken("t1", Journey.ACTION, j.now, token));

    j.passUntil(token);
    j.budget = RetryBudget.empty(token.plusSeconds(5));
    j.sweep();
    assertThat(j.verdict()).as("parked again, and the journal is spared").isEqualTo(NOTHING_DUE);
    assertThat(j.last.transitions()).isEmpty();
    assertThat(j.state).isEqualTo(before.withWakeAt(token.plusSeconds(5)));

    j.passUntil(token.plusSeconds(5));
    j.budget = RetryBudget.full(j.now);
    j.sweep();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
  }

  /** Twenty thousand that an outage left would else all be looked at for each token. */
  @Test
  void whoIsParkedWaitsForATokenOfItsOwnOrForAMinute() {
    Journey j = States.failedRetryable();
    j.passUntil(((FailedRetryable) j.state).retryAt());
    Instant last = j.now.plusSeconds(60);
    j.budget = RetryBudget.empty(last);
    j.sweep();
    assertThat(((FailedRetryable) j.state).wakeAt()).isEqualTo(last);
    assertThat(j.last.effects())
        .containsExactly(new PromiseRetryToken("t1", Journey.ACTION, j.now, last));

    j.passUntil(last);
    j.budget = RetryBudget.empty(last.plusSeconds(60).plusMillis(1));
    j.sweep();
    assertThat(((FailedRetryable) j.state).wakeAt()).isEqualTo(last.plusSeconds(60));
    assertThat(j.last.effects()).as("a token so far ahead is nobody's yet").isEmpty();
  }

  /** A token that is due now and went to another is no reason to look at once. */
  @Test
  void parkedRetryIsNeverLookedAtAgainAtOnceOrTheSweepWouldNotEnd() {
    Journey j = States.failedRetryable();
    j.passUntil(((FailedRetryable) j.state).retryAt());
    j.budget = RetryBudget.empty(j.now);
    j.sweep();
    assertThat(((FailedRetryable) j.state).wakeAt()).isEqualTo(j.now.plusMillis(1));
  }

  @Test
  void parkedRetryIsJudgedByItsOwnTimeWhenAnIntentComes() {
    Journey j = States.failedRetryable();
    j.passUntil(((FailedRetryable) j.state).retryAt());
    j.budget = RetryBudget.empty(j.now.plusSeconds(60));
    j.sweep().pass(Duration.ofSeconds(1));
    j.budget = RetryBudget.full(j.now);
    j.intent();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
  }

  @Test
  void retryThatWasDueTooLateIsSaidToBeStuck() {
    Journey j = States.failedRetryable();
    j.passUntil(Journey.START.plus(Duration.ofHours(1)).plusMillis(1)).sweep();
    assertThat(j.verdict()).isEqualTo(RETRY_LATER);
    assertThat(j.line().code()).isEqualTo("RETRY_HORIZON");
    assertThat(((FailedRetryable) j.state).wakeAt()).isNull();
    j.sweep();
    assertThat(j.verdict()).isEqualTo(NOTHING_DUE);

    Journey parked = States.failedRetryable();
    parked.passUntil(((FailedRetryable) parked.state).retryAt());
    parked.budget = RetryBudget.empty(Journey.START.plus(Duration.ofHours(2)));
    parked.sweep().passUntil(Journey.START.plus(Duration.ofHours(2))).sweep();
    assertThat(parked.line().code()).as("parked past the horizon").isEqualTo("RETRY_HORIZON");
    assertThat(((FailedRetryable) parked.state).wakeAt()).isNull();
  }

  @Test
  @Cell("FAILED_RETRYABLE, stuck x deadline")
  void stuckOperationExpiresAndReleasesWhoWaits() {
    Journey j = Journey.begin(Policies.maxAttempts(Policies.STANDARD, 1)).intent();
    j.failsRetryably();
    FailedRetryable before = (FailedRetryable) j.state;
    assertThat(j.state.nextDeadline()).contains(before.retainUntil());
    j.passUntil(before.retainUntil()).sweep();
    assertThat(j.verdict()).isEqualTo(EXPIRED);
    assertThat(((Expired) j.state).was()).isEqualTo(StateName.FAILED_RETRYABLE);
    assertThat(j.reply().verdict()).isEqualTo(EXPIRED);
    assertThat(j.reply().last()).isTrue();
    assertThat(j.reply().state()).isEqualTo(StateName.EXPIRED);
  }

  @Test
  @Cell("UNKNOWN_RECONCILIATION x deadline")
  void statusReadIsAskedForAgainWithGrowingDelays() {
    Journey j = States.unknown();
    Instant last = j.now;
    long[] seconds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
    for (int i = 0; i < seconds.length; i++) {
      Instant due = j.state.nextDeadline().orElseThrow();
      assertThat(Duration.between(last, due)).isEqualTo(Duration.ofSeconds(seconds[i]));
      Journey early = j.copy().passUntil(due.minusMillis(1)).sweep();
      assertThat(early.verdict()).isEqualTo(NOTHING_DUE);
      j.sweepAtDeadline();
      assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
      assertThat(j.statusReads()).hasSize(1);
      assertThat(j.statusReads().get(0).read()).isEqualTo(i + 2);
      assertThat(((UnknownReconciliation) j.state).revision()).isEqualTo(i + 3);
      assertThat(j.replies()).isEmpty();
      last = j.now;
    }
    j.pass(Duration.ofDays(365)).sweep();
    assertThat(j.name()).as("never expires").isEqualTo(StateName.UNKNOWN_RECONCILIATION);
  }

  /** From the end of the retry horizon on, whoever asks in vain says that a person should look. */
  @Test
  @Cell("UNKNOWN_RECONCILIATION x deadline")
  void whatStaysUnknownForLongRaisesTheAlarmWithEachRead() {
    Journey j = States.unknown();
    Instant old =
        ((UnknownReconciliation) j.state).attempts().firstStartedAt().plus(j.policy.retryHorizon());
    int alarms = 0;
    while (alarms < 3) {
      j.sweepAtDeadline();
      assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
      assertThat(j.line().alarm()).isEqualTo(!j.now.isBefore(old));
      alarms += j.line().alarm() ? 1 : 0;
    }
    Journey exact = States.unknown().passUntil(old).sweep();
    assertThat(exact.line().alarm()).as("at exactly the end").isTrue();
    Journey before = States.unknown().passUntil(old.minusMillis(1)).sweep();
    assertThat(before.line().alarm()).isFalse();
  }

  @Test
  @Cell("UNKNOWN_RECONCILIATION, dedupe window open x deadline")
  void unknownUnderADedupingRemoteIsReclaimedBySweep() {
    Journey j = Journey.begin(Policies.KEYED).intent().endsUnknown();
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    assertThat(s.wakeAt()).isEqualTo(s.reclaimAt());
    assertThat(s.nextDeadline()).contains(s.reclaimAt());
    assertThat(s.reclaimAt()).isAfter(j.now).isBeforeOrEqualTo(j.now.plusSeconds(1));
    j.passUntil(s.reclaimAt().minusMillis(1)).sweep();
    assertThat(j.verdict()).isEqualTo(NOTHING_DUE);
    j.passUntil(s.reclaimAt()).sweep();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
    InProgress next = (InProgress) j.state;
    assertThat(next.attempts().unproven()).containsExactly(1, 2);
    assertThat(next.waiting()).isEqualTo(s.waiting());
    assertThat(j.last.effects()).contains(new ChargeRetryBudget("t1", Journey.ACTION, j.now));
  }

  @Test
  void unknownIsNotWokenWhereItCannotBeReclaimed() {
    ActionPolicy manual = Policies.auto(Policies.KEYED, false);
    assertThat(wakeAt(Journey.begin(manual))).isNull();
    assertThat(wakeAt(Journey.begin(Policies.maxAttempts(Policies.KEYED, 1)))).isNull();
    assertThat(wakeAt(Journey.begin())).isNull();
    assertThat(wakeAt(Journey.begin(Policies.KEYED))).isNotNull();
  }

  private static @Nullable Instant wakeAt(Journey j) {
    return ((UnknownReconciliation) j.intent().endsUnknown().state).wakeAt();
  }

  @Test
  void unknownWithoutATokenIsParkedWhileTheRemoteIsStillAsked() {
    Journey j = Journey.begin(Policies.KEYED).intent().endsUnknown();
    UnknownReconciliation s = (UnknownReconciliation) j.state;
    j.passUntil(s.reclaimAt());
    Instant token = j.now.plusSeconds(30);
    j.budget = RetryBudget.empty(token);
    j.sweep();
    assertThat(((UnknownReconciliation) j.state).wakeAt()).isEqualTo(token);
    assertThat(j.state.nextDeadline()).contains(s.reconciliation().nextAt());

    j.passUntil(s.reconciliation().nextAt()).sweep();
    assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
    assertThat(((UnknownReconciliation) j.state).wakeAt()).isEqualTo(token);
    j.passUntil(token);
    j.budget = RetryBudget.full(token);
    j.sweep();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
  }

  @Test
  void unknownThatCameTooLateForTheWindowIsOnlyAsked() {
    Journey j = Journey.begin(Policies.KEYED).intent().endsUnknown();
    j.pass(Duration.ofHours(30)).sweep();
    assertThat(j.verdict()).isEqualTo(STILL_UNKNOWN);
    assertThat(((UnknownReconciliation) j.state).wakeAt()).isNull();
    assertThat(j.commands()).isEmpty();
  }

  @Test
  void sweepThatFindsTheLeaseOverDoesNothingElse() {
    Journey j = Journey.begin(Policies.KEYED).intent().pass(Duration.ofMinutes(2)).sweep();
    assertThat(j.verdict()).isEqualTo(LEASE_EXPIRED);
    assertThat(j.commands()).isEmpty();
    j.sweep();
    assertThat(j.verdict()).isEqualTo(RECLAIMED);
  }

  @Test
  void changedPolicyMovesNoStoredDeadline() {
    Journey j = States.succeeded();
    Succeeded before = (Succeeded) j.state;
    j.policy =
        Policies.times(
            Policies.STANDARD,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ZERO,
            Duration.ofSeconds(1));
    j.pass(Duration.ofHours(23)).intent();
    assertThat(j.verdict()).isEqualTo(Verdict.REPLAYED);
    assertThat(j.state).isSameAs(before);
  }
}
