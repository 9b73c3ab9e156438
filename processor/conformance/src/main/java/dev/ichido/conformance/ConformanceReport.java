package dev.ichido.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * What came of the scenarios.
 *
 * @param passed number of scenarios that hold
 * @param failures those that do not, in the order of the files
 */
public record ConformanceReport(int passed, List<Failure> failures) {
  private static final ObjectMapper JSON = new ObjectMapper();

  public ConformanceReport {
    failures = List.copyOf(failures);
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

  public int failed() {
    return failures.size();
  }

  public boolean holds() {
    return failures.isEmpty();
  }

  /** {@code N passed, N failed}, then a line a failure. */
  public String text() {
    StringBuilder text = new StringBuilder("%d passed, %d failed%n".formatted(passed, failed()));
    failures.forEach(failure -> text.append(failure).append(System.lineSeparator()));
    return text.toString();
  }

  /** {@code {"passed","failed","failures":[{"id","step","verb","difference"}]}}. */
  public String json() {
    ObjectNode root = JSON.createObjectNode();
    root.put("passed", passed);
    root.put("failed", failed());
    ArrayNode list = root.putArray("failures");
    for (Failure failure : failures) {
      list.addObject()
          .put("id", failure.id())
          .put("step", failure.step())
          .put("verb", failure.verb())
          .put("difference", failure.difference());
    }
    return root.toString();
  }
}
