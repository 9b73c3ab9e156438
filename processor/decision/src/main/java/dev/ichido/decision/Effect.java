package dev.ichido.decision;

import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Something the adapter must write. Effects are data with all their content. */
public sealed interface Effect {

  /** What an executor is asked for. */
  enum CommandKind {
    /** Perform the effect, under a claim. */
    EXECUTE,
    /** Perform a read, without a claim. */
    READ,
    /** Ask the remote what became of an attempt. */
    RECONCILE
  }

  /**
   * What an executor must do. Every id in it is derived.
   *
   * @param operationId null only in a read without one
   * @param deliveryId of the delivery that a read answers; null otherwise
   * @param attempt from 1; 0 in a read
   * @param read number of the status read of this attempt, from 1; 0 unless it is one
   * @param principal that the operation is bound to; in a read the one that asks
   * @param fingerprintVersion 0 in a read
   * @param downstreamKey the remote's idempotency key; null in a read
   * @param issuedAt null only where none was given
   * @param firstAttemptAt null in a read
   * @param deadline a call is not started at or after it; null in a status read
   * @param startWithin how long after its claim was asked for a call may start, whatever the clocks
   *     of processor and executor say; null: until the deadline
   * @param leaseOver in a status read: the lease ended without a report, so that the claim is to be
   *     revoked first
   */
  record Command(
      CommandKind kind,
      String commandId,
      String tenant,
      String scope,
      @Nullable String operationId,
      @Nullable String deliveryId,
      int attempt,
      int read,
      String action,
      @Nullable String actionVersion,
      @Nullable String target,
      String arguments,
      @Nullable String precondition,
      Principal principal,
      int fingerprintVersion,
      @Nullable String downstreamKey,
      @Nullable Instant issuedAt,
      @Nullable Instant firstAttemptAt,
      @Nullable Instant deadline,
      @Nullable Duration startWithin,
      boolean leaseOver,
      @Nullable String workflowId,
      @Nullable String step,
      @Nullable String compensates) {
    public Command {
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(commandId, "commandId");
      Objects.requireNonNull(tenant, "tenant");
      Objects.requireNonNull(scope, "scope");
      Objects.requireNonNull(action, "action");
      Objects.requireNonNull(arguments, "arguments");
      Objects.requireNonNull(principal, "principal");
    }

    /** Names the attempt and never the arguments. */
    @Override
    public String toString() {
      return "Command[%s, %s, %s, attempt=%d, read=%d]"
          .formatted(kind, commandId, operationId, attempt, read);
    }
  }

  /** An attempt or a read leaves: {@link CommandKind#EXECUTE} or {@link CommandKind#READ}. */
  record DispatchCommand(Command command) implements Effect {
    public DispatchCommand {
      Objects.requireNonNull(command, "command");
    }
  }

  /** The remote is to be asked: {@link CommandKind#RECONCILE}. */
  record RequestReconciliation(Command command) implements Effect {
    public RequestReconciliation {
      Objects.requireNonNull(command, "command");
    }
  }

  /** A token is taken from the retry budget of the tenant and action. */
  record ChargeRetryBudget(String tenant, String action, Instant at) implements Effect {
    public ChargeRetryBudget {
      Objects.requireNonNull(tenant, "tenant");
      Objects.requireNonNull(action, "action");
      Objects.requireNonNull(at, "at");
    }
  }

  /**
   * The token that comes next is waited for by an operation that is parked until then: who is
   * parked after it is told of the one that follows.
   */
  record PromiseRetryToken(String tenant, String action, Instant at, Instant comesAt)
      implements Effect {
    public PromiseRetryToken {
      Objects.requireNonNull(tenant, "tenant");
      Objects.requireNonNull(action, "action");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(comesAt, "comesAt");
    }
  }

  /**
   * The operation that would be undone is asked; the intent is decided on again with its answer.
   *
   * @param original that would be undone
   * @param compensation operation id of the one that would undo it
   */
  record AskOriginal(
      OperationKey original, String compensation, String deliveryId, Principal principal)
      implements Effect {
    public AskOriginal {
      Objects.requireNonNull(original, "original");
      Objects.requireNonNull(compensation, "compensation");
      Objects.requireNonNull(deliveryId, "deliveryId");
      Objects.requireNonNull(principal, "principal");
    }
  }

  /** The compensation that asked is told how the operation stands. */
  record TellCompensation(OriginalStanding standing) implements Effect {
    public TellCompensation {
      Objects.requireNonNull(standing, "standing");
    }
  }

  /** The operation that would have been undone is told that this compensation gives up. */
  record ReleaseOriginal(OperationKey original, String compensation) implements Effect {
    public ReleaseOriginal {
      Objects.requireNonNull(original, "original");
      Objects.requireNonNull(compensation, "compensation");
    }
  }

  /**
   * Whom a reply goes to.
   *
   * @param operationId null where the delivery carried none
   */
  record ReplyAddress(
      String tenant,
      String scope,
      @Nullable String operationId,
      String deliveryId,
      Principal principal) {
    public ReplyAddress {
      Objects.requireNonNull(tenant, "tenant");
      Objects.requireNonNull(scope, "scope");
      Objects.requireNonNull(deliveryId, "deliveryId");
      Objects.requireNonNull(principal, "principal");
    }

    static ReplyAddress of(OperationKey key, WaitingDelivery delivery) {
      return new ReplyAddress(
          key.tenant(),
          key.scope(),
          key.operationId(),
          delivery.deliveryId(),
          delivery.principal());
    }
  }

  /**
   * One delivery is told something.
   *
   * @param code name of a {@link ReasonCode} or {@link dev.ichido.operation.RefusalCode}
   * @param detail a sentence for a person; names, never values
   * @param state null where the verdict must not tell, or nothing is known
   * @param attempt 0 where there is none or the verdict must not tell
   * @param last no further reply follows for this delivery
   * @param marker null where no result is released
   * @param answer null where no result is released
   * @param originalAt when the operation was settled; null where no result is released
   * @param retryAt earliest time of the next attempt or status read
   * @param differing names of the members that differ
   */
  record SendReply(
      ReplyAddress to,
      Verdict verdict,
      @Nullable String code,
      @Nullable String detail,
      @Nullable StateName state,
      int attempt,
      long revision,
      boolean last,
      @Nullable Marker marker,
      @Nullable Answer answer,
      @Nullable Instant originalAt,
      @Nullable Instant leaseUntil,
      @Nullable Instant retryAt,
      List<String> differing,
      Instant decidedAt)
      implements Effect {
    public SendReply {
      Objects.requireNonNull(to, "to");
      Objects.requireNonNull(verdict, "verdict");
      differing = List.copyOf(differing);
      Objects.requireNonNull(decidedAt, "decidedAt");
    }
  }
}
