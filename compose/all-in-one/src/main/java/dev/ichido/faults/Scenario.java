package dev.ichido.faults;

import java.util.List;

/**
 * One fault, or one kind of faults, on the real processes.
 *
 * @param id stable
 * @param covers the field reports ({@code FR-..}) and the cases of the design that it is about
 * @param does what is done, in one line
 * @param expected what must hold beside the counts
 */
record Scenario(
    String id, Group group, List<String> covers, String does, String expected, Body body) {
  /** How scenarios are grouped in the table. */
  enum Group {
    THE_THIRTEEN("The thirteen"),
    FAILURE_MODES("The failure modes"),
    RELAY("The relay's own"),
    STREAMS("Streams' own"),
    CONTRACT("The contract"),
    LIMITS("Known limits");

    private final String title;

    Group(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }

  /** What is done to a running rig. */
  interface Body {
    void run(Act act) throws Exception;
  }
}
