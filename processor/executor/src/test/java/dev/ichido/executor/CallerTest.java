package dev.ichido.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.executor.Caller.Told;
import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.ToolCommand.Kind;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimStore;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class CallerTest {
  private static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");

  private static final DataSource UNREACHABLE =
      (DataSource)
          Proxy.newProxyInstance(
              CallerTest.class.getClassLoader(),
              new Class<?>[] {DataSource.class},
              (proxy, method, arguments) -> {
                throw new SQLException("unreachable", "08001");
              });

  private final AtomicInteger calls = new AtomicInteger();

  /** The claim was won in time, and the thread had to wait until it was too late. */
  @Test
  void theDeadlineIsLookedAtOnceMoreBeforeTheCall() {
    Caller caller = caller(Map.of("pay.transfer", answering(ToolOutcome.succeeded("r", null))));
    assertThat(reason(caller, execute("late", NOW), new ClaimAnswer.Won()))
        .isEqualTo("FAILED_RETRYABLE DEADLINE_PASSED");
    assertThat(calls).hasValue(0);
    assertThat(reason(caller, execute("in-time", NOW.plusMillis(1)), new ClaimAnswer.Won()))
        .isEqualTo("SUCCEEDED null");
    assertThat(calls).hasValue(1);
  }

  @Test
  void anOldClaimIsNotCalledUnder() {
    Caller caller = caller(Map.of("pay.transfer", answering(ToolOutcome.succeeded("r", null))));
    ToolCommand command = Commands.startingWithin(Duration.ofDays(1), execute("op", null));
    Work old = work(command, new ClaimAnswer.Won());
    old.claimAskedAt = System.nanoTime() - Duration.ofDays(1).toNanos();
    assertThat(reason(caller.perform(old))).isEqualTo("FAILED_RETRYABLE CLAIM_TOO_OLD");
    assertThat(calls).hasValue(0);
    assertThat(reason(caller, command, new ClaimAnswer.Won())).isEqualTo("SUCCEEDED null");
  }

  @Test
  void whatIsRecordedIsToldAndWhatIsAnothersIsLeft() {
    Caller caller = caller(Map.of("pay.transfer", answering(ToolOutcome.succeeded("r", null))));
    Report revoked = Commands.revoked("cmd/result", NOW);
    Told told = caller.perform(work(execute("op", null), new ClaimAnswer.Recorded(revoked)));
    assertThat(told.report()).isEqualTo(revoked);
    assertThat(told.keep()).isFalse();
    assertThat(
            caller.perform(work(execute("op", null), new ClaimAnswer.Open("another/1"))).report())
        .isNull();
    assertThat(calls).hasValue(0);
  }

  @Test
  void aWishToWaitIsHeededForADay() {
    for (Duration wish : List.of(Duration.ofSeconds(Long.MAX_VALUE), Duration.ofMillis(-1))) {
      CallFacts facts = new CallFacts(429, 1, wish);
      Caller caller =
          caller(
              Map.of(
                  "pay.transfer",
                  answering(new ToolOutcome.FailedRetryable("RATE_LIMITED", null, facts))));
      Told told = caller.perform(work(execute("op", null), new ClaimAnswer.Won()));
      assertThat(Objects.requireNonNull(told.report()).retryAfter())
          .isEqualTo(wish.isNegative() ? Duration.ZERO : Duration.ofDays(1));
    }
  }

  /** The same sick remote by two actions; another remote goes on. */
  @Test
  void aRemoteThatFailsAllTheTimeIsLeftAlone() {
    Caller caller =
        caller(
            Map.of(
                "pay.transfer", remote("sick", ToolOutcome.unknown("TIMEOUT")),
                "pay.refund", remote("sick", ToolOutcome.unknown("TIMEOUT")),
                "mail.send", remote("well", ToolOutcome.succeeded("r", null))));
    for (int i = 0; i < 20; i++) {
      assertThat(reason(caller, execute("op" + i, null), new ClaimAnswer.Won()))
          .isEqualTo("UNKNOWN TIMEOUT");
    }
    for (String action : List.of("pay.transfer", "pay.refund")) {
      Told told = caller.perform(work(of(action, "open"), new ClaimAnswer.Won()));
      Report report = Objects.requireNonNull(told.report());
      assertThat(report.toString()).isEqualTo("ATTEMPT FAILED_RETRYABLE CIRCUIT_OPEN");
      assertThat(report.retryAfter()).isEqualTo(Duration.ofSeconds(10));
      assertThat(report.remoteCalls()).isZero();
      assertThat(told.keep()).isTrue();
    }
    assertThat(calls).hasValue(20);
    assertThat(reason(caller, of("mail.send", "op"), new ClaimAnswer.Won()))
        .isEqualTo("SUCCEEDED null");
  }

  @Test
  void anActionWithoutHandlerIsProvenNotStarted() {
    assertThat(reason(caller(Map.of()), execute("op", null), new ClaimAnswer.Won()))
        .isEqualTo("FAILED_RETRYABLE NO_HANDLER");
  }

  /** Its message may hold a secret, and its effect may have taken place. */
  @Test
  @Tag("FR-10")
  void whateverAHandlerThrowsIsUnknown() {
    for (Throwable thrown :
        List.of(
            new IllegalStateException("secret"),
            new InterruptedException("secret"),
            new NoClassDefFoundError("secret"),
            new StackOverflowError("secret"))) {
      Caller caller =
          caller(
              Map.of(
                  "pay.transfer",
                  command -> {
                    throw CallerTest.<RuntimeException>sneaky(thrown);
                  }));
      Told told = caller.perform(work(execute("op", null), new ClaimAnswer.Won()));
      Report report = Objects.requireNonNull(told.report());
      assertThat(report.finding()).isEqualTo(Finding.UNKNOWN);
      assertThat(report.reason()).doesNotContain("secret");
      assertThat(Thread.interrupted()).isFalse();
    }
  }

  /** An answer nobody can know is not asked for while the claims can't be looked at. */
  @Test
  void withoutClaimsNothingIsReconciled() {
    Caller caller = caller(Map.of("pay.transfer", answering(ToolOutcome.succeeded("r", null))));
    Told told = caller.perform(work(Commands.reconcile("op", 1, false), null));
    assertThat(Objects.requireNonNull(told.report()).toString())
        .isEqualTo("RECONCILE UNKNOWN CLAIMS_UNAVAILABLE");
    assertThat(told.keep()).isFalse();
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> T sneaky(Throwable thrown) throws T {
    throw (T) thrown;
  }

  private ToolHandler answering(ToolOutcome outcome) {
    return remote("ledger", outcome);
  }

  private ToolHandler remote(String name, ToolOutcome outcome) {
    return new ToolHandler() {
      @Override
      public ToolOutcome execute(ToolCommand command) {
        calls.incrementAndGet();
        return outcome;
      }

      @Override
      public String remote() {
        return name;
      }
    };
  }

  private static Caller caller(Map<String, ToolHandler> handlers) {
    return new Caller(
        handlers,
        new ClaimStore(UNREACHABLE, "a/1"),
        Clock.fixed(NOW, ZoneOffset.UTC),
        new Meters(new SimpleMeterRegistry()),
        ExecutorConfig.of(Map.of(), Map.of()),
        "a/1");
  }

  private static String reason(Caller caller, ToolCommand command, ClaimAnswer claim) {
    return reason(caller.perform(work(command, claim)));
  }

  private static String reason(Told told) {
    Report report = Objects.requireNonNull(told.report());
    return report.finding() + " " + report.reason();
  }

  private static ToolCommand execute(String operation, @Nullable Instant deadline) {
    return Commands.command(Kind.EXECUTE, operation, 1, "{}", deadline, false);
  }

  private static ToolCommand of(String action, String operation) {
    return Commands.of(action, execute(operation, null));
  }

  private static Work work(ToolCommand command, @Nullable ClaimAnswer claim) {
    Work work = new Work(command, new TopicPartition("commands", 0), 0, List.of());
    work.claim = claim;
    work.claimAskedAt = System.nanoTime();
    return work;
  }
}
