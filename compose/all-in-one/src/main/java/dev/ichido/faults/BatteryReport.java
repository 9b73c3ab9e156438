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

  /** Scenarios that do not hold. */
  public long failed() {
    return scenarios.stream().filter(it -> !it.pass()).count();
  }

  /** The document of {@code --json}. */
  public ObjectNode toJson() {
    ObjectNode document = JSON.createObjectNode().put("seed", seed).put("rounds", rounds);
    ArrayNode all = document.putArray("scenarios");
    Metrics metrics = Metrics.NONE;
    for (ScenarioReport report : scenarios) {
      metrics = metrics.plus(report.metrics());
      all.add(toJson(report));
    }
    document
        .put("operations", metrics.operations())
        .put("duplicate_effects", metrics.duplicateEffects())
        .put("lost", scenarios.stream().mapToLong(ScenarioReport::lost).sum())
        .put("false_dedupe", metrics.falseDedupes());
    document.set("metrics", metrics.toJson());
    return document.put("failed", failed());
  }

  private static ObjectNode toJson(ScenarioReport report) {
    Scenario scenario =
        Scenarios.all().stream()
            .filter(it -> it.id().equals(report.id()))
            .findFirst()
            .orElseThrow();
    ObjectNode json =
        JSON.createObjectNode().put("id", report.id()).put("group", scenario.group().title());
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
