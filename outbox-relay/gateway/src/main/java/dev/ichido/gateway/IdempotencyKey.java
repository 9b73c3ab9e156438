package dev.ichido.gateway;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.greenbytes.http.sfv.ParseException;
import org.greenbytes.http.sfv.Parser;
import org.greenbytes.http.sfv.StringItem;

/**
 * The header field {@code Idempotency-Key} of draft-ietf-httpapi-idempotency-key-header-07, an
 * Internet-Draft that has expired: a Structured Field String. A value without quotation marks that
 * is made of the characters of an operation id is taken as the same key.
 */
final class IdempotencyKey {
  static final String FIELD = "Idempotency-Key";
  private static final Pattern BARE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.:~-]*");

  private IdempotencyKey() {}

  /**
   * The key of a request.
   *
   * @param lines every line of the field
   * @return empty when there is no line
   * @throws ProblemException KEY_REPEATED, KEY_MALFORMED
   */
  static Optional<String> parse(List<String> lines) {
    if (lines.isEmpty()) {
      return Optional.empty();
    }
    if (lines.size() > 1) {
      throw ProblemCode.KEY_REPEATED.because(
          "Expected one Idempotency-Key, but there are "
              + lines.size()
              + ". Check what adds the second.");
    }
    String line = lines.getFirst();
    if (BARE.matcher(line).matches()) {
      return Optional.of(line);
    }
    try {
      if (Parser.parseItem(line) instanceof StringItem text && !text.get().isEmpty()) {
        return Optional.of(text.get());
      }
    } catch (ParseException e) {
      // Told below, without the value.
    }
    throw ProblemCode.KEY_MALFORMED.because(
        "Expected an Idempotency-Key that is a quoted string, such as"
            + " \"order-2026-000017.note-1\", but it is something else. Check for a list, a"
            + " missing quotation mark and an empty key.");
  }
}
