package dev.ichido.executor;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Commands for tests. */
public final class Commands {
  private static final Instant FAR = Instant.parse("2200-01-01T00:00:00Z");

  private Commands() {}

  public static ToolCommand execute(String operation, String arguments) {
    return command(ToolCommand.Kind.EXECUTE, operation, 1, arguments, null, false);
  }

  public static ToolCommand reconcile(String operation, int attempt, boolean leaseOver) {
    return command(
        ToolCommand.Kind.RECONCILE, operation, attempt, note(operation), null, leaseOver);
  }

  /** Arguments that name their operation, so that the remote's book can tell. */
  public static String note(String operation) {
    return "{\"amount\":100,\"note\":\"" + operation + "\"}";
  }

  /** With a deadline that never comes where none is given and one is needed. */
  public static ToolCommand command(
      ToolCommand.Kind kind,
      String operation,
      int attempt,
      String arguments,
      @Nullable Instant deadline,
      boolean leaseOver) {
    return new ToolCommand(
        kind,
        "k1/t1/global/" + operation,
        "cmd-" + operation + "-" + kind + "-" + attempt,
        "t1",
        "global",
        operation,
        kind == ToolCommand.Kind.READ ? "d-" + operation : null,
        attempt,
        1,
        "pay.transfer",
        null,
        "acct:1",
        arguments,
        null,
        "agent:a",
        "key-" + operation,
        Instant.EPOCH,
        Instant.EPOCH,
        deadline == null && kind == ToolCommand.Kind.EXECUTE ? FAR : deadline,
        null,
        leaseOver,
        null,
        null,
        null);
  }

  /** The same, of another action. */
  public static ToolCommand of(String action, ToolCommand c) {
    return copy(c, action, c.startWithin());
  }

  /** The same, whose claim must not be older than that. */
  static ToolCommand startingWithin(Duration startWithin, ToolCommand c) {
    return copy(c, c.action(), startWithin);
  }

  private static ToolCommand copy(ToolCommand c, String action, @Nullable Duration startWithin) {
    return new ToolCommand(
        c.kind(),
        c.recordKey(),
        c.commandId(),
        c.tenant(),
        c.scope(),
        c.operationId(),
        c.deliveryId(),
        c.attempt(),
        c.read(),
        action,
        c.actionVersion(),
        c.target(),
        c.arguments(),
        c.precondition(),
        c.principal(),
        c.downstreamKey(),
        c.issuedAt(),
        c.firstAttemptAt(),
        c.deadline(),
        startWithin,
        c.leaseOver(),
        c.workflowId(),
        c.step(),
        c.compensates());
  }

  /** What is kept of an attempt that was revoked before it began. */
  public static Report revoked(String reportId, Instant at) {
    return new Report(
        Report.Kind.ATTEMPT,
        Report.Finding.FAILED_RETRYABLE,
        reportId,
        null,
        null,
        null,
        0,
        null,
        "REVOKED",
        null,
        0,
        null,
        at);
  }
}
