package dev.ichido.operation;

import static java.util.Objects.requireNonNull;

/**
 * An input that is not taken.
 *
 * @param code the stable word for the reason
 * @param detail the sentence for a person; names and positions, never values
 */
public record Refusal(RefusalCode code, String detail) {
  public Refusal {
    requireNonNull(code, "code");
    requireNonNull(detail, "detail");
  }
}
