package dev.ichido.executor;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a handler must do, once.
 *
 * @param recordKey the operation's key as the topics carry it, {@code k1/tenant/scope/operation}
 * @param attempt number of the attempt, from 1; 0 for a read. A remote that can compare numbers may
 *     use it as a fence: a lower one than the last seen is stale
 * @param arguments JSON text as the runtime wrote it
 * @param downstreamKey the key to give to the remote, equal for every attempt of the operation;
 *     null for a read
 * @param deadline end of the lease; a call is not started at or after it
 * @param startWithin how long after its claim was asked for a call may start; null: until the
 *     deadline
 */
public record ToolCommand(
    Kind kind,
    String recordKey,
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
    String principal,
    @Nullable String downstreamKey,
    @Nullable Instant issuedAt,
    @Nullable Instant firstAttemptAt,
    @Nullable Instant deadline,
    @Nullable Duration startWithin,
    boolean leaseOver,
    @Nullable String workflowId,
    @Nullable String step,
    @Nullable String compensates) {

  /** What is asked of the executor. */
  public enum Kind {
    /** Perform the effect, under a claim. */
    EXECUTE,
    /** Perform a read, without a claim. */
    READ,
    /** Ask the remote what happened. */
    RECONCILE
  }

  /** True when the lease is over: at exactly its end it is. */
  boolean isOver(Instant now) {
    return deadline != null && !now.isBefore(deadline);
  }

  /** Names the operation and the attempt; never arguments. */
  @Override
  public String toString() {
    return kind + " " + recordKey + " attempt " + attempt + " " + action;
  }
}
