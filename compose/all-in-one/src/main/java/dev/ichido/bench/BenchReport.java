package dev.ichido.bench;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/**
 * What a bench measured.
 *
 * @param doors the path through each door
 * @param readySeconds from the start of the stack until every role did its work
 * @param idle while nothing was asked of the stack
 * @param findings what was not as it must be; then the figures are worth nothing
 */
public record BenchReport(
    String setup,
    Map<Workload, Measured> ours,
    Map<Workload, Measured> plain,
    Map<Door, Map<Workload, Measured>> doors,
    double readySeconds,
    Idle idle,
    List<String> findings) {
  private static final JsonMapper JSON = new JsonMapper();

  /** Shares of a core: of the whole, and of its parts. */
  public record Idle(double cores, Map<String, Double> parts) {}

  public boolean holds() {
    return findings.isEmpty();
  }

  /**
   * {@code workloads}, {@code baseline_pg} and {@code ratios}, each by workload, and {@code doors}
   * by door and workload.
   */
  public ObjectNode toJson() {
    ObjectNode document = JSON.createObjectNode();
    ObjectNode workloads = document.putObject("workloads");
    ours.forEach((workload, measured) -> workloads.set(workload.label(), measured.toJson()));
    ObjectNode baseline = document.putObject("baseline_pg");
    plain.forEach((workload, measured) -> baseline.set(workload.label(), measured.toJson()));
    ObjectNode ratios = document.putObject("ratios");
    plain.forEach(
        (workload, measured) -> {
          Measured mine = ours.get(workload);
          if (mine != null) {
            ratios.set(workload.label(), mine.over(measured));
          }
        });
    ObjectNode through = document.putObject("doors");
    doors.forEach(
        (door, byWorkload) -> {
          ObjectNode each = through.putObject(door.label());
          byWorkload.forEach(
              (workload, measured) -> {
                ObjectNode figures = measured.toJson();
                figures.set("added_ms", measured.moreThan(requireNonNull(ours.get(workload))));
                each.set(workload.label(), figures);
              });
        });
    document
        .put("ready_s", Measured.rounded(readySeconds))
        .put("idle_cores", Measured.rounded(idle.cores()));
    ObjectNode parts = document.putObject("idle_cores_by_part");
    idle.parts().forEach((part, cores) -> parts.put(part, Measured.rounded(cores)));
    return document;
  }

  /** A table for people. */
  public String toText() {
    StringBuilder text = new StringBuilder(setup).append('\n');
    text.append(
        "Ready after %.1f s; idle %.1f %% of a core.%n"
            .formatted(readySeconds, 100 * idle.cores()));
    text.append("Idle, % of a core by part:");
    idle.parts().entrySet().stream()
        .filter(entry -> entry.getValue() >= 0.001)
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .forEach(
            entry -> text.append(" %s %.1f".formatted(entry.getKey(), 100 * entry.getValue())));
    text.append('\n');
    text.append(
        "\n%-14s %8s %s %9s %8s %8s %8s %9s %8s%n"
            .formatted(
                "", "ops/s", "[min-max]", "p50 ms", "p95", "p99", "p99.9", "cpu/1000", "peak MB"));
    ours.forEach(
        (workload, measured) -> {
          text.append(measured.line(workload.label()));
          Measured other = plain.get(workload);
          if (other != null) {
            text.append(other.line("  plain table"));
          }
          doors.forEach(
              (door, byWorkload) -> {
                Measured through = byWorkload.get(workload);
                if (through != null) {
                  text.append(through.line("  door " + door.label()));
                  text.append("  added ms      ").append(through.moreThan(measured)).append('\n');
                }
              });
        });
    text.append("\nWhere the time goes, p50 / p99 ms, from the outbox row on:\n");
    ours.forEach(
        (workload, measured) -> {
          text.append("%-10s".formatted(workload.label()));
          measured
              .stages()
              .forEach(
                  (name, micros) ->
                      text.append(
                          " %s %.1f/%.1f"
                              .formatted(
                                  name,
                                  micros.getValueAtPercentile(50) / 1e3,
                                  micros.getValueAtPercentile(99) / 1e3)));
          text.append('\n');
        });
    text.append(
        "\nProcessor time by part, ms per 1,000 operations, compilers and caller included:\n");
    ours.forEach(
        (workload, measured) -> {
          text.append("%-10s".formatted(workload.label()));
          measured
              .partsMsPer1000()
              .forEach((part, ms) -> text.append(" %s %.0f,".formatted(part, ms)));
          text.setCharAt(text.length() - 1, '\n');
        });
    findings.forEach(finding -> text.append("NOT AS IT MUST BE: ").append(finding).append('\n'));
    return text.toString();
  }
}
