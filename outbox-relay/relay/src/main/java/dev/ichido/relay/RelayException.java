package dev.ichido.relay;

import org.jspecify.annotations.Nullable;

/**
 * Why the relay can't start or go on, with a stable code. No message carries a secret or a value of
 * a row.
 */
public final class RelayException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Stable codes. */
  public enum Code {
    DATABASE_URL(true),
    DATABASE_UNREACHABLE(false),
    DATABASE_ACCESS(false),
    DATABASE_MISSING(false),
    DATABASE_FAILED(false),
    WAL_LEVEL(true),
    REPLICATION_DENIED(true),
    OUTBOX_MISSING(true),
    OUTBOX_NOT_EMPTY(true),
    PUBLICATION_MISSING(true),
    PUBLICATION_UNFIT(true),
    SLOT_MISSING(true),
    SLOT_LOST(true),
    SLOT_UNFIT(true),
    NAME_UNUSABLE(true),
    BACKFILL_UNFINISHED(false),
    OUTBOX_GAP(false),
    SLOT_HELD(false),
    BROKER_UNREACHABLE(false),
    BROKER_ACCESS(false),
    TOPIC_MISSING(false),
    REGISTRY(false),
    FENCED(false),
    ENGINE_FAILED(false);

    private final boolean needsAPerson;

    Code(boolean needsAPerson) {
      this.needsAPerson = needsAPerson;
    }

    /** Trying again does not help. */
    public boolean needsAPerson() {
      return needsAPerson;
    }
  }

  private final Code code;

  private RelayException(Code code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  static RelayException of(
      Code code, String expected, String found, String check, @Nullable Throwable cause) {
    return new RelayException(
        code, "Expected " + expected + ", but " + found + ". Check " + check + ".", cause);
  }

  static RelayException of(Code code, String expected, String found, String check) {
    return of(code, expected, found, check, null);
  }

  /** One whose message has the form already. */
  static RelayException wrapping(Code code, RuntimeException cause) {
    return new RelayException(code, String.valueOf(cause.getMessage()), cause);
  }

  public Code code() {
    return code;
  }
}
