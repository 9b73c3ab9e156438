package dev.ichido.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;

/**
 * What came of the scenarios.
 *
 * @param outcomes one a scenario, in the order of the files
 */
public record ConformanceReport(List<Outcome> outcomes) {
  private static final ObjectMapper JSON = new ObjectMapper();

  public ConformanceReport {
    outcomes = List.copyOf(outcomes);
  }

  /**
   * What came of one scenario.
   *
   * @param failure empty when it holds
   */
  public record Outcome(String id, Optional<Failure> failure) {
    @Override
    public String toString() {
      return failure.map(Failure::toString).orElse(id + ": ok");
    }
  }

  /**
   * A scenario that does not hold.
   *
   * @param id id of the scenario
   * @param step index of the step, from 0; -1 when no step is to blame
   * @param verb verb of the step; empty when no step is to blame
   * @param difference the first difference: member, expected, found
   */
  public record Failure(String id, int step, String verb, String difference) {
    @Override
    public String toString() {
      return step < 0
          ? "%s: %s".formatted(id, difference)
          : "%s: step %d (%s): %s".formatted(id, step, verb, difference);
    }
  }

  public List<Failure> failures() {
    return outcomes.stream().flatMap(outcome -> outcome.failure().stream()).toList();
  }

  public int passed() {
    return outcomes.size() - failed();
  }

  public int failed() {
    return failures().size();
  }

  public boolean holds() {
    return failures().isEmpty();
  }

  /** A line a scenario, {@code ok} or the first difference; then {@code N passed, N failed}. */
  public String text() {
    StringBuilder text = new StringBuilder();
    outcomes.forEach(outcome -> text.append(outcome).append(System.lineSeparator()));
    return text.append("%d passed, %d failed%n".formatted(passed(), failed())).toString();
  }

  /** {@code {"passed","failed","failures":[{"id","step","verb","difference"}]}}. */
  public String json() {
    ObjectNode root = JSON.createObjectNode();
    root.put("passed", passed());
    root.put("failed", failed());
    ArrayNode list = root.putArray("failures");
    for (Failure failure : failures()) {
      list.addObject()
          .put("id", failure.id())
          .put("step", failure.step())
          .put("verb", failure.verb())
          .put("difference", failure.difference());
    }
    return root.toString();
  }
}
