package dev.ichido.faults;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/**
 * What came of the battery.
 *
 * @param rounds that are complete; 0 when it was stopped in the first
 * @param loadOperations operations of each load
 * @param stopped whether it was interrupted
 * @param seconds from the first process's start to the last one's end; when it was stopped, to the
 *     end of the last complete round, if there is one
 * @param scenarios in the order of the catalogue, each over all rounds; those that were done when
 *     it was stopped in the first
 */
public record BatteryReport(
    long seed,
    int rounds,
    int loadOperations,
    boolean stopped,
    Taken taken,
    double seconds,
    List<ScenarioReport> scenarios) {
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * Of what and where the run was taken.
   *
   * @param commit as git names it, or {@code unknown}; {@code -dirty} when files differ from it
   */
  public record Taken(
      Instant at, String commit, int processors, long memoryMegabytes, String system, String java) {
    /** This machine, now. */
    public static Taken here() {
      long bytes =
          ManagementFactory.getOperatingSystemMXBean()
                  instanceof com.sun.management.OperatingSystemMXBean machine
              ? machine.getTotalMemorySize()
              : 0;
      return new Taken(
          Clock.systemUTC().instant().truncatedTo(ChronoUnit.SECONDS),
          System.getProperty("ichido.commit", "unknown"),
          Runtime.getRuntime().availableProcessors(),
          bytes >> 20,
          System.getProperty("os.name") + " " + System.getProperty("os.arch"),
          Runtime.version().toString());
    }

    private ObjectNode toJson() {
      return JSON.createObjectNode()
          .put("at", at.toString())
          .put("commit", commit)
          .put("processors", processors)
          .put("memory_mb", memoryMegabytes)
          .put("system", system)
          .put("java", java);
    }
  }

  /** Scenarios that do not hold; of known limits those that show more than what is known. */
  public long failed() {
    return scenarios.stream().filter(it -> !it.isAsKnown()).count();
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
    ObjectNode document =
        JSON.createObjectNode()
            .put("seed", seed)
            .put("rounds", rounds)
            .put("load_operations", loadOperations);
    if (stopped) {
      document.put("stopped", true);
    }
    document.set("taken", taken.toJson());
    document.put("seconds", Math.round(seconds));
    if (rounds > 0) {
      document.put("seconds_per_round", Math.round(seconds / rounds));
    }
    ArrayNode all = document.putArray("scenarios");
    scenarios.forEach(report -> all.add(toJson(report)));
    Metrics metrics =
        claimed().stream().map(ScenarioReport::metrics).reduce(Metrics.NONE, Metrics::plus);
    document
        .put("operations", metrics.operations())
        .put("duplicate_effects", metrics.duplicateEffects())
        .put("lost", claimed().stream().mapToLong(it -> it.effects().lost()).sum())
        .put("unknown", claimed().stream().mapToLong(ScenarioReport::unknown).sum())
        .put("false_dedupe", metrics.falseDedupes());
    document.set("metrics", metrics.toJson());
    List<ScenarioReport> limits = scenarios.stream().filter(BatteryReport::isLimit).toList();
    ObjectNode known = document.putObject("known_limits").put("scenarios", limits.size());
    ArrayNode ids = known.putArray("ids");
    limits.forEach(it -> ids.add(it.scenario().id()));
    known.put(
        "duplicate_effects", limits.stream().mapToLong(it -> it.effects().duplicates()).sum());
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
        .put("effects", report.effects().all())
        .put("duplicate_effects", report.effects().duplicates())
        .put("lost", report.effects().lost())
        .put("unknown", report.unknown())
        .put("unanswered", report.unanswered());
    json.putObject("operations_by_effects")
        .put("0", report.effects().none())
        .put("1", report.effects().one())
        .put("2+", report.effects().more());
    ObjectNode verdicts = json.putObject("verdicts");
    for (Map.Entry<String, Integer> verdict : report.verdicts().entrySet()) {
      verdicts.put(verdict.getKey(), verdict.getValue());
    }
    json.set("metrics", report.metrics().toJson());
    report.schedule().forEach(json.putArray("schedule")::add);
    report.done().forEach(json.putArray("done")::add);
    report.findings().forEach(json.putArray("findings")::add);
    return json.put("seconds", Math.round(report.seconds() * 10) / 10.0).put("pass", report.pass());
  }
}
