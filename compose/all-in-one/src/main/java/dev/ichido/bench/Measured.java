package dev.ichido.bench;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * The runs of one workload over one path.
 *
 * @param stages of the last run, in microseconds; empty for the base line
 * @param parts processor seconds of all runs by part of the stack; empty for the base line
 */
record Measured(List<Run> runs, Map<String, Histogram> stages, Map<String, Double> parts) {
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * One run.
   *
   * @param cpuSeconds of this process and the database; the remote's are not in it
   * @param peakMb the most memory that was seen, once a second
   */
  record Run(Load.Outcome outcome, double cpuSeconds, double peakMb) {
    double cpuPer1000() {
      return cpuSeconds / outcome.operations() * 1_000;
    }
  }

  double median(ToDoubleFunction<Run> figure) {
    double[] sorted = runs.stream().mapToDouble(figure).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  double perSecond() {
    return median(run -> run.outcome().perSecond());
  }

  /** Median of the runs' percentiles, in milliseconds. */
  double latencyMs(double percentile) {
    return median(run -> run.outcome().latencyMicros().getValueAtPercentile(percentile) / 1e3);
  }

  double cpuPer1000() {
    return median(Run::cpuPer1000);
  }

  double peakMb() {
    return runs.stream().mapToDouble(Run::peakMb).max().orElse(0);
  }

  Map<String, Integer> errors() {
    Map<String, Integer> all = new TreeMap<>();
    runs.forEach(
        run -> run.outcome().errors().forEach((what, n) -> all.merge(what, n, Integer::sum)));
    return all;
  }

  ObjectNode toJson() {
    double[] rates = runs.stream().mapToDouble(run -> run.outcome().perSecond()).sorted().toArray();
    ObjectNode node = JSON.createObjectNode();
    node.putObject("ops_per_s")
        .put("median", rounded(perSecond()))
        .put("min", rounded(rates[0]))
        .put("max", rounded(rates[rates.length - 1]));
    node.putObject("latency_ms")
        .put("p50", rounded(latencyMs(50)))
        .put("p95", rounded(latencyMs(95)))
        .put("p99", rounded(latencyMs(99)))
        .put("p999", rounded(latencyMs(99.9)));
    node.put("cpu_s_per_1000", rounded(cpuPer1000())).put("peak_mb", rounded(peakMb()));
    ObjectNode each = node.putObject("stages_ms");
    stages.forEach(
        (name, micros) ->
            each.putObject(name)
                .put("p50", rounded(micros.getValueAtPercentile(50) / 1e3))
                .put("p99", rounded(micros.getValueAtPercentile(99) / 1e3)));
    ObjectNode spent = node.putObject("cpu_ms_per_1000_by_part");
    partsMsPer1000().forEach((part, ms) -> spent.put(part, rounded(ms)));
    return node;
  }

  /** Milliseconds of processor time per 1,000 operations, the largest first. */
  Map<String, Double> partsMsPer1000() {
    double thousands = runs.stream().mapToInt(run -> run.outcome().operations()).sum() / 1e3;
    Map<String, Double> sorted = new LinkedHashMap<>();
    parts.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .forEach(entry -> sorted.put(entry.getKey(), entry.getValue() * 1e3 / thousands));
    return sorted;
  }

  /** This path's figures over the other's. */
  ObjectNode over(Measured other) {
    return JSON.createObjectNode()
        .put("ops_per_s", rounded(perSecond() / other.perSecond()))
        .put("latency_p50", rounded(latencyMs(50) / other.latencyMs(50)))
        .put("latency_p99", rounded(latencyMs(99) / other.latencyMs(99)))
        .put("cpu_s_per_1000", rounded(cpuPer1000() / other.cpuPer1000()));
  }

  /** What this path's percentiles are above the other's, in milliseconds. */
  ObjectNode moreThan(Measured other) {
    return JSON.createObjectNode()
        .put("p50", rounded(latencyMs(50) - other.latencyMs(50)))
        .put("p99", rounded(latencyMs(99) - other.latencyMs(99)));
  }

  static double rounded(double value) {
    return Double.isFinite(value) ? Math.round(value * 1e3) / 1e3 : 0;
  }

  String line(String name) {
    double[] rates = runs.stream().mapToDouble(run -> run.outcome().perSecond()).sorted().toArray();
    return "%-14s %8.0f [%.0f-%.0f] %9.1f %8.1f %8.1f %8.1f %9.2f %8.0f%n"
        .formatted(
            name,
            perSecond(),
            Arrays.stream(rates).min().orElse(0),
            Arrays.stream(rates).max().orElse(0),
            latencyMs(50),
            latencyMs(95),
            latencyMs(99),
            latencyMs(99.9),
            cpuPer1000(),
            peakMb());
  }
}
