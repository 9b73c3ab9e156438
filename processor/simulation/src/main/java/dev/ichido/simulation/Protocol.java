package dev.ichido.simulation;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.Decision;
import dev.ichido.decision.OperationEvent;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationStateMachine;
import dev.ichido.executor.AttemptProtocol;
import dev.ichido.executor.AttemptProtocol.Next;
import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The rules that the simulated roles follow: those that are shipped, unless a test breaks one on
 * purpose to see that it is found.
 *
 * @param guarantee what a crash of the processor leaves of what it wrote
 * @param ledger place in the ledger of an operation, both as numbers
 */
public record Protocol(
    Decider decider,
    ExecutorRules executor,
    RelayRules relay,
    Guarantee guarantee,
    IntUnaryOperator ledger) {

  /** As shipped. */
  public static final Protocol SHIPPED =
      new Protocol(
          OperationStateMachine::decide,
          new ExecutorRules() {},
          RelayRules.SHIPPED,
          Guarantee.EXACTLY_ONCE,
          operation -> operation);

  /** What the processor's writes are to a crash. */
  public enum Guarantee {
    /** State, outputs and positions are one transaction, and a zombie is fenced. */
    EXACTLY_ONCE,
    /** Each gets through for itself, and those of a zombie too; positions are committed last. */
    AT_LEAST_ONCE
  }

  /** Judges one event. */
  @FunctionalInterface
  public interface Decider {
    Decision decide(
        OperationState state, OperationEvent event, Instant heardUntil, ActionPolicy policy);
  }

  /** What an executor asks itself between its steps. */
  public interface ExecutorRules {
    default Optional<ClaimRequest> claim(ToolCommand command, Instant now) {
      return AttemptProtocol.claim(command, now, null);
    }

    default ClaimAnswer granted(
        ToolCommand command,
        ClaimRequest request,
        ClaimAnswer answer,
        String owner,
        boolean askedBefore) {
      return AttemptProtocol.granted(command, request, answer, owner, askedBefore);
    }

    default Next next(ToolCommand command, @Nullable ClaimAnswer claim) {
      return AttemptProtocol.next(command, claim);
    }

    default boolean mayStart(ToolCommand command, Instant now, Duration sinceClaim) {
      return AttemptProtocol.whyNotStart(command, now, sinceClaim).isEmpty();
    }

    /** What a call was that got no answer. */
    default Finding unanswered() {
      return Finding.UNKNOWN;
    }
  }

  /**
   * What moves the relay's position.
   *
   * @param marksFirst the slot moves before the batch is acknowledged
   * @param byRowId rows are looked for by a growing number instead of in commit order
   */
  public record RelayRules(boolean marksFirst, boolean byRowId) {
    static final RelayRules SHIPPED = new RelayRules(false, false);
  }

  /** The same rules with another judge. */
  public Protocol with(Decider next) {
    return new Protocol(next, executor, relay, guarantee, ledger);
  }

  /** The same rules with another executor. */
  public Protocol with(ExecutorRules next) {
    return new Protocol(decider, next, relay, guarantee, ledger);
  }

  /** The same rules with another relay. */
  public Protocol with(RelayRules next) {
    return new Protocol(decider, executor, next, guarantee, ledger);
  }

  /** The same rules on another kind of processor. */
  public Protocol with(Guarantee next) {
    return new Protocol(decider, executor, relay, next, ledger);
  }

  /** The same rules with another way to tell operations apart. */
  public Protocol with(IntUnaryOperator next) {
    return new Protocol(decider, executor, relay, guarantee, next);
  }
}
