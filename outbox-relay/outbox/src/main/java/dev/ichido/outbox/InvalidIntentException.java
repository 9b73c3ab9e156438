package dev.ichido.outbox;

import java.io.Serializable;
import java.util.List;
import java.util.stream.Collectors;

/** An intent that can't be written. Names every bad field at once, and never a value. */
public final class InvalidIntentException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /** Stable codes of what is wrong with a field. */
  public enum Code {
    /** The field is required, and was not set. */
    MISSING,
    /** The field was set to the empty text. */
    EMPTY,
    /** A principal or a delivery id was set to nothing but white space. */
    BLANK,
    /**
     * The field is longer than {@link OutboxIntent#MAX_TEXT} or {@link
     * OutboxIntent#MAX_ARGUMENTS_BYTES}.
     */
    TOO_LONG,
    /** The field holds U+0000 or a lone surrogate, which PostgreSQL can't store. */
    CHARACTER,
    /** A time before 1970 or after 9999. */
    OUT_OF_RANGE
  }

  /** One bad field, named as the argument of {@code ichido.publish_intent}. */
  public record Problem(String field, Code code) implements Serializable {
    @Override
    public String toString() {
      return field + " " + code;
    }
  }

  // List.copyOf is serializable.
  @SuppressWarnings("serial")
  private final List<Problem> problems;

  private InvalidIntentException(String message, List<Problem> problems) {
    super(message);
    this.problems = problems;
  }

  static InvalidIntentException of(List<Problem> problems) {
    String found = problems.stream().map(Problem::toString).collect(Collectors.joining(", "));
    return new InvalidIntentException(
        "Expected an intent that can be written, but found "
            + found
            + ". Check where the intent is built.",
        List.copyOf(problems));
  }

  /** All that is wrong, in the order of the fields; at least one. */
  public List<Problem> problems() {
    return problems;
  }
}
