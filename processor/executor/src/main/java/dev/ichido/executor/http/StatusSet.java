package dev.ichido.executor.http;

import java.util.BitSet;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A set of HTTP status codes, written {@code 404}, {@code 4xx} or {@code 500-503}. */
public final class StatusSet {
  public static final StatusSet EMPTY = new StatusSet(new BitSet());

  private static final Pattern FORM = Pattern.compile("([1-5])xx|([1-5]\\d\\d)(?:-([1-5]\\d\\d))?");

  private final BitSet statuses;

  private StatusSet(BitSet statuses) {
    this.statuses = statuses;
  }

  /**
   * Reads a set.
   *
   * @throws IllegalArgumentException when a text has none of the forms
   */
  public static StatusSet of(Collection<String> texts) {
    BitSet statuses = new BitSet();
    for (String text : texts) {
      Matcher matcher = FORM.matcher(text);
      if (!matcher.matches()) {
        throw new IllegalArgumentException(
            "Expected a status such as 404, 4xx or 500-503, but \"" + text + "\" is none.");
      }
      if (matcher.group(1) != null) {
        int from = Integer.parseInt(matcher.group(1)) * 100;
        statuses.set(from, from + 100);
      } else {
        int from = Integer.parseInt(matcher.group(2));
        int to = matcher.group(3) == null ? from : Integer.parseInt(matcher.group(3));
        if (to < from) {
          throw new IllegalArgumentException(
              "Expected a range that ascends, but \"" + text + "\" does not.");
        }
        statuses.set(from, to + 1);
      }
    }
    return new StatusSet(statuses);
  }

  public boolean contains(int status) {
    return status >= 0 && statuses.get(status);
  }

  /** Whether a status is in both. */
  public boolean intersects(StatusSet other) {
    return statuses.intersects(other.statuses);
  }

  public boolean isEmpty() {
    return statuses.isEmpty();
  }

  @Override
  public String toString() {
    return statuses.toString();
  }
}
