package dev.ichido.executor;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Commands for tests. */
public final class Commands {
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
        deadline,
        leaseOver,
        null,
        null,
        null);
  }
}
