package dev.ichido.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.executor.AttemptProtocol.Next;
import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.claim.ClaimAnswer;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AttemptProtocolTest {

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
    "UNKNOWN, false, false"
  })
  void recordedResultAnswersAStatusReadWhereItIsNews(
      Finding finding, boolean leaseOver, boolean told) {
    Report recorded =
        new Report(
            Report.Kind.ATTEMPT,
            finding,
            "r-1",
            null,
            null,
            null,
            0,
            null,
            null,
            null,
            1,
            null,
            Instant.EPOCH);
    assertThat(
            AttemptProtocol.next(
                Commands.reconcile("op-0000000000000001", 1, leaseOver),
                new ClaimAnswer.Recorded(recorded)))
        .isEqualTo(told ? new Next.Tell(recorded) : new Next.Ask());
  }
}
