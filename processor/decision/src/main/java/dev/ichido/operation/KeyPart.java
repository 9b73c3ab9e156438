package dev.ichido.operation;

import static java.util.Objects.requireNonNull;

import java.math.BigDecimal;

/** One typed part of what an operation id is derived from. */
public sealed interface KeyPart {
  /** Most digits of a number. */
  int MAX_DIGITS = 100;

  /** Largest absolute decimal exponent of the first digit of a number. */
  int MAX_EXPONENT = 308;

  /** A text, not normalised: composed and decomposed letters differ. */
  record Text(String text) implements KeyPart {
    public Text {
      requireNonNull(text, "text");
    }
  }

  /** An exact number: 1, 1.0 and 1e0 are one. */
  record Decimal(BigDecimal number) implements KeyPart {
    public Decimal {
      if (number.signum() != 0) {
        long exponent = (long) number.precision() - number.scale() - 1;
        if (number.precision() > MAX_DIGITS || Math.abs(exponent) > MAX_EXPONENT) {
          throw new IllegalArgumentException(
              "Expected a number of at most %d digits with an exponent within %d, but it has %d and %d. Check whether it is an identifier, which belongs into a text."
                  .formatted(MAX_DIGITS, MAX_EXPONENT, number.precision(), exponent));
        }
      }
    }

    String plain() {
      return number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
    }
  }

  /** True or false. */
  record Truth(boolean truth) implements KeyPart {}

  /** Nothing, which is neither the empty text nor zero. */
  record Absent() implements KeyPart {}

  /** A text part. */
  static KeyPart text(String text) {
    return new Text(text);
  }

  /** A whole number. */
  static KeyPart number(long number) {
    return new Decimal(BigDecimal.valueOf(number));
  }

  /**
   * An exact decimal number.
   *
   * @throws IllegalArgumentException for more than 100 digits or an exponent beyond 308
   */
  static KeyPart number(BigDecimal number) {
    return new Decimal(number);
  }

  /** A truth value. */
  static KeyPart truth(boolean truth) {
    return new Truth(truth);
  }

  /** A part that is not there. */
  static KeyPart absent() {
    return new Absent();
  }
}
