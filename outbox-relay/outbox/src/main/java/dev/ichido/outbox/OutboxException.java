package dev.ichido.outbox;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The outbox refused an intent. Where the database said so, the caller's transaction is aborted, as
 * after any error of PostgreSQL: roll it back.
 */
public final class OutboxException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Stable codes. */
  public enum Code {
    /**
     * The connection commits every statement by itself, so nothing joins the intent to the caller's
     * own state.
     */
    NO_TRANSACTION,
    /** There is no outbox in this database, or one of another version. */
    OUTBOX_MISSING,
    /** The database user may not publish. */
    PERMISSION_DENIED,
    /** The database's own check found an argument missing or not usable. */
    REFUSED,
    /** The relay is so far behind that writing more would cost the log it still needs. */
    OUTBOX_BEHIND
  }

  private final Code code;

  private OutboxException(Code code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  static OutboxException noTransaction() {
    return new OutboxException(
        Code.NO_TRANSACTION,
        "Expected a connection inside a transaction, but auto-commit is on. Check that the intent is published in"
            + " the transaction of the state that it belongs to.",
        null);
  }

  /** The typed form of an error of the database, or the error itself where it is none of ours. */
  static OutboxException typedOrThrow(SQLException error) throws SQLException {
    String state = error.getSQLState() == null ? "" : error.getSQLState();
    return switch (state) {
      case "ICH01", "ICH02" -> new OutboxException(Code.REFUSED, plain(error), error);
      case "ICH03" -> new OutboxException(Code.OUTBOX_BEHIND, plain(error), error);
      case "3F000", "42883" ->
          new OutboxException(
              Code.OUTBOX_MISSING,
              "Expected the function ichido.publish_intent, but the database has none with these arguments. Check"
                  + " the database name, and that its migrations ran.",
              error);
      case "42501" ->
          new OutboxException(
              Code.PERMISSION_DENIED,
              "Expected the right to publish, but the database denied it. Check the grants named at the head of"
                  + " V1__outbox.sql.",
              error);
      default -> throw error;
    };
  }

  private static String plain(SQLException error) {
    String text = String.valueOf(error.getMessage());
    int start = text.indexOf("Expected ");
    int end = text.indexOf('\n');
    return text.substring(Math.max(start, 0), end > start ? end : text.length());
  }

  public Code code() {
    return code;
  }
}
