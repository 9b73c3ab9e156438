package dev.ichido.benchmark;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.Answer;
import dev.ichido.decision.Decision;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationEvent.Terms;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationStateMachine;
import dev.ichido.decision.RetryBudget;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Instant;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What one decision costs, by what is decided. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class DecideBenchmark {
  private final ActionPolicy policy = ActionPolicy.standard("pay.transfer");
  private final OperationKey key = new OperationKey("t1", "global", "op-0000000000000001");
  private final Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final IntentReceived first = intent("d-1", "f");
  private final IntentReceived duplicate = intent("d-1", "f");
  private final IntentReceived other = intent("d-2", "g");
  private final ResultReported success =
      new ResultReported(
          key,
          now,
          "r-1",
          1,
          AttemptOutcome.SUCCEEDED,
          Answer.of("ref-1", "{\"receipt\":\"r-1\"}"),
          null);
  private final DeadlineReached stale = new DeadlineReached(key, now, RetryBudget.full(now));
  private final OperationState absent = OperationState.Absent.NOTHING;
  private final OperationState running = OperationStateMachine.decide(absent, first, policy).next();
  private final OperationState settled =
      OperationStateMachine.decide(running, success, policy).next();

  private IntentReceived intent(String delivery, String meaning) {
    TreeMap<String, String> members = new TreeMap<>();
    members.put("arguments.amount", meaning);
    members.put("target", "acct");
    return new IntentReceived(
        new Intent(
            key.tenant(),
            key.scope(),
            key.operationId(),
            delivery,
            new Principal("agent:a"),
            "pay.transfer",
            null,
            "acct:1",
            "{\"amount\":100}",
            null,
            null,
            now,
            null,
            null,
            null),
        now,
        null,
        true,
        Terms.of(policy),
        new Fingerprint(1, meaning, members),
        RetryBudget.full(now),
        null);
  }

  /** A first intent: two derived ids, a command and a reply. */
  @Benchmark
  public Decision claim() {
    return OperationStateMachine.decide(absent, first, policy);
  }

  /** A redelivery while the attempt runs. */
  @Benchmark
  public Decision duplicateInProgress() {
    return OperationStateMachine.decide(running, duplicate, policy);
  }

  /** Another meaning under the same id. */
  @Benchmark
  public Decision mismatch() {
    return OperationStateMachine.decide(running, other, policy);
  }

  /** A success: one digest of the body, a reply to who waits. */
  @Benchmark
  public Decision settle() {
    return OperationStateMachine.decide(running, success, policy);
  }

  /** A stored result is given again. */
  @Benchmark
  public Decision replay() {
    return OperationStateMachine.decide(settled, duplicate, policy);
  }

  /** A deadline that is no longer due. */
  @Benchmark
  public Decision staleDeadline() {
    return OperationStateMachine.decide(running, stale, policy);
  }
}
