package dev.ichido.operation;

import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;

/**
 * Bytes of a list of typed, length-prefixed parts: for each a tag, the length of its content as
 * four big-endian bytes, and the content. Two lists of parts share their bytes only when they are
 * equal, whatever stands in the parts; {@code a_b} and {@code c} are not {@code a} and {@code b_c},
 * and the number 1 is not the text 1.
 *
 * <p>For one thread.
 */
public final class TypedParts {
  /** What a part is. The tags are part of every golden vector. */
  public enum Tag {
    /** UTF-8, not normalised. */
    TEXT('T'),
    /** Decimal text of a number, one spelling a value. */
    NUMBER('N'),
    /** {@code true} or {@code false}. */
    TRUTH('B'),
    /** Nothing, which is not the empty text. */
    ABSENT('0'),
    /** Canonical JSON text in UTF-8. */
    JSON('J');

    private final byte octet;

    Tag(char letter) {
      this.octet = (byte) letter;
    }
  }

  private static final int HEAD = 5;

  private byte[] buffer = new byte[1024];
  private int size;
  private int contentStart;

  /** A whole part of text. */
  public TypedParts text(String text) {
    return part(Tag.TEXT, text);
  }

  /** A whole part. */
  public TypedParts part(Tag tag, String content) {
    open(tag);
    append(content);
    return close();
  }

  /** A whole part that says that there is nothing. */
  public TypedParts absent() {
    return part(Tag.ABSENT, "");
  }

  /** Starts a part; {@link #append} fills it until {@link #close}. */
  public void open(Tag tag) {
    require(HEAD);
    buffer[size] = tag.octet;
    size += HEAD;
    contentStart = size;
  }

  /** Ends the part that is open and writes its length. */
  public TypedParts close() {
    int length = size - contentStart;
    for (int at = contentStart - 1; at > contentStart - HEAD; at--) {
      buffer[at] = (byte) length;
      length >>= 8;
    }
    return this;
  }

  /** Appends an ASCII character to the open part. */
  public void appendAscii(char character) {
    require(1);
    buffer[size++] = (byte) character;
  }

  /**
   * Appends a text as UTF-8 to the open part. Half of a surrogate pair gives the three bytes of its
   * code unit, so that it stays different from every other text.
   */
  public void append(String text) {
    require(3 * text.length());
    byte[] into = buffer;
    int at = size;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit < 0x80) {
        into[at++] = (byte) unit;
      } else if (unit < 0x800) {
        into[at++] = (byte) (0xC0 | (unit >> 6));
        into[at++] = trailing(unit);
      } else if (isPairAt(text, i)) {
        int character = text.codePointAt(i++);
        into[at++] = (byte) (0xF0 | (character >> 18));
        into[at++] = trailing(character >> 12);
        into[at++] = trailing(character >> 6);
        into[at++] = trailing(character);
      } else {
        into[at++] = (byte) (0xE0 | (unit >> 12));
        into[at++] = trailing(unit >> 6);
        into[at++] = trailing(unit);
      }
    }
    size = at;
  }

  /** How many bytes there are. */
  public int size() {
    return size;
  }

  /** Forgets every part. */
  public void clear() {
    size = 0;
  }

  /** Feeds all parts. */
  public void update(Mac mac) {
    mac.update(buffer, 0, size);
  }

  /** Feeds all parts. */
  public void update(MessageDigest digest) {
    digest.update(buffer, 0, size);
  }

  /** A copy of the bytes from an offset up to another. */
  public byte[] copy(int from, int to) {
    return Arrays.copyOfRange(buffer, from, to);
  }

  private static boolean isPairAt(String text, int i) {
    return Character.isHighSurrogate(text.charAt(i))
        && i + 1 < text.length()
        && Character.isLowSurrogate(text.charAt(i + 1));
  }

  private static byte trailing(int bits) {
    return (byte) (0x80 | (bits & 0x3F));
  }

  private void require(int more) {
    if (size + more > buffer.length) {
      buffer = Arrays.copyOf(buffer, Math.max(2 * buffer.length, size + more));
    }
  }
}
