package dev.ichido.executor;

import org.jspecify.annotations.Nullable;

/** A refusal of the executor, with a stable code. */
public final class ExecutorException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  private ExecutorException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** A contract that can't be used. {@code where} names the action and the member. */
  public static ExecutorException contractInvalid(String where, String message) {
    return new ExecutorException("CONTRACT_INVALID", where + ": " + message, null);
  }

  /** A contract would send in the clear to another machine. */
  public static ExecutorException tlsRequired(String where) {
    return new ExecutorException(
        "TLS_REQUIRED",
        where
            + ": Expected https for a host that is not loopback, but it is http. Use https, or set"
            + " plain_http where the network is trusted.",
        null);
  }

  /** The file of trusted certificates can't be used. */
  public static ExecutorException trustUnusable(String remote, Throwable cause) {
    return new ExecutorException(
        "TRUST_UNUSABLE",
        "Expected the trust file of "
            + remote
            + " to hold certificates in PEM, but it does not. Check the path and the file.",
        cause);
  }

  /** The JVM is set to repeat requests behind our back. */
  public static ExecutorException hiddenRetry(String property) {
    return new ExecutorException(
        "HIDDEN_RETRY",
        "Expected the system property "
            + property
            + " to be unset, but it is set. Remove it: the HTTP client would repeat a write by itself.",
        null);
  }

  /** The claims can't be reached or the statement failed. */
  public static ExecutorException claimsUnavailable(Throwable cause) {
    return new ExecutorException(
        "CLAIMS_UNAVAILABLE",
        "Expected the claims database to answer, but the statement failed. Check that it is up and"
            + " that the role may write the schema ichido.",
        cause);
  }

  /** A setting that can't hold. */
  public static ExecutorException configInvalid(String member, String expected) {
    return new ExecutorException(
        "CONFIG_INVALID",
        "Expected "
            + member
            + " to be "
            + expected
            + ", but it is not. Check the executor's settings.",
        null);
  }

  /** Stable code of the refusal. */
  public String code() {
    return code;
  }
}
