package dev.ichido.topology.policy;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: {@code 250ms, 60s, 5m, 24h, 30d}. */
public final class Durations {
  private static final Pattern TEXT = Pattern.compile("([0-9]{1,12})(ms|s|m|h|d)");

  /** No setting is longer: a time so far ahead can be written nowhere. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private Durations() {}

  /**
   * The duration that a setting may have, of 36500d at most, or nothing when the text is not one.
   */
  public static Optional<Duration> tryParseSetting(String text) {
    return tryParse(text).filter(duration -> duration.compareTo(LONGEST) <= 0);
  }

  /** The duration, or nothing when the text is not one. */
  public static Optional<Duration> tryParse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    long number = Long.parseLong(matcher.group(1));
    return Optional.of(
        switch (matcher.group(2)) {
          case "ms" -> Duration.ofMillis(number);
          case "s" -> Duration.ofSeconds(number);
          case "m" -> Duration.ofMinutes(number);
          case "h" -> Duration.ofHours(number);
          case "d" -> Duration.ofDays(number);
          default -> throw new IllegalStateException("Expected a unit of the pattern.");
        });
  }

  /** The shortest spelling that gives the same duration. */
  public static String format(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    if (millis % 86_400_000 == 0) {
      return millis / 86_400_000 + "d";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + "h";
    }
    if (millis % 60_000 == 0) {
      return millis / 60_000 + "m";
    }
    return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
  }
}
