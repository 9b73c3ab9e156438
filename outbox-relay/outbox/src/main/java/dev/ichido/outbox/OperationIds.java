package dev.ichido.outbox;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Derives operation ids. An id is made once, before the first send, and stored with the intent; it
 * is a function of what stays the same over every retry, and there is no method that makes one of
 * nothing. Two runtimes, JVMs or restarts that know the same parts and key make the same id.
 */
public final class OperationIds {
  private static final String RULE = "ichido/operation-id/1";
  private static final String KEY_FIELDS = "key-fields/";
  private static final String LINEAGE = "lineage";

  private OperationIds() {}

  /**
   * The id of an operation: its business identity where the action declares key fields, otherwise
   * its place in the run. An action with key fields never falls back to the place: arguments that
   * lack one are refused, since the next try might hold it and be another operation.
   *
   * @param keyFields what the action declares, or null when it declares none
   * @param arguments top-level members as values: text, BigDecimal, BigInteger, long, int, boolean
   * @throws IdentityException when there is no identity
   */
  public static String identify(
      TenantKey key,
      String action,
      @Nullable KeyFields keyFields,
      Map<String, ? extends @Nullable Object> arguments,
      Lineage lineage) {
    return keyFields == null
        ? fromLineage(key, lineage)
        : fromKeyFields(key, action, keyFields, arguments);
  }

  /**
   * The id of an operation by its business identity: action, and name and value of each key field.
   *
   * @throws IdentityException {@code KEY_FIELD_MISSING} or {@code KEY_FIELD_TYPE}
   */
  public static String fromKeyFields(
      TenantKey key,
      String action,
      KeyFields keyFields,
      Map<String, ? extends @Nullable Object> arguments) {
    return derive(key, KEY_FIELDS + action, keyFields.partsOf(arguments));
  }

  /**
   * The id of an operation by its place in a run. The action is no part of it: a model that calls
   * another tool in the same place when it is asked again is told of the mismatch, and the second
   * tool does not run.
   */
  public static String fromLineage(TenantKey key, Lineage lineage) {
    return derive(key, LINEAGE, lineage.parts());
  }

  /**
   * An id of typed parts: {@code d1-} and 64 hexadecimal digits of an HMAC-SHA-256 under the
   * tenant's key. Each part is digested with its type and length, so no two lists of parts share an
   * id.
   *
   * @param namespace what kind of thing the parts name, such as the action
   * @throws IdentityException {@code NOTHING_TO_DERIVE_FROM} for a blank namespace or no parts
   */
  public static String derive(TenantKey key, String namespace, KeyPart... parts) {
    if (namespace.isBlank() || parts.length == 0) {
      throw IdentityException.nothingToDeriveFrom();
    }
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    KeyPart.text(RULE).writeTo(message);
    KeyPart.text(namespace).writeTo(message);
    for (KeyPart part : parts) {
      part.writeTo(message);
    }
    return "d1-" + HexFormat.of().formatHex(key.sign(message.toByteArray()));
  }
}
