package dev.ichido.outbox;

/**
 * Key of every Kafka record about an operation. It is injective and readable in any Kafka tool:
 * each part is percent-encoded over UTF-8, and only {@code A-Z a-z 0-9 - . _ ~} stand for
 * themselves.
 */
public final class RecordKey {
  private static final String HEX = "0123456789ABCDEF";

  private RecordKey() {}

  /** {@code k1/<tenant>/<scope>/<operation-id>}. */
  public static String of(String tenant, String scope, String operationId) {
    return join("k1", tenant, scope, operationId);
  }

  /** {@code d1/<tenant>/<scope>/<delivery-id>}, of an intent that has no operation id. */
  public static String ofDelivery(String tenant, String scope, String deliveryId) {
    return join("d1", tenant, scope, deliveryId);
  }

  private static String join(String version, String... parts) {
    StringBuilder key = new StringBuilder(version);
    for (String part : parts) {
      key.append('/');
      part.codePoints().forEach(character -> append(key, character));
    }
    return key.toString();
  }

  private static void append(StringBuilder key, int character) {
    if (isUnreserved(character)) {
      key.append((char) character);
    } else if (character < 0x80) {
      appendByte(key, character);
    } else if (character < 0x800) {
      appendByte(key, 0xC0 | (character >> 6));
      appendByte(key, 0x80 | (character & 0x3F));
    } else if (character < 0x10000) {
      // A lone surrogate takes this form too: String.getBytes would make each of them the same '?'.
      appendByte(key, 0xE0 | (character >> 12));
      appendByte(key, 0x80 | ((character >> 6) & 0x3F));
      appendByte(key, 0x80 | (character & 0x3F));
    } else {
      appendByte(key, 0xF0 | (character >> 18));
      appendByte(key, 0x80 | ((character >> 12) & 0x3F));
      appendByte(key, 0x80 | ((character >> 6) & 0x3F));
      appendByte(key, 0x80 | (character & 0x3F));
    }
  }

  private static void appendByte(StringBuilder key, int value) {
    key.append('%').append(HEX.charAt(value >> 4)).append(HEX.charAt(value & 0xF));
  }

  private static boolean isUnreserved(int character) {
    return (character >= 'a' && character <= 'z')
        || (character >= 'A' && character <= 'Z')
        || (character >= '0' && character <= '9')
        || character == '-'
        || character == '.'
        || character == '_'
        || character == '~';
  }
}
