package dev.ichido.decision;

import static dev.ichido.decision.Verdict.INVALID;
import static dev.ichido.decision.Verdict.RECLAIMED;
import static dev.ichido.decision.Verdict.RESOLVED;
import static dev.ichido.decision.Verdict.RETRY_LATER;
import static dev.ichido.decision.Verdict.UNAUTHORIZED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.table.Cell;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a person can settle, and what not. */
class ResolutionRulesTest {

  private static Journey stuck() {
    return Journey.begin(Policies.maxAttempts(Policies.STANDARD, 1)).intent().failsRetryably();
  }

  @Test
  @Cell({
    "UNKNOWN_RECONCILIATION x resolve SUCCEEDED",
    "FAILED_RETRYABLE, stuck x resolve SUCCEEDED"
  })
  void personsSuccessSettlesAndIsMarkedAsReconciled() {
    for (Journey j : new Journey[] {States.unknown(), stuck()}) {
      j.resolve(ResolvedAs.SUCCEEDED);
      assertThat(j.verdict()).isEqualTo(RESOLVED);
      Succeeded s = (Succeeded) j.state;
      assertThat(s.result().settledBy()).isEqualTo(Marker.RECONCILED);
      assertThat(j.reply().marker()).isEqualTo(Marker.RECONCILED);
      assertThat(j.reply().verdict()).isEqualTo(RESOLVED);
      assertThat(j.reply().last()).isTrue();
      assertThat(j.line().by()).isEqualTo("person:p");
      assertThat(j.line().evidence()).isEqualTo("seen in the bank's ledger");
      assertThat(j.line().alarm()).isFalse();
    }
  }

  @Test
  @Cell({
    "UNKNOWN_RECONCILIATION x resolve FAILED_TERMINAL",
    "FAILED_RETRYABLE, stuck x resolve FAILED_TERMINAL"
  })
  void personsRefusalSettlesForGood() {
    for (Journey j : new Journey[] {States.unknown(), stuck()}) {
      j.resolve(ResolvedAs.FAILED_TERMINAL);
      assertThat(j.verdict()).isEqualTo(RESOLVED);
      assertThat(((FailedTerminal) j.state).result().settledBy()).isEqualTo(Marker.RECONCILED);
      assertThat(j.reply().state()).isEqualTo(StateName.FAILED_TERMINAL);
      assertThat(j.line().by()).isEqualTo("person:p");
    }
  }

  @Test
  @Cell({
    "UNKNOWN_RECONCILIATION x resolve NOT_STARTED",
    "FAILED_RETRYABLE, stuck x resolve NOT_STARTED"
  })
  void personsNotStartedGrantsANewRowOfAttempts() {
    for (Journey j : new Journey[] {States.unknown(), stuck()}) {
      j.resolve(ResolvedAs.NOT_STARTED);
      assertThat(j.verdict()).isEqualTo(RESOLVED);
      FailedRetryable s = (FailedRetryable) j.state;
      assertThat(s.attempts().base()).isEqualTo(1);
      assertThat(s.retryAt()).isAfter(j.now).isBeforeOrEqualTo(j.now.plusSeconds(1));
      assertThat(s.wakeAt()).isEqualTo(s.retryAt());
      assertThat(j.reply().last()).isFalse();
      j.passUntil(s.retryAt()).intent();
      assertThat(j.verdict()).isEqualTo(RECLAIMED);
    }
  }

  /** What a person saw of one attempt says nothing of the next. */
  @Test
  void wordOnAnotherAttemptThanTheLatestIsRefused() {
    for (Journey j : new Journey[] {States.unknown(), stuck()}) {
      OperationState seen = j.state;
      for (ResolvedAs as : ResolvedAs.values()) {
        j.then(j.resolution("s-" + as, 2, as, "person:p", "looked", true));
        assertThat(j.verdict()).isEqualTo(INVALID);
        assertThat(j.line().code()).isEqualTo("NOT_RESOLVABLE");
        assertThat(j.state).isEqualTo(seen);
      }
      j.then(j.resolution("s-1", 1, ResolvedAs.NOT_STARTED, "person:p", "looked", true));
      assertThat(j.verdict()).isEqualTo(RESOLVED);
    }
  }

  @Test
  void grantedAttemptsAreCountedFromTheGrant() {
    Journey j = Journey.begin(Policies.maxAttempts(Policies.STANDARD, 2)).intent();
    j.endsUnknown().resolve(ResolvedAs.NOT_STARTED);
    for (int i = 0; i < 2; i++) {
      j.passUntil(((FailedRetryable) j.state).retryAt()).intent();
      assertThat(j.verdict()).isEqualTo(RECLAIMED);
      j.failsRetryably();
    }
    j.pass(Duration.ofMinutes(1)).intent();
    assertThat(j.verdict()).isEqualTo(RETRY_LATER);
    assertThat(j.reply().code()).isEqualTo("MAX_ATTEMPTS");
  }

  @Test
  void grantStartsTheBackoffAnew() {
    Journey j = Journey.begin(Policies.maxAttempts(Policies.STANDARD, 4)).intent();
    for (int i = 0; i < 3; i++) {
      j.failsRetryably().passUntil(((FailedRetryable) j.state).retryAt()).intent();
    }
    j.failsRetryably().resolve(ResolvedAs.NOT_STARTED);
    FailedRetryable granted = (FailedRetryable) j.state;
    assertThat(granted.attempts().base()).isEqualTo(4);
    assertThat(Duration.between(j.now, granted.retryAt()))
        .isEqualTo(Backoff.beforeAttempt(j.policy.retry(), Journey.KEY, 4, 1));
    j.passUntil(granted.retryAt()).intent();
    j.failsRetryably().passUntil(((FailedRetryable) j.state).retryAt()).intent();
    j.failsRetryably();
    assertThat(Duration.between(j.now, ((FailedRetryable) j.state).retryAt()))
        .isEqualTo(Backoff.beforeAttempt(j.policy.retry(), Journey.KEY, 6, 2));
  }

  @Test
  void retryHorizonHoldsForAPersonToo() {
    Journey j = States.unknown().pass(Duration.ofHours(2)).resolve(ResolvedAs.NOT_STARTED);
    assertThat(j.verdict()).isEqualTo(RESOLVED);
    assertThat(j.reply().code()).isEqualTo("RETRY_HORIZON");
    assertThat(j.line().code()).isEqualTo("RETRY_HORIZON");
    assertThat(j.line().by()).isEqualTo("person:p");
    OperationState stuck = j.state;
    j.resolve(ResolvedAs.NOT_STARTED);
    assertThat(j.verdict()).as("it would change nothing").isEqualTo(INVALID);
    assertThat(j.line().code()).isEqualTo("NOT_RESOLVABLE");
    assertThat(j.state).isSameAs(stuck);
    j.pass(Duration.ofMinutes(1)).intent();
    assertThat(j.verdict()).isEqualTo(RETRY_LATER);
    j.resolve(ResolvedAs.SUCCEEDED);
    assertThat(j.verdict()).as("stuck by the horizon").isEqualTo(RESOLVED);
  }

  /** Stuck for want of attempts, and too late for more: also where only the next would be late. */
  @Test
  void newAttemptsAreGrantedOnlyWhereOneCanStillStart() {
    Instant end = Journey.START.plus(Policies.STANDARD.retryHorizon());
    Duration backoff = Backoff.beforeAttempt(Policies.STANDARD.retry(), Journey.KEY, 1, 1);
    Journey inTime = stuck().passUntil(end.minus(backoff)).resolve(ResolvedAs.NOT_STARTED);
    assertThat(inTime.verdict()).isEqualTo(RESOLVED);
    assertThat(inTime.line().code()).isNull();
    for (Instant late : List.of(end.minus(backoff).plusMillis(1), end.plusSeconds(1))) {
      Journey j = stuck().passUntil(late);
      OperationState before = j.state;
      j.resolve(ResolvedAs.NOT_STARTED);
      assertThat(j.verdict()).isEqualTo(INVALID);
      assertThat(j.line().code()).isEqualTo("NOT_RESOLVABLE");
      assertThat(j.state).isSameAs(before);
      for (ResolvedAs as : List.of(ResolvedAs.SUCCEEDED, ResolvedAs.FAILED_TERMINAL)) {
        assertThat(j.copy().resolve(as).verdict()).isEqualTo(RESOLVED);
      }
    }
  }

  @Test
  @Cell({
    "ABSENT x resolve SUCCEEDED",
    "ABSENT x resolve FAILED_TERMINAL",
    "ABSENT x resolve NOT_STARTED",
    "IN_PROGRESS x resolve SUCCEEDED",
    "IN_PROGRESS x resolve FAILED_TERMINAL",
    "IN_PROGRESS x resolve NOT_STARTED",
    "FAILED_RETRYABLE x resolve SUCCEEDED",
    "FAILED_RETRYABLE x resolve FAILED_TERMINAL",
    "FAILED_RETRYABLE x resolve NOT_STARTED",
    "SUCCEEDED x resolve SUCCEEDED",
    "SUCCEEDED x resolve FAILED_TERMINAL",
    "SUCCEEDED x resolve NOT_STARTED",
    "FAILED_TERMINAL x resolve SUCCEEDED",
    "FAILED_TERMINAL x resolve FAILED_TERMINAL",
    "FAILED_TERMINAL x resolve NOT_STARTED",
    "EXPIRED x resolve SUCCEEDED",
    "EXPIRED x resolve FAILED_TERMINAL",
    "EXPIRED x resolve NOT_STARTED",
    "CANCELLED x resolve SUCCEEDED",
    "CANCELLED x resolve FAILED_TERMINAL",
    "CANCELLED x resolve NOT_STARTED"
  })
  void anythingElseIsNotResolvable() {
    for (OperationState state : States.all()) {
      if (state.name() == StateName.UNKNOWN_RECONCILIATION) {
        continue;
      }
      for (ResolvedAs as : ResolvedAs.values()) {
        Journey j = States.journeyAt(state).resolve(as);
        assertThat(j.verdict()).as(state.name().name()).isEqualTo(INVALID);
        assertThat(j.line().code()).isEqualTo("NOT_RESOLVABLE");
        assertThat(j.line().by()).isEqualTo("person:p");
        assertThat(j.state).isSameAs(state);
        assertThat(j.last.effects()).isEmpty();
      }
    }
  }

  @Test
  void operatorWithoutTheRoleIsRefusedBeforeAnythingElse() {
    Journey j = States.unknown();
    OperationState before = j.state;
    j.then(j.resolution("s", ResolvedAs.SUCCEEDED, "", "", false));
    assertThat(j.verdict()).isEqualTo(UNAUTHORIZED);
    assertThat(j.state).isSameAs(before);
    assertThat(j.last.effects()).isEmpty();
  }

  @Test
  void personSaysWhoTheyAreAndWhatTheySaw() {
    for (String[] said : new String[][] {{" ", "seen"}, {"person:p", " "}}) {
      Journey j = States.unknown();
      OperationState before = j.state;
      j.then(j.resolution("s", ResolvedAs.SUCCEEDED, said[0], said[1], true));
      assertThat(j.verdict()).isEqualTo(INVALID);
      assertThat(j.line().code()).isEqualTo("EVIDENCE_MISSING");
      assertThat(j.state).isSameAs(before);
    }
    Journey j = States.unknown();
    j.then(j.resolution("s", ResolvedAs.SUCCEEDED, "person:p", " ", true));
    assertThat(j.line().evidence()).isNull();
  }

  @Test
  void notStartedAfterACancelCancels() {
    Journey j = States.unknown().cancel().resolve(ResolvedAs.NOT_STARTED);
    assertThat(j.verdict()).isEqualTo(RESOLVED);
    assertThat(j.name()).isEqualTo(StateName.CANCELLED);
    assertThat(j.line().by()).isEqualTo("person:p");
    assertThat(j.replies()).hasSize(2).allMatch(Effect.SendReply::last);
  }

  @Test
  void unknownOfALapsedLeaseIsResolvableBeforeTheSweepCame() {
    Journey j = States.inProgress().pass(Duration.ofSeconds(60)).resolve(ResolvedAs.SUCCEEDED);
    assertThat(j.verdict()).isEqualTo(RESOLVED);
  }
}
