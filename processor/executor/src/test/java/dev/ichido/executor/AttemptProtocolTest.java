package dev.ichido.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.executor.AttemptProtocol.Next;
import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.ToolCommand.Kind;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class AttemptProtocolTest {
  private static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");

  @ParameterizedTest
  @CsvSource({"1, ", "0, DEADLINE_PASSED", "-1, DEADLINE_PASSED"})
  void anAttemptIsClaimedBeforeItsDeadlineAndForbiddenFromThenOn(
      long millisLeft, @Nullable String revocation) {
    ClaimRequest request =
        AttemptProtocol.claim(execute(NOW.plusMillis(millisLeft)), NOW, null).orElseThrow();
    assertThat(Optional.ofNullable(request.revocation()).map(Report::reason))
        .isEqualTo(Optional.ofNullable(revocation));
    assertThat(AttemptProtocol.whyNotStart(execute(NOW.plusMillis(millisLeft)), NOW, Duration.ZERO))
        .isEqualTo(Optional.ofNullable(revocation));
  }

  /** The deadline is far off by the clock of this executor; the status reads went by another's. */
  @Test
  void aCallThatAbsenceMayHaveBeenProvenOfDoesNotStart() {
    ToolCommand command =
        Commands.startingWithin(Duration.ofSeconds(1), execute(NOW.plusMillis(1)));
    assertThat(AttemptProtocol.whyNotStart(command, NOW, Duration.ofMillis(999))).isEmpty();
    assertThat(AttemptProtocol.whyNotStart(command, NOW, Duration.ofSeconds(1)))
        .contains("CLAIM_TOO_OLD");
    assertThat(AttemptProtocol.whyNotStart(execute(NOW.plusMillis(1)), NOW, Duration.ofDays(1)))
        .isEmpty();
  }

  @Test
  void onlyALeaseThatIsOverRevokes() {
    assertThat(AttemptProtocol.claim(reconcile(false), NOW, null)).isEmpty();
    Report revoked =
        Objects.requireNonNull(
            AttemptProtocol.claim(reconcile(true), NOW, null).orElseThrow().revocation());
    assertThat(revoked.finding()).isEqualTo(Finding.FAILED_RETRYABLE);
    assertThat(revoked.reason()).isEqualTo("REVOKED");
    assertThat(revoked.kind()).isEqualTo(Report.Kind.ATTEMPT);
  }

  /** The first attempt of these commands is of 1970. */
  @Test
  @Tag("FR-10")
  void aClaimThatMayHaveBeenDeletedIsNotTakenForOneThatNeverWas() {
    Duration age = Duration.between(Instant.EPOCH, NOW);
    assertThat(AttemptProtocol.claim(reconcile(true), NOW, age)).isEmpty();
    assertThat(AttemptProtocol.claim(reconcile(true), NOW, age.plusMillis(1))).isPresent();
  }

  @Test
  void aReadNeedsNoClaim() {
    assertThat(
            AttemptProtocol.claim(
                Commands.command(Kind.READ, "op", 0, "{}", null, false), NOW, null))
        .isEmpty();
  }

  @Test
  void aRevocationThatWonIsTheResultAndOneThatLostIsNot() {
    ClaimRequest revoking = AttemptProtocol.claim(reconcile(true), NOW, null).orElseThrow();
    ClaimAnswer open = new ClaimAnswer.Open("another/1");
    assertThat(granted(reconcile(true), new ClaimAnswer.Won(), false))
        .isEqualTo(new ClaimAnswer.Recorded(Objects.requireNonNull(revoking.revocation())));
    assertThat(granted(reconcile(true), open, false)).isSameAs(open);
    assertThat(granted(execute(NOW.plusMillis(1)), new ClaimAnswer.Won(), false))
        .isEqualTo(new ClaimAnswer.Won());
  }

  @Test
  void anOpenRowOfThisLifeIsTheClaimOfWhoWasNotAnswered() {
    ToolCommand execute = execute(NOW.plusMillis(1));
    ClaimAnswer own = new ClaimAnswer.Open("a/1");
    ClaimAnswer anothers = new ClaimAnswer.Open("a/2");
    ClaimAnswer recorded = new ClaimAnswer.Recorded(report(Finding.SUCCEEDED));
    assertThat(granted(execute, own, true)).isEqualTo(new ClaimAnswer.Won());
    assertThat(granted(execute, own, false)).isSameAs(own);
    assertThat(granted(execute, anothers, true)).isSameAs(anothers);
    assertThat(granted(execute, recorded, true)).isSameAs(recorded);
    assertThat(granted(reconcile(true), own, true)).isSameAs(own);
  }

  /** By now its deadline is over, and it asks for a revocation. */
  @Test
  void itIsToldSoAfterTheDeadlineToo() {
    assertThat(granted(execute(NOW), new ClaimAnswer.Open("a/1"), true))
        .isEqualTo(new ClaimAnswer.Won());
  }

  @Test
  void onlyAClaimThatWasWonIsCalled() {
    ToolCommand execute = execute(NOW.plusMillis(1));
    Report recorded = report(Finding.SUCCEEDED);
    assertThat(AttemptProtocol.next(execute, new ClaimAnswer.Won())).isEqualTo(new Next.Call());
    assertThat(AttemptProtocol.next(execute, new ClaimAnswer.Open("another/1")))
        .isEqualTo(new Next.Nothing());
    assertThat(AttemptProtocol.next(execute, new ClaimAnswer.Recorded(recorded)))
        .isEqualTo(new Next.Tell(recorded));
    assertThatThrownBy(() -> AttemptProtocol.next(execute, null))
        .isInstanceOf(IllegalStateException.class);
  }

  /**
   * A processor that had the report asks because of an earlier attempt: what it knows of this one
   * is no answer, and the remote is asked.
   */
  @ParameterizedTest
  @CsvSource({
    "SUCCEEDED, true, true",
    "SUCCEEDED, false, true",
    "FAILED_RETRYABLE, true, true",
    "FAILED_RETRYABLE, false, false",
    "FAILED_TERMINAL, true, true",
    "FAILED_TERMINAL, false, false",
    "UNKNOWN, true, false",
    "UNKNOWN, false, false",
  })
  void theRemoteIsAskedUnlessTheClaimKnows(Finding recorded, boolean leaseOver, boolean told) {
    Report report = report(recorded);
    assertThat(AttemptProtocol.next(reconcile(leaseOver), new ClaimAnswer.Recorded(report)))
        .isEqualTo(told ? new Next.Tell(report) : new Next.Ask());
    assertThat(AttemptProtocol.next(reconcile(leaseOver), new ClaimAnswer.Open("a/1")))
        .isEqualTo(new Next.Ask());
    assertThat(AttemptProtocol.next(reconcile(leaseOver), null)).isEqualTo(new Next.Ask());
  }

  @ParameterizedTest
  @EnumSource(Finding.class)
  void aLateAnswerIsAnotherReportUnlessItSaysNothing(Finding finding) {
    Report report = report(finding);
    assertThat(AttemptProtocol.late(report).map(Report::resultId))
        .isEqualTo(
            finding == Finding.UNKNOWN
                ? Optional.empty()
                : Optional.of(report.resultId() + "/late"));
  }

  private static ClaimAnswer granted(ToolCommand command, ClaimAnswer answer, boolean askedBefore) {
    ClaimRequest request = AttemptProtocol.claim(command, NOW, null).orElseThrow();
    return AttemptProtocol.granted(command, request, answer, "a/1", askedBefore);
  }

  private static ToolCommand execute(Instant deadline) {
    return Commands.command(Kind.EXECUTE, "op", 1, "{}", deadline, false);
  }

  private static ToolCommand reconcile(boolean leaseOver) {
    return Commands.reconcile("op", 1, leaseOver);
  }

  private static Report report(Finding finding) {
    return new Report(
        Report.Kind.ATTEMPT, finding, "r", null, null, null, 0, null, null, null, 0, null, NOW);
  }
}
