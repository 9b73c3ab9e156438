package dev.ichido.outbox;

import static java.util.Objects.requireNonNull;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;

/**
 * One typed part of what an operation id is derived from. The number 1 is not the text 1, and
 * nothing is not the empty text.
 */
public final class KeyPart {
  private static final int MAX_DIGITS = 100;
  private static final int MAX_EXPONENT = 308;

  private final char tag;
  private final String content;

  private KeyPart(char tag, String content) {
    this.tag = tag;
    this.content = content;
  }

  /** A text part, not normalised: composed and decomposed letters differ. */
  public static KeyPart text(String text) {
    return new KeyPart('T', requireNonNull(text, "text"));
  }

  /** A whole number. */
  public static KeyPart number(long number) {
    return number(BigDecimal.valueOf(number));
  }

  /**
   * An exact number: 1, 1.0 and 1e0 are one.
   *
   * @throws IdentityException {@code NUMBER_OUT_OF_RANGE} for more than 100 digits or an exponent
   *     beyond 308
   */
  public static KeyPart number(BigDecimal number) {
    if (number.signum() == 0) {
      return new KeyPart('N', "0");
    }
    long exponent = (long) number.precision() - number.scale() - 1;
    if (number.precision() > MAX_DIGITS || Math.abs(exponent) > MAX_EXPONENT) {
      throw IdentityException.numberOutOfRange(number.precision(), exponent);
    }
    return new KeyPart('N', number.stripTrailingZeros().toPlainString());
  }

  /** True or false. */
  public static KeyPart truth(boolean truth) {
    return new KeyPart('B', String.valueOf(truth));
  }

  /** A part that is not there. */
  public static KeyPart absent() {
    return new KeyPart('0', "");
  }

  /** Writes tag, length as four big-endian bytes, and content as UTF-8. */
  void writeTo(ByteArrayOutputStream out) {
    ByteArrayOutputStream utf8 = new ByteArrayOutputStream(content.length() + 16);
    content.codePoints().forEach(character -> writeUtf8(utf8, character));
    out.write(tag);
    for (int shift = 24; shift >= 0; shift -= 8) {
      out.write(utf8.size() >> shift);
    }
    out.writeBytes(utf8.toByteArray());
  }

  /**
   * Half of a surrogate pair takes the three bytes of its code unit. String.getBytes would write a
   * question mark for each, and two texts would be one.
   */
  private static void writeUtf8(ByteArrayOutputStream out, int character) {
    if (character < 0x80) {
      out.write(character);
    } else if (character < 0x800) {
      out.write(0xC0 | (character >> 6));
      writeTrailing(out, character);
    } else if (character < 0x10000) {
      out.write(0xE0 | (character >> 12));
      writeTrailing(out, character >> 6);
      writeTrailing(out, character);
    } else {
      out.write(0xF0 | (character >> 18));
      writeTrailing(out, character >> 12);
      writeTrailing(out, character >> 6);
      writeTrailing(out, character);
    }
  }

  private static void writeTrailing(ByteArrayOutputStream out, int bits) {
    out.write(0x80 | (bits & 0x3F));
  }
}
