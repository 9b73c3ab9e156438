package dev.ichido.operation;

import java.util.Objects;

/**
 * Who asks: an agent, a service or a person, as the runtime names it. Compared as text,
 * case-sensitive.
 *
 * @param name never blank
 */
public record Principal(String name) {
  public Principal {
    Objects.requireNonNull(name, "name");
    if (name.isBlank()) {
      throw new IllegalArgumentException(
          "Expected the name of a principal, but it was blank. Check the writer of the record.");
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
