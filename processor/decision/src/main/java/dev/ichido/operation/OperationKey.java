package dev.ichido.operation;

import static java.util.Objects.requireNonNull;

import java.io.ByteArrayOutputStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The identity of one business act. Two keys are one operation exactly when all three parts are
 * equal, character by character.
 *
 * @param tenant whose operation it is
 * @param scope where the remote's own dedupe holds: {@code global}, {@code region:NAME} or {@code
 *     zone:NAME}
 * @param operationId the same over every retry; its grammar is {@link OperationId#check}
 */
public record OperationKey(String tenant, String scope, String operationId) {
  /** Most characters of a record key: PostgreSQL indexes a key of at most a third of a page. */
  public static final int MAX_RECORD_KEY = 2_000;

  private static final String VERSION = "k1";
  private static final String HEX = "0123456789ABCDEF";

  public OperationKey {
    requireNonNull(tenant, "tenant");
    requireNonNull(scope, "scope");
    requireNonNull(operationId, "operationId");
  }

  /**
   * The key of every record about this operation: {@code k1/<tenant>/<scope>/<operation-id>}, each
   * part percent-encoded over UTF-8. Only {@code A-Z a-z 0-9 - . _ ~} stand for themselves, so two
   * keys never share a text.
   */
  public String recordKey() {
    StringBuilder text =
        new StringBuilder(
            VERSION.length() + 3 + tenant.length() + scope.length() + operationId.length() + 8);
    text.append(VERSION).append('/');
    appendEncoded(text, tenant);
    text.append('/');
    appendEncoded(text, scope);
    text.append('/');
    appendEncoded(text, operationId);
    return text.toString();
  }

  /**
   * The operation that a record key names. Only the one spelling that {@link #recordKey} writes is
   * read; anything else is empty.
   */
  public static Optional<OperationKey> parse(String recordKey) {
    String[] parts = recordKey.split("/", -1);
    if (parts.length != 4 || !parts[0].equals(VERSION)) {
      return Optional.empty();
    }
    String tenant = decoded(parts[1]);
    String scope = decoded(parts[2]);
    String operationId = decoded(parts[3]);
    if (tenant == null || scope == null || operationId == null) {
      return Optional.empty();
    }
    OperationKey key = new OperationKey(tenant, scope, operationId);
    return key.recordKey().equals(recordKey) ? Optional.of(key) : Optional.empty();
  }

  private static void appendEncoded(StringBuilder text, String part) {
    for (int i = 0; i < part.length(); ) {
      int character = part.codePointAt(i);
      i += Character.charCount(character);
      if (isUnreserved(character)) {
        text.append((char) character);
      } else if (character < 0x80) {
        appendByte(text, character);
      } else if (character < 0x800) {
        appendByte(text, 0xC0 | (character >> 6));
        appendTrailing(text, character);
      } else if (character < 0x10000) {
        // A lone surrogate has no UTF-8 form. Its three bytes keep the key total and injective,
        // where String.getBytes would write '?' for each of them.
        appendByte(text, 0xE0 | (character >> 12));
        appendTrailing(text, character >> 6);
        appendTrailing(text, character);
      } else {
        appendByte(text, 0xF0 | (character >> 18));
        appendTrailing(text, character >> 12);
        appendTrailing(text, character >> 6);
        appendTrailing(text, character);
      }
    }
  }

  private static void appendTrailing(StringBuilder text, int bits) {
    appendByte(text, 0x80 | (bits & 0x3F));
  }

  private static void appendByte(StringBuilder text, int octet) {
    text.append('%').append(HEX.charAt(octet >> 4)).append(HEX.charAt(octet & 0xF));
  }

  private static boolean isUnreserved(int character) {
    return isIn(character, 'a', 'z')
        || isIn(character, 'A', 'Z')
        || isIn(character, '0', '9')
        || character == '-'
        || character == '.'
        || character == '_'
        || character == '~';
  }

  private static boolean isIn(int character, char first, char last) {
    return first <= character && character <= last;
  }

  private static @Nullable String decoded(String part) {
    ByteArrayOutputStream octets = new ByteArrayOutputStream(part.length());
    for (int i = 0; i < part.length(); i++) {
      char character = part.charAt(i);
      if (isUnreserved(character)) {
        octets.write(character);
      } else if (character == '%' && i + 2 < part.length()) {
        int high = HEX.indexOf(part.charAt(i + 1));
        int low = HEX.indexOf(part.charAt(i + 2));
        if (high < 0 || low < 0) {
          return null;
        }
        octets.write((high << 4) | low);
        i += 2;
      } else {
        return null;
      }
    }
    return text(octets.toByteArray());
  }

  /** Reads what {@link #appendEncoded} writes; an ill-formed sequence gives null. */
  private static @Nullable String text(byte[] octets) {
    StringBuilder text = new StringBuilder(octets.length);
    for (int i = 0; i < octets.length; ) {
      int first = octets[i] & 0xFF;
      int length = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
      if (length == 0 || i + length > octets.length) {
        return null;
      }
      int character = length == 1 ? first : first & (0xFF >> (length + 1));
      for (int j = 1; j < length; j++) {
        character = (character << 6) | (octets[i + j] & 0x3F);
      }
      if (character > Character.MAX_CODE_POINT) {
        return null;
      }
      text.appendCodePoint(character);
      i += length;
    }
    return text.toString();
  }
}
