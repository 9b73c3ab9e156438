package dev.ichido.operation;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Shapes of personal data that strayed into an id. */
final class PersonalData {
  /** Longer ids are refused in any case, and no shape is that long. */
  private static final int LOOKED_AT = 4096;

  /** Somebody at a host name with a dot, letters of any script. */
  private static final Pattern EMAIL =
      Pattern.compile("[^\\s@]@[\\p{L}\\p{N}-]{1,64}\\.[\\p{L}\\p{N}]");

  /** What may stand between the groups of a card. */
  private static final String GAP = "[-. _:~]";

  /** The first four digits of Mastercard's second range, 2221 to 2720. */
  private static final String SECOND_RANGE = "2(?:22[1-9]|2[3-9]\\d|[3-6]\\d\\d|7[01]\\d|720)";

  private static final Pattern CARD_START = Pattern.compile("(?<![A-Za-z0-9])[2-6]\\d{3}");

  /**
   * Payment cards: 13 to 19 digits that start with 3 to 6, or 16 of Mastercard's second range, in
   * one run or in the groups that cards are printed in, and no letter or digit beside them. The
   * bounds keep hex digests and UUIDs out. What follows a card may look like its end, so each shape
   * is tried by itself.
   */
  private static final List<Pattern> CARDS =
      Stream.of(
              "[3-6]\\d{12,18}",
              SECOND_RANGE + "\\d{12}",
              "[3-6]\\d{3}(?:" + GAP + "\\d{4}){2}" + GAP + "\\d{1,4}",
              "[3-6]\\d{3}(?:" + GAP + "\\d{4}){3}" + GAP + "\\d{1,3}",
              SECOND_RANGE + "(?:" + GAP + "\\d{4}){3}",
              "[3-6]\\d{3}" + GAP + "\\d{6}" + GAP + "\\d{4,5}")
          .map(shape -> Pattern.compile(shape + "(?![A-Za-z0-9])"))
          .toList();

  /** An international phone number, in one run or in groups. */
  private static final Pattern PHONE =
      Pattern.compile("(?<![A-Za-z0-9])\\+\\d(?:[-. ()]{0,2}\\d){7,14}(?![A-Za-z0-9])");

  private PersonalData() {}

  static boolean isIn(String id) {
    String text = id.substring(0, Math.min(id.length(), LOOKED_AT));
    return EMAIL.matcher(text).find() || isCardIn(text) || PHONE.matcher(text).find();
  }

  private static boolean isCardIn(String text) {
    Matcher start = CARD_START.matcher(text);
    for (int from = 0; start.find(from); from = start.start() + 1) {
      for (Pattern shape : CARDS) {
        Matcher card = shape.matcher(text).region(start.start(), text.length());
        if (card.lookingAt() && hasLuhnCheckDigit(card.group())) {
          return true;
        }
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
