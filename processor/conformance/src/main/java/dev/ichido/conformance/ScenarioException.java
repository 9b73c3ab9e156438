package dev.ichido.conformance;

/** A scenario that is not written as the format asks. */
public final class ScenarioException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private ScenarioException(String message) {
    super(message);
  }

  static ScenarioException unknownMember(String where, String member, Iterable<String> known) {
    return new ScenarioException(
        "Expected only known members in %s, but found '%s'. Check its spelling; known: %s."
            .formatted(where, member, String.join(", ", known)));
  }

  static ScenarioException wrong(String where, String expected) {
    return new ScenarioException(
        "Expected %s, but %s is not. Check the scenario.".formatted(expected, where));
  }
}
