package dev.ichido.faults;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/**
 * What came of the battery.
 *
 * @param scenarios in the order of the catalogue, each over all rounds
 */
public record BatteryReport(long seed, int rounds, List<ScenarioReport> scenarios) {
  private static final JsonMapper JSON = new JsonMapper();

  /** Scenarios that do not hold, known limits aside. */
  public long failed() {
    return claimed().stream().filter(it -> !it.pass()).count();
  }

  private List<ScenarioReport> claimed() {
    return scenarios.stream().filter(it -> !isLimit(it)).toList();
  }

  private static boolean isLimit(ScenarioReport report) {
    return report.scenario().group() == Scenario.Group.LIMITS;
  }

  /**
   * The document of {@code --json}. Known limits are among the scenarios, with what they did; the
   * totals are of what is claimed, and those of the limits stand beside them.
   */
  public ObjectNode toJson() {
    ObjectNode document = JSON.createObjectNode().put("seed", seed).put("rounds", rounds);
    ArrayNode all = document.putArray("scenarios");
    scenarios.forEach(report -> all.add(toJson(report)));
    Metrics metrics =
        claimed().stream().map(ScenarioReport::metrics).reduce(Metrics.NONE, Metrics::plus);
    document
        .put("operations", metrics.operations())
        .put("duplicate_effects", metrics.duplicateEffects())
        .put("lost", claimed().stream().mapToLong(ScenarioReport::lost).sum())
        .put("unknown", claimed().stream().mapToLong(ScenarioReport::unknown).sum())
        .put("false_dedupe", metrics.falseDedupes());
    document.set("metrics", metrics.toJson());
    List<ScenarioReport> limits = scenarios.stream().filter(BatteryReport::isLimit).toList();
    document
        .putObject("known_limits")
        .put("scenarios", limits.size())
        .put(
            "duplicate_effects", limits.stream().mapToLong(ScenarioReport::duplicateEffects).sum());
    return document.put("failed", failed());
  }

  private static ObjectNode toJson(ScenarioReport report) {
    Scenario scenario = report.scenario();
    ObjectNode json =
        JSON.createObjectNode().put("id", scenario.id()).put("group", scenario.group().title());
    scenario.covers().forEach(json.putArray("covers")::add);
    json.put("does", scenario.does())
        .put("expected", scenario.expected())
        .put("operations", report.operations())
        .put("deliveries", report.deliveries())
        .put("effects", report.effects())
        .put("duplicate_effects", report.duplicateEffects())
        .put("lost", report.lost())
        .put("unknown", report.unknown())
        .put("unanswered", report.unanswered());
    ObjectNode verdicts = json.putObject("verdicts");
    for (Map.Entry<String, Integer> verdict : report.verdicts().entrySet()) {
      verdicts.put(verdict.getKey(), verdict.getValue());
    }
    json.set("metrics", report.metrics().toJson());
    report.done().forEach(json.putArray("done")::add);
    report.findings().forEach(json.putArray("findings")::add);
    return json.put("seconds", Math.round(report.seconds() * 10) / 10.0).put("pass", report.pass());
  }
}
