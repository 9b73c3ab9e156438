package dev.ichido.executor.wire;

import dev.ichido.executor.ToolCommand;
import dev.ichido.operation.OperationKey;
import dev.ichido.schemas.SideEffectCommand;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Reads commands. */
public final class CommandMapper {
  private CommandMapper() {}

  /** The record decodes, but no command can be made of it. */
  public static final class CommandInvalidException extends Exception {
    private static final long serialVersionUID = 1L;
    private final String code;

    private CommandInvalidException(String code, String member, String expected) {
      super(
          "Expected "
              + member
              + " "
              + expected
              + ", but it is not. Check who writes to the commands topic.");
      this.code = code;
    }

    CommandInvalidException(String member, String expected) {
      this("COMMAND_INVALID", member, expected);
    }

    /** The claim would be taken for another operation than the one that is performed. */
    static CommandInvalidException keyMismatch() {
      return new CommandInvalidException(
          "KEY_MISMATCH", "the record key", "to be that of the tenant, scope and operation");
    }

    /** Stable code: COMMAND_INVALID or KEY_MISMATCH. */
    public String code() {
      return code;
    }

    /** The record has no value. */
    public static CommandInvalidException empty() {
      return new CommandInvalidException("the record", "to have a value");
    }
  }

  /**
   * Makes a command of a record.
   *
   * @param key the record's key
   * @throws CommandInvalidException when a member is missing that the kind of command needs
   */
  public static ToolCommand toCommand(byte[] key, SideEffectCommand record)
      throws CommandInvalidException {
    ToolCommand.Kind kind =
        switch (record.getKind()) {
          case EXECUTE -> ToolCommand.Kind.EXECUTE;
          case READ -> ToolCommand.Kind.READ;
          case RECONCILE -> ToolCommand.Kind.RECONCILE;
          case UNRECOGNIZED ->
              throw new CommandInvalidException("kind", "to be one that this executor knows");
        };
    String recordKey = new String(key, StandardCharsets.UTF_8);
    require(
        !recordKey.isEmpty()
            && recordKey.length() <= OperationKey.MAX_RECORD_KEY
            && isPlain(recordKey),
        "the record key",
        "to be text of 1 to 2000 characters");
    require(isPlain(record.getCommandId()), "command_id", "to be text without NUL");
    require(isPlain(record.getAction()), "action", "to be text without NUL");
    if (kind == ToolCommand.Kind.READ) {
      require(record.getDeliveryId() != null, "delivery_id", "to be there for a READ");
    } else {
      require(record.getOperationId() != null, "operation_id", "to be there");
      require(record.getAttempt() > 0, "attempt", "to be above zero");
    }
    if (kind == ToolCommand.Kind.EXECUTE) {
      require(record.getDeadline() != null, "deadline", "to be there for an EXECUTE");
    }
    if (!recordKey.equals(expectedKey(record))) {
      throw CommandInvalidException.keyMismatch();
    }
    return new ToolCommand(
        kind,
        recordKey,
        record.getCommandId(),
        record.getTenant(),
        record.getScope(),
        record.getOperationId(),
        record.getDeliveryId(),
        record.getAttempt(),
        record.getRead(),
        record.getAction(),
        record.getActionVersion(),
        record.getTarget(),
        record.getArguments(),
        record.getPrecondition(),
        record.getPrincipal(),
        record.getDownstreamKey(),
        record.getIssuedAt(),
        record.getFirstAttemptAt(),
        record.getDeadline(),
        record.getStartWithinMs() == null ? null : Duration.ofMillis(record.getStartWithinMs()),
        record.getLeaseOver(),
        record.getWorkflowId(),
        record.getStep(),
        record.getCompensates());
  }

  /** A read without an operation is keyed by its delivery, under d1 in place of k1. */
  private static String expectedKey(SideEffectCommand record) {
    String operation = record.getOperationId();
    String delivery = record.getDeliveryId();
    String id = operation != null ? operation : String.valueOf(delivery);
    String key = new OperationKey(record.getTenant(), record.getScope(), id).recordKey();
    return operation != null ? key : "d1" + key.substring(2);
  }

  private static boolean isPlain(String text) {
    return text.indexOf('\0') < 0;
  }

  private static void require(boolean holds, String member, String expected)
      throws CommandInvalidException {
    if (!holds) {
      throw new CommandInvalidException(member, expected);
    }
  }
}
