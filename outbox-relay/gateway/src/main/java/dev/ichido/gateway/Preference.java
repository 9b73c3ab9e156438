package dev.ichido.gateway;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What {@code Prefer} (RFC 7240) asks for. What can't be read is ignored, as that text says.
 *
 * @param async whether the answer is wanted as soon as the intent is written
 * @param atMost how long to wait for the settlement; null where nothing was asked
 */
record Preference(boolean async, @Nullable Duration atMost) {
  private static final Pattern WAIT = Pattern.compile("wait\\s*=\\s*\"?(\\d{1,9})\"?");

  /** Of every line of the field; the first of two that contradict each other counts. */
  static Preference parse(List<String> lines, Duration longest) {
    boolean async = false;
    Duration wait = null;
    for (String line : lines) {
      for (String part : line.split(",", -1)) {
        String word = part.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        Matcher matcher = WAIT.matcher(word);
        if (word.equals("respond-async")) {
          async = true;
        } else if (wait == null && matcher.matches()) {
          Duration asked = Duration.ofSeconds(Long.parseLong(matcher.group(1)));
          wait = asked.compareTo(longest) > 0 ? longest : asked;
        }
      }
    }
    return new Preference(async && wait == null, wait);
  }
}
