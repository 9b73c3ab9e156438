package dev.ichido.topology.policy;

import org.jspecify.annotations.Nullable;

/** A policy that cannot be used. The code is stable, the message says what to check. */
public final class PolicyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  private PolicyException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** A stable word such as WINDOW_EXCEEDED. */
  public String code() {
    return code;
  }

  static PolicyException notReadable(String source, String found, @Nullable Throwable cause) {
    return new PolicyException(
        "POLICY_NOT_READABLE",
        "Expected %s to be YAML or JSON, but %s. Check its quotes and indentation."
            .formatted(source, found),
        cause);
  }

  static PolicyException memberUnknown(String where, Iterable<String> known) {
    return new PolicyException(
        "POLICY_MEMBER_UNKNOWN",
        "Expected a known member, but found %s. Check its spelling; known here: %s."
            .formatted(where, String.join(", ", known)),
        null);
  }

  static PolicyException memberMissing(String where) {
    return new PolicyException(
        "POLICY_MEMBER_MISSING",
        "Expected a value, but %s has none. Check that it is stated.".formatted(where),
        null);
  }

  static PolicyException valueWrong(String where, String expected) {
    return new PolicyException(
        "POLICY_VALUE_WRONG",
        "Expected %s, but %s is not. Check its value.".formatted(expected, where),
        null);
  }

  static PolicyException authorizeWrong(String where, String found) {
    return new PolicyException(
        "AUTHORIZE_WRONG",
        "Expected a CEL expression of type bool, but %s: %s. Check it against the variables"
                .formatted(where, found)
            + " principal, tenant, action, target and arguments.",
        null);
  }

  static PolicyException schemaWrong(String where, String found) {
    return new PolicyException(
        "SCHEMA_WRONG",
        "Expected a JSON Schema, but %s: %s. Check it against draft 2020-12."
            .formatted(where, found),
        null);
  }

  static PolicyException providerUnknown(String where, Iterable<String> known) {
    return new PolicyException(
        "PROVIDER_UNKNOWN",
        "Expected a provider of the catalogue, but %s names none. Check its spelling; known: %s."
            .formatted(where, String.join(", ", known)),
        null);
  }

  static PolicyException windowExceeded(String where, String member, String window) {
    return new PolicyException(
        "WINDOW_EXCEEDED",
        ("Expected %s plus clock_skew to be below the remote's dedupe window of %s, but for %s it is"
                + " not. Check %s, or do not rely on the remote's key (dedupes_on_key: false).")
            .formatted(member, window, where, member),
        null);
  }
}
