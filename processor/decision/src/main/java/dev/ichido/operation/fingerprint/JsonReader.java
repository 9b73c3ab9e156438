package dev.ichido.operation.fingerprint;

import dev.ichido.operation.Refusal;
import dev.ichido.operation.RefusalCode;
import dev.ichido.operation.fingerprint.JsonValue.JsonArray;
import dev.ichido.operation.fingerprint.JsonValue.JsonObject;
import dev.ichido.operation.fingerprint.JsonValue.JsonText;
import dev.ichido.operation.fingerprint.JsonValue.JsonToken;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Reads one JSON text and refuses whatever two readers could understand differently. It recurses
 * once a level and goes {@link CanonicalForm#MAX_DEPTH} levels deep at most.
 */
final class JsonReader {
  private static final JsonToken TRUE = new JsonToken("true");
  private static final JsonToken FALSE = new JsonToken("false");
  private static final JsonToken NULL = new JsonToken("null");

  /** Longest part of a member name that a refusal quotes, in UTF-16 code units. */
  private static final int QUOTED_NAME = 64;

  private final String text;
  private int position;

  private JsonReader(String text) {
    this.text = text;
  }

  /**
   * The value of a text.
   *
   * @throws RefusedException when it has none
   */
  static JsonValue read(String text) {
    requireSize(text);
    JsonReader reader = new JsonReader(text);
    reader.skipBlanks();
    JsonValue value = reader.readValue(0);
    reader.skipBlanks();
    if (reader.position < text.length()) {
      throw reader.notJson("more text follows the value");
    }
    return value;
  }

  private static void requireSize(String text) {
    long octets = 0;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      // Each half of a surrogate pair stands for two of its four bytes.
      octets += unit < 0x80 ? 1 : unit < 0x800 || Character.isSurrogate(unit) ? 2 : 3;
    }
    if (octets > CanonicalForm.MAX_BYTES) {
      throw new RefusedException(
          RefusalCode.ARGUMENTS_TOO_LARGE.because("they have %d".formatted(octets)));
    }
  }

  private JsonValue readValue(int depth) {
    return switch (peek()) {
      case '{' -> readObject(depth + 1);
      case '[' -> readArray(depth + 1);
      case '"' -> new JsonText(readText());
      case 't' -> readWord("true", TRUE);
      case 'f' -> readWord("false", FALSE);
      case 'n' -> readWord("null", NULL);
      case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> readNumber();
      default -> throw notJson("no value starts");
    };
  }

  private JsonValue readObject(int depth) {
    open(depth);
    TreeMap<String, JsonValue> members = new TreeMap<>();
    if (peek() == '}') {
      position++;
      return new JsonObject(members);
    }
    while (true) {
      if (peek() != '"') {
        throw notJson("no member name starts");
      }
      int start = position;
      String name = readText();
      if (members.containsKey(name)) {
        position = start;
        throw refused(
            RefusalCode.ARGUMENTS_DUPLICATE_MEMBER,
            "the member " + quoted(name) + " is named again");
      }
      skipBlanks();
      if (peek() != ':') {
        throw notJson("no colon follows the member name");
      }
      position++;
      skipBlanks();
      members.put(name, readValue(depth));
      if (closes('}')) {
        return new JsonObject(members);
      }
    }
  }

  private JsonValue readArray(int depth) {
    open(depth);
    List<JsonValue> elements = new ArrayList<>();
    if (peek() == ']') {
      position++;
      return new JsonArray(elements);
    }
    while (true) {
      elements.add(readValue(depth));
      if (closes(']')) {
        return new JsonArray(elements);
      }
    }
  }

  private void open(int depth) {
    if (depth > CanonicalForm.MAX_DEPTH) {
      throw refused(RefusalCode.ARGUMENTS_TOO_DEEP, "a structure starts one level deeper");
    }
    position++;
    skipBlanks();
  }

  /** Whether the structure ends here; otherwise a comma is read and the next entry starts. */
  private boolean closes(char end) {
    skipBlanks();
    char next = peek();
    if (next != end && next != ',') {
      throw notJson("neither a comma nor the end of the structure follows");
    }
    position++;
    skipBlanks();
    return next == end;
  }

  private JsonToken readWord(String word, JsonToken token) {
    if (!text.startsWith(word, position)) {
      throw notJson("no value starts");
    }
    position += word.length();
    return token;
  }

  private String readText() {
    int start = ++position;
    while (true) {
      char unit = peek();
      if (unit == '"') {
        return text.substring(start, position++);
      }
      if (unit == '\\' || unit < ' ' || Character.isSurrogate(unit)) {
        return readTextSlowly(start);
      }
      position++;
    }
  }

  /** Goes on with a text that cannot be taken as it stands. */
  private String readTextSlowly(int start) {
    StringBuilder value = new StringBuilder(position - start + 32).append(text, start, position);
    for (char unit = peek(); unit != '"'; unit = peek()) {
      if (unit < ' ') {
        throw notJson("a text is not closed or holds a control character");
      }
      position++;
      value.append(unit == '\\' ? readEscape() : unit);
    }
    for (int i = 0; i < value.length(); i++) {
      if (Character.isSurrogate(value.charAt(i))) {
        if (Character.charCount(value.codePointAt(i)) == 1) {
          throw refused(
              RefusalCode.ARGUMENTS_LONE_SURROGATE,
              "the text before this place holds half of a surrogate pair");
        }
        i++;
      }
    }
    position++;
    return value.toString();
  }

  private char readEscape() {
    char letter = peek();
    position++;
    return switch (letter) {
      case '"', '\\', '/' -> letter;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> readHex();
      default -> throw notJson("an unknown escape stands before");
    };
  }

  private char readHex() {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
      char digit = peek();
      int value = digit < 0x80 ? Character.digit(digit, 16) : -1;
      if (value < 0) {
        throw notJson("an escape lacks hexadecimal digits");
      }
      unit = (unit << 4) | value;
      position++;
    }
    return (char) unit;
  }

  private JsonToken readNumber() {
    int start = position;
    if (peek() == '-') {
      position++;
    }
    int whole = position;
    skipDigits();
    int wholeDigits = position - whole;
    if (wholeDigits > 1 && text.charAt(whole) == '0') {
      position = whole;
      throw notJson("a number starts with a zero too many");
    }
    int fraction = position;
    int fractionDigits = 0;
    if (peek() == '.') {
      position++;
      fraction = position;
      skipDigits();
      fractionDigits = position - fraction;
    }
    int exponent = readExponent();
    if (wholeDigits + fractionDigits > CanonicalForm.MAX_DIGITS) {
      position = start;
      throw refused(
          RefusalCode.ARGUMENTS_NUMBER_RANGE,
          "a number of " + (wholeDigits + fractionDigits) + " digits starts");
    }
    StringBuilder digits = new StringBuilder(wholeDigits + fractionDigits);
    digits.append(text, whole, whole + wholeDigits);
    digits.append(text, fraction, fraction + fractionDigits);
    String canonical = ExactDecimal.canonical(whole > start, digits, wholeDigits + exponent);
    if (canonical.isEmpty()) {
      position = start;
      throw refused(RefusalCode.ARGUMENTS_NUMBER_RANGE, "a number beyond that starts");
    }
    return new JsonToken(canonical);
  }

  /** At least one digit. */
  private void skipDigits() {
    int start = position;
    while (isDigit(peek())) {
      position++;
    }
    if (position == start) {
      throw notJson("a number lacks a digit");
    }
  }

  private int readExponent() {
    if (peek() != 'e' && peek() != 'E') {
      return 0;
    }
    int start = position++;
    char sign = peek();
    if (sign == '+' || sign == '-') {
      position++;
    }
    int digits = position;
    skipDigits();
    int exponent = 0;
    for (int i = digits; i < position; i++) {
      exponent = 10 * exponent + (text.charAt(i) - '0');
      if (exponent > CanonicalForm.MAX_EXPONENT) {
        position = start;
        throw refused(RefusalCode.ARGUMENTS_NUMBER_RANGE, "an exponent beyond that starts");
      }
    }
    return sign == '-' ? -exponent : exponent;
  }

  private void skipBlanks() {
    while (isBlank(peek())) {
      position++;
    }
  }

  /** The next code unit, or at the end NUL, which stands in no JSON text. */
  private char peek() {
    return position < text.length() ? text.charAt(position) : '\0';
  }

  private static boolean isBlank(char unit) {
    return unit == ' ' || unit == '\n' || unit == '\r' || unit == '\t';
  }

  private static boolean isDigit(char unit) {
    return unit >= '0' && unit <= '9';
  }

  private RefusedException notJson(String was) {
    return refused(RefusalCode.ARGUMENTS_NOT_JSON, was);
  }

  private RefusedException refused(RefusalCode code, String was) {
    return new RefusedException(code.because(was + " at offset " + position));
  }

  /** The start of a name, without characters that would disturb a line of text. */
  private static String quoted(String name) {
    StringBuilder quoted = new StringBuilder("\"");
    name.codePoints()
        .limit(QUOTED_NAME)
        .forEach(c -> quoted.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    return quoted.append('"').toString();
  }

  /** Ends the reading; never leaves this package. */
  static final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Refusal refusal;

    RefusedException(Refusal refusal) {
      super(refusal.detail(), null, false, false);
      this.refusal = refusal;
    }

    Refusal refusal() {
      return refusal;
    }
  }
}
