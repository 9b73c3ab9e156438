package dev.ichido.decision;

import dev.ichido.operation.OperationKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;

/**
 * Ids that follow from what they name, so that a record that is emitted again is the same record.
 * The texts are wire format; golden vectors hold them.
 */
final class DerivedIds {
  private static final String BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

  private DerivedIds() {}

  /** Id of the command that starts an attempt. */
  static String execute(OperationKey key, int attempt) {
    return uuid(digest("ichido:execute:1", key.recordKey(), Integer.toString(attempt)));
  }

  /** Id of the command that asks what became of an attempt. */
  static String reconcile(OperationKey key, int attempt, int read) {
    return uuid(
        digest(
            "ichido:reconcile:1",
            key.recordKey(),
            Integer.toString(attempt),
            Integer.toString(read)));
  }

  /** Id of the command that answers one delivery of a read. */
  static String read(String tenant, String scope, String deliveryId) {
    return uuid(digest("ichido:read:1", tenant, scope, deliveryId));
  }

  /**
   * The remote's idempotency key of an operation, equal for every attempt. It is a digest in a form
   * that fits, never a part of the id itself: 64 hexadecimal digits from a limit of 64 on, 40
   * characters of base 32 from 45 on, a UUID from 36 on, and below that as many characters of base
   * 32 as fit.
   */
  static String downstream(OperationKey key, int limit) {
    byte[] digest = digest("ichido:downstream:1", key.recordKey());
    if (limit >= 64) {
      return HexFormat.of().formatHex(digest);
    }
    if (limit >= 45) {
      return base32(digest, 40);
    }
    return limit >= 36 ? uuid(digest) : base32(digest, limit);
  }

  /** SHA-256 of the text as UTF-8, in lower-case hexadecimal. */
  static String sha256(String text) {
    return HexFormat.of().formatHex(sha256().digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Each part carries its length, so that no two lists of parts are one text. */
  private static byte[] digest(String... parts) {
    MessageDigest digest = sha256();
    for (String part : parts) {
      byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
      digest.update((byte) (bytes.length >>> 24));
      digest.update((byte) (bytes.length >>> 16));
      digest.update((byte) (bytes.length >>> 8));
      digest.update((byte) bytes.length);
      digest.update(bytes);
    }
    return digest.digest();
  }

  /** A UUID of version 8, which RFC 9562 leaves to the maker. */
  private static String uuid(byte[] digest) {
    ByteBuffer bytes = ByteBuffer.wrap(digest);
    long high = (bytes.getLong() & 0xffff_ffff_ffff_0fffL) | 0x8000L;
    long low = (bytes.getLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
    return new UUID(high, low).toString();
  }

  private static String base32(byte[] digest, int characters) {
    StringBuilder text = new StringBuilder(characters);
    for (int i = 0; i < characters; i++) {
      int bit = i * 5;
      int pair = ((digest[bit / 8] & 0xff) << 8) | (digest[bit / 8 + 1] & 0xff);
      text.append(BASE32.charAt((pair >>> (11 - bit % 8)) & 31));
    }
    return text.toString();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException("Every Java platform has SHA-256.", missing);
    }
  }
}
