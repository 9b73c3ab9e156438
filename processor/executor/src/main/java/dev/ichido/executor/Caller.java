package dev.ichido.executor;

import static java.util.Objects.requireNonNull;

import dev.ichido.executor.AttemptProtocol.Next;
import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimStore;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Performs one command on the current thread and tells what came of it. */
final class Caller {
  private static final Logger LOG = LoggerFactory.getLogger(Caller.class);

  private static final int MAX_REFERENCE = 512;

  private final Map<String, ToolHandler> handlers;
  private final ClaimStore claims;
  private final Clock clock;
  private final Meters meters;
  private final int inlineBodyLimit;
  private final Duration breakerWait;
  private final CircuitBreakerRegistry breakers;
  private final String owner;

  Caller(
      Map<String, ToolHandler> handlers,
      ClaimStore claims,
      Clock clock,
      Meters meters,
      ExecutorConfig config,
      String owner) {
    this.handlers = handlers;
    this.claims = claims;
    this.clock = clock;
    this.meters = meters;
    this.inlineBodyLimit = config.inlineBodyLimitOrDefault();
    this.breakerWait = config.breakerWaitOrDefault();
    this.owner = owner;
    this.breakers =
        CircuitBreakerRegistry.of(
            CircuitBreakerConfig.custom()
                .failureRateThreshold(config.breakerFailureRateOrDefault())
                .slidingWindowSize(50)
                .minimumNumberOfCalls(20)
                .permittedNumberOfCallsInHalfOpenState(3)
                .waitDurationInOpenState(breakerWait)
                .build());
  }

  /**
   * What is to be told, and kept.
   *
   * @param report null: nothing is told, since the attempt is another's
   * @param keep whether the report goes to the claim row first
   */
  record Told(@Nullable Report report, boolean keep, @Nullable ResultBody largeBody) {
    static final Told NOTHING = new Told(null, false, null);

    static Told again(Report report) {
      return new Told(report, false, null);
    }
  }

  Told perform(Work work) {
    return switch (work.command.kind()) {
      case EXECUTE -> execute(work);
      case READ -> read(work.command);
      case RECONCILE -> reconcile(work);
    };
  }

  private Told execute(Work work) {
    ToolCommand command = work.command;
    return switch (AttemptProtocol.next(command, work.claim)) {
      case Next.Tell it -> Told.again(it.report());
      case Next.Nothing it -> {
        if (work.claim instanceof ClaimAnswer.Open open) {
          // In this life a delivery was given away before it heard of its claim; of that, and of an
          // earlier life's, only the lease can tell.
          meters.claim(open.owner().equals(owner) ? "unheard" : "left");
          LOG.debug(
              "Attempt {} of {} is held by {}",
              command.attempt(),
              command.recordKey(),
              open.owner());
        }
        yield Told.NOTHING;
      }
      case Next.Call it -> {
        meters.attempt(command.action());
        yield told(command, Report.Kind.ATTEMPT, call(work));
      }
      case Next.Ask it -> throw new IllegalStateException("Expected a command that is performed.");
    };
  }

  private ToolOutcome call(Work work) {
    ToolCommand command = work.command;
    ToolHandler handler = handlers.get(command.action());
    if (handler == null) {
      return new ToolOutcome.FailedRetryable(
          "NO_HANDLER", null, new CallFacts(null, 0, Duration.ofSeconds(30)));
    }
    CircuitBreaker breaker = breakers.circuitBreaker(handler.remote());
    Duration sinceClaim = Duration.ofNanos(System.nanoTime() - requireNonNull(work.claimAskedAt));
    Optional<String> whyNot = AttemptProtocol.whyNotStart(command, clock.instant(), sinceClaim);
    if (whyNot.isPresent()) {
      return new ToolOutcome.FailedRetryable(whyNot.get(), null, CallFacts.NONE);
    }
    if (!breaker.tryAcquirePermission()) {
      return new ToolOutcome.FailedRetryable(
          "CIRCUIT_OPEN", null, new CallFacts(null, 0, breakerWait));
    }
    long started = System.nanoTime();
    ToolOutcome outcome;
    try {
      outcome = handler.execute(command);
    } catch (InterruptedException e) {
      outcome = ToolOutcome.unknown("INTERRUPTED");
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.debug("Handler of {} threw", command.action(), e);
      outcome = ToolOutcome.unknown("HANDLER_THREW");
    }
    long nanos = System.nanoTime() - started;
    meters.callTimer(handler.remote()).record(nanos, TimeUnit.NANOSECONDS);
    meters.remoteCalls(command.kind(), handler.remote(), outcome.facts().remoteCalls());
    count(breaker, nanos, outcome);
    return outcome;
  }

  private static void count(CircuitBreaker breaker, long nanos, ToolOutcome outcome) {
    switch (outcome) {
      case ToolOutcome.Succeeded s -> breaker.onSuccess(nanos, TimeUnit.NANOSECONDS);
      case ToolOutcome.FailedTerminal t -> breaker.onSuccess(nanos, TimeUnit.NANOSECONDS);
      case ToolOutcome.FailedRetryable r ->
          breaker.onError(nanos, TimeUnit.NANOSECONDS, new RemoteTroubleException(r.reason()));
      case ToolOutcome.Unknown u ->
          breaker.onError(nanos, TimeUnit.NANOSECONDS, new RemoteTroubleException(u.reason()));
    }
  }

  private Told read(ToolCommand command) {
    ToolHandler handler = handlers.get(command.action());
    if (handler == null) {
      return told(
          command,
          Report.Kind.READ,
          new ToolOutcome.FailedTerminal("NO_HANDLER", null, CallFacts.NONE));
    }
    ToolOutcome outcome;
    try {
      outcome = handler.read(command);
    } catch (InterruptedException e) {
      outcome = ToolOutcome.failedTerminal("INTERRUPTED");
    } catch (Exception | LinkageError | StackOverflowError e) {
      outcome = ToolOutcome.failedTerminal("HANDLER_THREW");
    }
    meters.remoteCalls(command.kind(), handler.remote(), outcome.facts().remoteCalls());
    // A read has no effect to be unsure of: whoever wants its answer asks again.
    ToolOutcome answer =
        switch (outcome) {
          case ToolOutcome.Succeeded s -> s;
          case ToolOutcome.FailedTerminal t -> t;
          case ToolOutcome.FailedRetryable r ->
              new ToolOutcome.FailedTerminal(r.reason(), r.body(), r.facts());
          case ToolOutcome.Unknown u ->
              new ToolOutcome.FailedTerminal(u.reason(), u.body(), u.facts());
        };
    return told(command, Report.Kind.READ, answer);
  }

  private Told reconcile(Work work) {
    ToolCommand command = work.command;
    try {
      Optional<ClaimAnswer> found =
          work.claim instanceof ClaimAnswer.Recorded recorded
              ? Optional.of(recorded)
              : claims.find(command.recordKey(), command.attempt());
      if (AttemptProtocol.next(command, found.orElse(null)) instanceof Next.Tell known) {
        return Told.again(known.report());
      }
    } catch (SQLException e) {
      meters.trouble("claims");
      return told(command, new StatusAnswer.Undetermined("CLAIMS_UNAVAILABLE", CallFacts.NONE));
    }
    ToolHandler handler = handlers.get(command.action());
    StatusAnswer answer;
    if (handler == null) {
      answer = new StatusAnswer.Undetermined("NO_HANDLER", CallFacts.NONE);
    } else {
      try {
        answer = handler.readStatus(command);
      } catch (InterruptedException e) {
        answer = new StatusAnswer.Undetermined("INTERRUPTED", CallFacts.NONE);
      } catch (Exception | LinkageError | StackOverflowError e) {
        answer = new StatusAnswer.Undetermined("HANDLER_THREW", CallFacts.ONE_CALL);
      }
      meters.remoteCalls(command.kind(), handler.remote(), answer.facts().remoteCalls());
    }
    return told(command, answer);
  }

  /** An attempt that is given up on while it runs. */
  Told givenUp(ToolCommand command, String reason) {
    return switch (command.kind()) {
      case EXECUTE -> told(command, Report.Kind.ATTEMPT, ToolOutcome.unknown(reason));
      case READ -> told(command, Report.Kind.READ, ToolOutcome.failedTerminal(reason));
      case RECONCILE -> told(command, new StatusAnswer.Undetermined(reason, CallFacts.ONE_CALL));
    };
  }

  /** An answer that came after the attempt was given up on: another report, that settles it. */
  @Nullable Told late(Told told) {
    Report report = told.report();
    return report == null || !told.keep()
        ? null
        : AttemptProtocol.late(report)
            .map(late -> new Told(late, false, told.largeBody()))
            .orElse(null);
  }

  private Told told(ToolCommand command, Report.Kind kind, ToolOutcome outcome) {
    boolean keep = kind == Report.Kind.ATTEMPT;
    return switch (outcome) {
      case ToolOutcome.Succeeded s ->
          told(
              command,
              kind,
              Finding.SUCCEEDED,
              s.reference(),
              s.body(),
              s.schema(),
              null,
              s.facts(),
              keep);
      case ToolOutcome.FailedRetryable r ->
          told(
              command,
              kind,
              Finding.FAILED_RETRYABLE,
              null,
              r.body(),
              null,
              r.reason(),
              r.facts(),
              keep);
      case ToolOutcome.FailedTerminal t ->
          told(
              command,
              kind,
              Finding.FAILED_TERMINAL,
              null,
              t.body(),
              null,
              t.reason(),
              t.facts(),
              keep);
      case ToolOutcome.Unknown u ->
          told(command, kind, Finding.UNKNOWN, null, u.body(), null, u.reason(), u.facts(), keep);
    };
  }

  private Told told(ToolCommand command, StatusAnswer answer) {
    Report.Kind kind = Report.Kind.RECONCILE;
    return switch (answer) {
      case StatusAnswer.Committed c ->
          told(
              command,
              kind,
              Finding.COMMITTED,
              c.reference(),
              c.body(),
              c.schema(),
              null,
              c.facts(),
              false);
      case StatusAnswer.Absent a ->
          told(command, kind, Finding.ABSENT, null, null, null, a.reason(), a.facts(), false);
      case StatusAnswer.Undetermined u ->
          told(command, kind, Finding.UNKNOWN, null, null, null, u.reason(), u.facts(), false);
    };
  }

  private Told told(
      ToolCommand command,
      Report.Kind kind,
      Finding finding,
      @Nullable String reference,
      @Nullable ResultBody body,
      @Nullable Integer schema,
      @Nullable String reason,
      CallFacts facts,
      boolean keep) {
    String text = body == null || body.length() > inlineBodyLimit ? null : body.findText();
    ResultBody large = body != null && text == null ? body : null;
    return new Told(
        new Report(
            kind,
            finding,
            AttemptProtocol.resultId(command),
            reference == null ? null : shortened(reference),
            text,
            large == null ? null : large.sha256(),
            large == null ? 0 : large.length(),
            schema,
            reason == null ? null : reason.replace('\0', '\uFFFD'),
            facts.remoteStatus(),
            facts.remoteCalls(),
            facts.retryAfter(),
            clock.instant()),
        keep,
        large);
  }

  /** A reference that is too long is named by its digest: cut, two could become one. */
  private static String shortened(String reference) {
    String plain = reference.replace('\0', '\uFFFD');
    return plain.length() <= MAX_REFERENCE
        ? plain
        : "sha256:" + ResultBody.of(plain.getBytes(StandardCharsets.UTF_8)).sha256();
  }

  private static final class RemoteTroubleException extends Exception {
    private static final long serialVersionUID = 1L;

    RemoteTroubleException(String reason) {
      super(reason, null, false, false);
    }
  }
}
