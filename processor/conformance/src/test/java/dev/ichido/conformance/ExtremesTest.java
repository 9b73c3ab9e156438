package dev.ichido.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.MissingNode;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.StateName;
import dev.ichido.schemas.BodyHandle;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.ResultKind;
import dev.ichido.schemas.ToolIntent;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever number a record holds, the processor decides on it and goes on. */
class ExtremesTest {
  private static final Step.Address ADDRESS =
      new Step.Address("t1", "global", Step.DEFAULT_OPERATION);
  private static final String KEY = StepRecords.recordKey(ADDRESS, "");

  private final VirtualProcessor processor =
      new VirtualProcessor(Policies.with(MissingNode.getInstance()));

  @AfterEach
  void close() {
    processor.close();
  }

  private VirtualProcessor.Output intent(String action, Instant issuedAt) {
    ToolIntent intent =
        ToolIntent.newBuilder()
            .setTenant("t1")
            .setOperationId(Step.DEFAULT_OPERATION)
            .setDeliveryId("d-" + action + issuedAt)
            .setPrincipal("agent:a")
            .setAction(action)
            .setTarget("acct:1")
            .setIssuedAt(issuedAt)
            .build();
    processor.intent(
        KEY.getBytes(UTF_8),
        processor
            .serdes()
            .serializer(ToolIntent.class)
            .serialize(processor.topics().intents(), intent));
    return processor.drain();
  }

  private String result(OperationResult.Builder result) {
    processor.result(
        KEY.getBytes(UTF_8),
        processor
            .serdes()
            .serializer(OperationResult.class)
            .serialize(processor.topics().results(), result.build()));
    return processor.drain().journal().getLast().getVerdict();
  }

  private static OperationResult.Builder report(ResultKind kind, Outcome outcome) {
    return OperationResult.newBuilder()
        .setKind(kind)
        .setResultId("r-" + kind + outcome)
        .setTenant("t1")
        .setScope("global")
        .setOperationId(Step.DEFAULT_OPERATION)
        .setOutcome(outcome)
        .setReportedAt(VirtualProcessor.START);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE / 1_000, Long.MIN_VALUE})
  void aWishToWaitIsHeededForADay(long millis) {
    intent("pay.transfer", processor.now());
    assertThat(
            result(
                report(ResultKind.ATTEMPT, Outcome.FAILED_RETRYABLE)
                    .setAttempt(1)
                    .setRetryAfterMs(millis)))
        .isEqualTo("SETTLED");
    Instant latest = processor.now().plus(millis < 0 ? Duration.ofSeconds(1) : Duration.ofDays(1));
    assertThat(((FailedRetryable) processor.state(KEY)).retryAt()).isBeforeOrEqualTo(latest);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, Long.MIN_VALUE})
  void aTimeMayBeAny(long millis) {
    Instant far = Instant.ofEpochMilli(millis);
    assertThat(intent("kb.search", far).journal().getLast().getVerdict())
        .isEqualTo(millis < 0 ? "PASSED_THROUGH" : "INVALID");
    assertThat(intent("pay.transfer", far).journal().getLast().getVerdict())
        .isEqualTo(millis < 0 ? "LATE_REPLAY" : "INVALID");
    intent("pay.transfer", processor.now());
    result(report(ResultKind.ATTEMPT, Outcome.UNKNOWN).setAttempt(1).setReportedAt(far));
    assertThat(result(report(ResultKind.RECONCILE, Outcome.ABSENT).setReportedAt(far)))
        .isEqualTo("STILL_UNKNOWN");
    assertThat(processor.state(KEY).name()).isEqualTo(StateName.UNKNOWN_RECONCILIATION);
  }

  @Test
  void theLastAttemptThatCanBeCountedIsFollowedByNone() {
    result(
        report(ResultKind.ATTEMPT, Outcome.SUCCEEDED)
            .setAttempt(Integer.MAX_VALUE)
            .setBodyHandle(BodyHandle.newBuilder().setSha256("").setBytes(Long.MIN_VALUE).build()));
    intent("pay.transfer", processor.now());
    assertThat(
            result(
                report(ResultKind.RESOLVE, Outcome.NOT_STARTED)
                    .setReportedBy("person:p")
                    .setEvidence("looked")))
        .isEqualTo("RESOLVED");
    processor.advance(Duration.ofMinutes(1));
    assertThat(intent("pay.transfer", VirtualProcessor.START).replies().getLast().getCode())
        .isEqualTo("MAX_ATTEMPTS");
  }
}
