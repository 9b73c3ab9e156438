package dev.ichido.operation;

import java.util.HexFormat;
import java.util.Optional;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;

/** The grammar of operation ids, and how one is derived from natural keys. */
public final class OperationId {
  /** Fewest characters. */
  public static final int MIN_LENGTH = 16;

  /** Most characters. */
  public static final int MAX_LENGTH = 255;

  private static final String RULE = "ichido/operation-id/1";
  private static final String DERIVED_PREFIX = "d1-";
  private static final String ZERO_UUID = "00000000-0000-0000-0000-000000000000";

  private OperationId() {}

  /**
   * Whether a text may be an operation id: 16 to 255 of {@code [A-Za-z0-9_.:~-]}, case-sensitive,
   * nothing trimmed; no personal data, no credential, not guessable.
   *
   * @return the first reason against it, which never quotes the text, or empty
   */
  public static Optional<Refusal> check(@Nullable String id) {
    return Optional.ofNullable(id == null ? missing() : reasonAgainst(id));
  }

  /**
   * The id of an operation by what it is about: {@code d1-} and 64 hexadecimal digits of an
   * HMAC-SHA-256 under the tenant's key over {@link TypedParts}: the name of this rule, the
   * namespace, and the parts. The same on every JVM and in the library of the runtime; it tells
   * nothing about the parts to whom the key is unknown.
   *
   * @param namespace what kind of thing the parts name, such as the action
   * @throws IllegalArgumentException for a blank namespace or no parts
   */
  public static String derive(TenantKey key, String namespace, KeyPart... parts) {
    if (namespace.isBlank() || parts.length == 0) {
      throw new IllegalArgumentException(
          "Expected a namespace and at least one part, but one is missing. Check which fields tell this operation from every other.");
    }
    TypedParts bytes = new TypedParts();
    bytes.text(RULE).text(namespace);
    for (KeyPart part : parts) {
      append(bytes, part);
    }
    Mac mac = key.newMac();
    bytes.update(mac);
    return DERIVED_PREFIX + HexFormat.of().formatHex(mac.doFinal());
  }

  private static void append(TypedParts bytes, KeyPart part) {
    switch (part) {
      case KeyPart.Text text -> bytes.text(text.text());
      case KeyPart.Decimal decimal -> bytes.part(TypedParts.Tag.NUMBER, decimal.plain());
      case KeyPart.Truth truth -> bytes.part(TypedParts.Tag.TRUTH, String.valueOf(truth.truth()));
      case KeyPart.Absent absent -> bytes.absent();
    }
  }

  private static Refusal missing() {
    return RefusalCode.OPERATION_ID_MISSING.because("there is none");
  }

  private static @Nullable Refusal reasonAgainst(String id) {
    if (id.isEmpty()) {
      return RefusalCode.OPERATION_ID_TOO_SHORT.because("it is empty");
    }
    if (PersonalData.isIn(id)) {
      return RefusalCode.OPERATION_ID_LOOKS_PERSONAL.because(
          "it holds what looks like an e-mail address, a card number or a phone number");
    }
    if (Credentials.areIn(id)) {
      return RefusalCode.OPERATION_ID_LOOKS_SECRET.because("it holds a known credential prefix");
    }
    if (id.equals(ZERO_UUID) || id.chars().allMatch(Ascii::isDigit)) {
      return RefusalCode.OPERATION_ID_GUESSABLE.because("it is a plain number or the zero UUID");
    }
    int length = id.codePointCount(0, id.length());
    if (length < MIN_LENGTH) {
      return RefusalCode.OPERATION_ID_TOO_SHORT.because("it has " + length);
    }
    if (length > MAX_LENGTH) {
      return RefusalCode.OPERATION_ID_TOO_LONG.because("it has " + length);
    }
    for (int i = 0; i < id.length(); i++) {
      if (!isIdCharacter(id.charAt(i))) {
        return RefusalCode.OPERATION_ID_CHARACTER.because(
            "another character stands at offset " + i);
      }
    }
    return null;
  }

  private static boolean isIdCharacter(char character) {
    return Ascii.isLetterOrDigit(character) || "_.:~-".indexOf(character) >= 0;
  }
}
