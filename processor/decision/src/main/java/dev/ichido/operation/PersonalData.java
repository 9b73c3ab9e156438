package dev.ichido.operation;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Shapes of personal data that strayed into an id. */
final class PersonalData {
  /** Longer ids are refused in any case, and no shape is that long. */
  private static final int LOOKED_AT = 4096;

  /** Somebody at a host name with a dot, letters of any script. */
  private static final Pattern EMAIL =
      Pattern.compile("[^\\s@]@[\\p{L}\\p{N}-]{1,64}\\.[\\p{L}\\p{N}]");

  /**
   * A payment card: 13 to 19 digits that start with 3 to 6, in one run or in the groups that cards
   * are printed in, and no letter or digit beside it. The bounds keep hex digests and UUIDs out.
   */
  private static final Pattern CARD =
      Pattern.compile(
          "(?<![A-Za-z0-9])(?:[3-6]\\d{12,18}"
              + "|[3-6]\\d{3}(?:[-. _]\\d{4}){2}[-. _]\\d{1,4}(?:[-. _]\\d{1,3})?"
              + "|[3-6]\\d{3}[-. _]\\d{6}[-. _]\\d{4,5})(?![A-Za-z0-9])");

  /** An international phone number, in one run or in groups. */
  private static final Pattern PHONE =
      Pattern.compile("(?<![A-Za-z0-9])\\+\\d(?:[-. ()]{0,2}\\d){7,14}(?![A-Za-z0-9])");

  private PersonalData() {}

  static boolean isIn(String id) {
    String text = id.substring(0, Math.min(id.length(), LOOKED_AT));
    return EMAIL.matcher(text).find() || isCardIn(text) || PHONE.matcher(text).find();
  }

  private static boolean isCardIn(String text) {
    Matcher matcher = CARD.matcher(text);
    for (int from = 0; matcher.find(from); from = matcher.start() + 1) {
      if (hasLuhnCheckDigit(matcher.group())) {
        return true;
      }
    }
    return false;
  }

  private static boolean hasLuhnCheckDigit(String card) {
    int sum = 0;
    boolean doubled = false;
    for (int i = card.length() - 1; i >= 0; i--) {
      if (Ascii.isDigit(card.charAt(i))) {
        int digit = card.charAt(i) - '0';
        int product = doubled ? 2 * digit : digit;
        sum += product > 9 ? product - 9 : product;
        doubled = !doubled;
      }
    }
    return sum % 10 == 0;
  }
}
