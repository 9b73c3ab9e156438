package dev.ichido.outbox;

import java.util.List;

/** An operation that gets no identity: nothing that stays the same over a retry is known of it. */
public final class IdentityException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Stable codes. */
  public enum Code {
    /** The tenant's key is shorter than {@link TenantKey#MIN_BYTES}. */
    TENANT_KEY_SHORT,
    /** There is neither a namespace nor a part to derive from. */
    NOTHING_TO_DERIVE_FROM,
    /** A number has more than 100 digits or an exponent beyond 308. */
    NUMBER_OUT_OF_RANGE,
    /** The arguments lack declared key fields, or hold null there. */
    KEY_FIELD_MISSING,
    /** A declared key field holds neither text nor an exact number nor a truth value. */
    KEY_FIELD_TYPE,
    /**
     * Runtime, thread or turn is not named. The call id alone is no identity: a model that is asked
     * again makes another one, and some providers use the same ones in every turn.
     */
    LINEAGE_INCOMPLETE
  }

  private final Code code;

  private IdentityException(Code code, String message) {
    super(message);
    this.code = code;
  }

  static IdentityException tenantKeyShort(int bytes) {
    return new IdentityException(
        Code.TENANT_KEY_SHORT,
        "Expected a tenant key of at least %d bytes, but it has %d. Check the key in the configuration."
            .formatted(TenantKey.MIN_BYTES, bytes));
  }

  static IdentityException nothingToDeriveFrom() {
    return new IdentityException(
        Code.NOTHING_TO_DERIVE_FROM,
        "Expected a namespace and at least one part, but one is missing. Check which fields tell this operation from every other.");
  }

  static IdentityException numberOutOfRange(int digits, long exponent) {
    return new IdentityException(
        Code.NUMBER_OUT_OF_RANGE,
        "Expected a number of at most 100 digits with an exponent within 308, but it has %d and %d. Check whether it is an identifier, which belongs into a text."
            .formatted(digits, exponent));
  }

  static IdentityException keyFieldsMissing(List<String> names) {
    return new IdentityException(
        Code.KEY_FIELD_MISSING,
        "Expected every key field of the action in the arguments, but %s are missing or null. Check the declared key fields and how the arguments are built."
            .formatted(names));
  }

  static IdentityException keyFieldType(String name, String type) {
    return new IdentityException(
        Code.KEY_FIELD_TYPE,
        "Expected text, an exact number or a truth value in key field %s, but it is a %s. Check that numbers are read as BigDecimal or BigInteger; a double is spelled differently by different JDKs."
            .formatted(name, type));
  }

  static IdentityException lineageIncomplete(List<String> names) {
    return new IdentityException(
        Code.LINEAGE_INCOMPLETE,
        "Expected runtime, thread, turn and an index of at least 0, but %s are not. Check the runtime's own ids; a call id alone is no identity."
            .formatted(names));
  }

  /** What is wrong. */
  public Code code() {
    return code;
  }
}
