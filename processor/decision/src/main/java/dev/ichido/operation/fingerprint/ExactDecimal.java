package dev.ichido.operation.fingerprint;

/**
 * The one spelling of a decimal number. An integer is all its digits; any other number has the form
 * of RFC 8785 (that is of ECMAScript's Number.toString), but over its exact digits and not over
 * those of the nearest double.
 */
final class ExactDecimal {
  /** ECMAScript writes a number without exponent while its point is within these places. */
  private static final int MAX_PLAIN_POINT = 21;

  private static final int MIN_PLAIN_POINT = -5;

  private ExactDecimal() {}

  /**
   * Spells {@code 0.DIGITS * 10^point}.
   *
   * @param digits decimal digits, zeros at both ends allowed; it is changed
   * @return the spelling, or the empty text when the first digit that counts is not within 308
   *     places of the point
   */
  static String canonical(boolean negative, StringBuilder digits, int point) {
    int end = digits.length();
    while (end > 0 && digits.charAt(end - 1) == '0') {
      end--;
    }
    digits.setLength(end);
    if (end == 0) {
      return "0";
    }
    int zeros = 0;
    while (digits.charAt(zeros) == '0') {
      zeros++;
    }
    digits.delete(0, zeros);
    int exponent = point - zeros - 1;
    if (Math.abs(exponent) > CanonicalForm.MAX_EXPONENT) {
      return "";
    }
    place(digits, exponent + 1);
    return negative ? digits.insert(0, '-').toString() : digits.toString();
  }

  private static void place(StringBuilder digits, int point) {
    int count = digits.length();
    if (point >= count) {
      digits.repeat('0', point - count);
    } else if (point > 0 && point <= MAX_PLAIN_POINT) {
      digits.insert(point, '.');
    } else if (point >= MIN_PLAIN_POINT && point <= 0) {
      digits.insert(0, "0." + "0".repeat(-point));
    } else {
      if (count > 1) {
        digits.insert(1, '.');
      }
      int exponent = point - 1;
      digits.append(exponent < 0 ? "e-" : "e+").append(Math.abs(exponent));
    }
  }
}
