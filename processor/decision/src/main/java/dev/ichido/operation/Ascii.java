package dev.ichido.operation;

/** ASCII classes; {@link Character} knows only those of all Unicode. */
final class Ascii {
  private Ascii() {}

  static boolean isDigit(int character) {
    return '0' <= character && character <= '9';
  }

  static boolean isLetterOrDigit(int character) {
    return isDigit(character)
        || ('a' <= character && character <= 'z')
        || ('A' <= character && character <= 'Z');
  }
}
