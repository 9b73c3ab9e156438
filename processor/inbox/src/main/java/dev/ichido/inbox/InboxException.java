package dev.ichido.inbox;

/** The inbox can't go on or can't be read, with a stable code. */
public final class InboxException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  private InboxException(String code, String message, Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** The database does not answer a reader. */
  public static InboxException databaseUnavailable(Throwable cause) {
    return new InboxException(
        "INBOX_UNAVAILABLE",
        "Expected the inbox's database to answer, but the statement failed. Check that it is up and"
            + " that the role may read the schema ichido.",
        cause);
  }

  /** Stable code. */
  public String code() {
    return code;
  }
}
