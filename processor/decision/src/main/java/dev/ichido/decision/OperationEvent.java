package dev.ichido.decision;

import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.Refusal;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened. An event carries facts and its time; it never carries a judgement, since
 * ordering and judging facts is what {@link OperationStateMachine#decide} is for.
 */
public sealed interface OperationEvent {

  /** The processor's time, which never goes back within a task. */
  Instant at();

  /** The name of the event in the journal. */
  EventName name();

  /** Delivery id or report id; null for a deadline and for a cancel without a delivery. */
  @Nullable String eventId();

  /**
   * The operation that the event is about.
   *
   * @throws NullPointerException for a read or a refused intent without an operation id
   */
  OperationKey key();

  /** The kinds of event as the journal names them. */
  enum EventName {
    INTENT_RECEIVED,
    RESULT_REPORTED,
    READ_REPORTED,
    RECONCILIATION_REPORTED,
    RESOLUTION_RECEIVED,
    CANCEL_RECEIVED,
    COMPENSATION_ASKED,
    COMPENSATION_RELEASED,
    DEADLINE_REACHED
  }

  /**
   * A runtime asks for an action.
   *
   * @param refusal the first fault that validation found, if any
   * @param permitted whether the policy allows this principal this action on this target
   * @param terms of the action that the intent names, whatever its operation is bound to; not asked
   *     when there is a refusal
   * @param fingerprint what the intent means, under the version and the list that are stored with
   *     the operation or else the current one; null for a refused intent, and for a read except
   *     under the id of an operation of its own action
   * @param suspectOf operation id under which the same meaning is known
   * @param original how the operation stands that this one undoes, as its owner told; null while
   *     nobody has asked
   */
  record IntentReceived(
      Intent intent,
      Instant at,
      @Nullable Refusal refusal,
      boolean permitted,
      Terms terms,
      @Nullable Fingerprint fingerprint,
      RetryBudget budget,
      @Nullable String suspectOf,
      @Nullable OriginalStanding original)
      implements OperationEvent {
    /** An intent before anybody was asked about an operation that it undoes. */
    public IntentReceived(
        Intent intent,
        Instant at,
        @Nullable Refusal refusal,
        boolean permitted,
        Terms terms,
        @Nullable Fingerprint fingerprint,
        RetryBudget budget,
        @Nullable String suspectOf) {
      this(intent, at, refusal, permitted, terms, fingerprint, budget, suspectOf, null);
    }

    public IntentReceived {
      Objects.requireNonNull(intent, "intent");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(terms, "terms");
      Objects.requireNonNull(budget, "budget");
    }

    @Override
    public EventName name() {
      return EventName.INTENT_RECEIVED;
    }

    @Override
    public String eventId() {
      return intent.deliveryId();
    }

    @Override
    public OperationKey key() {
      return new OperationKey(
          intent.tenant(),
          intent.scope(),
          Objects.requireNonNull(intent.operationId(), "operationId"));
    }
  }

  /**
   * What an intent's own action says of it before anything is known of its operation.
   *
   * @param effect whether the action reads or writes
   * @param clockSkew how far ahead of us the issue time may be
   * @param lease how long a read may run; that of a write is the governing policy's
   */
  record Terms(ActionPolicy.ActionEffect effect, Duration clockSkew, Duration lease) {
    public Terms {
      Objects.requireNonNull(effect, "effect");
      Objects.requireNonNull(clockSkew, "clockSkew");
      Objects.requireNonNull(lease, "lease");
    }

    /** Those of an action. */
    public static Terms of(ActionPolicy policy) {
      return new Terms(policy.effect(), policy.clockSkew(), policy.lease());
    }
  }

  /** What became of an attempt, as its executor reports it. */
  enum AttemptOutcome {
    /** The effect took place. */
    SUCCEEDED,
    /** Proven not started. */
    FAILED_RETRYABLE,
    /** The remote refused for good. */
    FAILED_TERMINAL,
    /** It may have taken effect. */
    UNKNOWN
  }

  /**
   * An executor reports on an attempt.
   *
   * @param resultId equal when the same report is sent again
   * @param attempt that is reported on; null stands for the latest
   * @param retryAfter the remote's own wish for the time until the next attempt
   */
  record ResultReported(
      OperationKey key,
      Instant at,
      String resultId,
      @Nullable Integer attempt,
      AttemptOutcome outcome,
      Answer answer,
      @Nullable Duration retryAfter)
      implements OperationEvent {
    public ResultReported {
      Objects.requireNonNull(key, "key");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(resultId, "resultId");
      Objects.requireNonNull(outcome, "outcome");
      Objects.requireNonNull(answer, "answer");
    }

    @Override
    public EventName name() {
      return EventName.RESULT_REPORTED;
    }

    @Override
    public String eventId() {
      return resultId;
    }
  }

  /**
   * An executor reports what a read found.
   *
   * @param operationId null when the read carried none
   * @param succeeded whether there is an answer; otherwise the remote refused
   */
  record ReadReported(
      String tenant,
      String scope,
      @Nullable String operationId,
      String deliveryId,
      Principal principal,
      Instant at,
      String resultId,
      boolean succeeded,
      Answer answer)
      implements OperationEvent {
    public ReadReported {
      Objects.requireNonNull(tenant, "tenant");
      Objects.requireNonNull(scope, "scope");
      Objects.requireNonNull(deliveryId, "deliveryId");
      Objects.requireNonNull(principal, "principal");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(resultId, "resultId");
      Objects.requireNonNull(answer, "answer");
    }

    @Override
    public EventName name() {
      return EventName.READ_REPORTED;
    }

    @Override
    public String eventId() {
      return resultId;
    }

    @Override
    public OperationKey key() {
      return new OperationKey(tenant, scope, Objects.requireNonNull(operationId, "operationId"));
    }
  }

  /** What a status read found. */
  enum Found {
    /** The effect took place. */
    COMMITTED,
    /** The remote knows nothing of it. */
    ABSENT,
    /** The remote could not say. */
    UNKNOWN
  }

  /**
   * An executor reports on a status read.
   *
   * @param attempt that was asked about; null stands for the latest
   * @param readAt the executor's time of the read; counted only where it is before {@code at}
   */
  record ReconciliationReported(
      OperationKey key,
      Instant at,
      String resultId,
      @Nullable Integer attempt,
      Found found,
      Answer answer,
      Instant readAt)
      implements OperationEvent {
    public ReconciliationReported {
      Objects.requireNonNull(key, "key");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(resultId, "resultId");
      Objects.requireNonNull(found, "found");
      Objects.requireNonNull(answer, "answer");
      Objects.requireNonNull(readAt, "readAt");
    }

    @Override
    public EventName name() {
      return EventName.RECONCILIATION_REPORTED;
    }

    @Override
    public String eventId() {
      return resultId;
    }
  }

  /** What a person settles an operation as. */
  enum ResolvedAs {
    SUCCEEDED,
    FAILED_TERMINAL,
    NOT_STARTED
  }

  /**
   * A person settles an operation.
   *
   * @param attempt number of the latest attempt when they looked; null when they do not say
   * @param by who; must say something
   * @param evidence why they are sure; must say something
   * @param permitted whether the person has the role for it
   */
  record ResolutionReceived(
      OperationKey key,
      Instant at,
      String resolutionId,
      @Nullable Integer attempt,
      ResolvedAs as,
      String by,
      String evidence,
      boolean permitted,
      Answer answer)
      implements OperationEvent {
    public ResolutionReceived {
      Objects.requireNonNull(key, "key");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(resolutionId, "resolutionId");
      Objects.requireNonNull(as, "as");
      Objects.requireNonNull(by, "by");
      Objects.requireNonNull(evidence, "evidence");
      Objects.requireNonNull(answer, "answer");
    }

    @Override
    public EventName name() {
      return EventName.RESOLUTION_RECEIVED;
    }

    @Override
    public String eventId() {
      return resolutionId;
    }
  }

  /**
   * A runtime or a person wants no further attempt.
   *
   * @param operationId null only in a cancel that is refused
   * @param deliveryId null when nobody waits for an answer
   * @param issuedAt when the operation was first issued, as in its intent; null where none is said
   * @param horizon how old the operation may be for its absence to say that it never was: that of
   *     the action which the cancel names, else the shortest of all
   * @param clockSkew how far ahead of us the issue time may be: that of the action which the cancel
   *     names, else the longest of all
   * @param refusal the first fault that validation found, if any
   * @param permitted whether the policy allows this principal to cancel
   */
  record CancelReceived(
      String tenant,
      String scope,
      @Nullable String operationId,
      Instant at,
      Principal principal,
      @Nullable String deliveryId,
      @Nullable Instant issuedAt,
      Duration horizon,
      Duration clockSkew,
      @Nullable Refusal refusal,
      boolean permitted)
      implements OperationEvent {
    public CancelReceived {
      Objects.requireNonNull(tenant, "tenant");
      Objects.requireNonNull(scope, "scope");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(principal, "principal");
      Objects.requireNonNull(horizon, "horizon");
      Objects.requireNonNull(clockSkew, "clockSkew");
    }

    @Override
    public EventName name() {
      return EventName.CANCEL_RECEIVED;
    }

    @Override
    public @Nullable String eventId() {
      return deliveryId;
    }

    @Override
    public OperationKey key() {
      return new OperationKey(tenant, scope, Objects.requireNonNull(operationId, "operationId"));
    }
  }

  /**
   * A compensation asks the operation that it undoes whether it may.
   *
   * @param key of the operation that would be undone
   * @param compensation operation id of the one that asks
   * @param principal that asks for the compensation
   */
  record CompensationAsked(
      OperationKey key, Instant at, String compensation, String deliveryId, Principal principal)
      implements OperationEvent {
    public CompensationAsked {
      Objects.requireNonNull(key, "key");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(compensation, "compensation");
      Objects.requireNonNull(deliveryId, "deliveryId");
      Objects.requireNonNull(principal, "principal");
    }

    @Override
    public EventName name() {
      return EventName.COMPENSATION_ASKED;
    }

    @Override
    public String eventId() {
      return deliveryId;
    }
  }

  /**
   * A compensation did not come to take effect and never will, so that another one may.
   *
   * @param key of the operation that would have been undone
   * @param compensation operation id of the one that gives up
   */
  record CompensationReleased(OperationKey key, Instant at, String compensation)
      implements OperationEvent {
    public CompensationReleased {
      Objects.requireNonNull(key, "key");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(compensation, "compensation");
    }

    @Override
    public EventName name() {
      return EventName.COMPENSATION_RELEASED;
    }

    @Override
    public String eventId() {
      return compensation;
    }
  }

  /** The sweep came to a deadline of the operation. A stale one does no harm. */
  record DeadlineReached(OperationKey key, Instant at, RetryBudget budget)
      implements OperationEvent {
    public DeadlineReached {
      Objects.requireNonNull(key, "key");
      Objects.requireNonNull(at, "at");
      Objects.requireNonNull(budget, "budget");
    }

    @Override
    public EventName name() {
      return EventName.DEADLINE_REACHED;
    }

    @Override
    public @Nullable String eventId() {
      return null;
    }
  }
}
