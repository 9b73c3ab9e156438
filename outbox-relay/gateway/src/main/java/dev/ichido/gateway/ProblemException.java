package dev.ichido.gateway;

import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A request that ends with a problem document of the door's own. */
final class ProblemException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final String DATA_EXCEPTION = "22";

  private final ProblemCode code;
  private final @Nullable Duration retryAfter;

  ProblemException(
      ProblemCode code, String detail, @Nullable Duration retryAfter, @Nullable Throwable cause) {
    super(detail, cause, false, false);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** A text that the database can't hold, or a database that does not answer. */
  static ProblemException of(SQLException cause) {
    if (String.valueOf(cause.getSQLState()).startsWith(DATA_EXCEPTION)) {
      return ProblemCode.FIELD_MALFORMED.because(
          "Expected text in every part of the request, but one has a character such as NUL. Check"
              + " the client.");
    }
    return new ProblemException(
        ProblemCode.DATABASE_UNAVAILABLE,
        "Expected the database to answer, but it did not. Send the same request with the same key"
            + " again.",
        Duration.ofSeconds(2),
        cause);
  }

  ProblemException after(Duration wait) {
    return new ProblemException(code, detail(), wait, getCause());
  }

  ProblemCode code() {
    return code;
  }

  String detail() {
    return String.valueOf(getMessage());
  }

  @Nullable Duration retryAfter() {
    return retryAfter;
  }
}
