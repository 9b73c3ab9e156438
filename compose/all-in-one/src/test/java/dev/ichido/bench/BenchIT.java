package dev.ichido.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.config.ConfigLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchIT {
  @TempDir Path data;

  @Test
  void measuresEveryWorkloadOnEveryPathAndLeavesNothingBehind() throws Exception {
    BenchReport report = run(EnumSet.allOf(Workload.class), true, EnumSet.allOf(Door.class), "");

    assertThat(report.findings()).isEmpty();
    JsonNode document = report.toJson();
    for (String workload : List.of("first", "duplicate", "latency", "mixed")) {
      for (String path : List.of("workloads", "baseline_pg")) {
        JsonNode figures = document.path(path).path(workload);
        assertThat(figures.path("ops_per_s").path("median").asDouble()).isPositive();
        assertThat(figures.path("latency_ms").path("p999").asDouble())
            .isGreaterThanOrEqualTo(figures.path("latency_ms").path("p50").asDouble());
        assertThat(figures.has("cpu_s_per_1000")).isTrue();
        assertThat(figures.path("peak_mb").asDouble()).isPositive();
      }
      for (String name : List.of("http", "mcp")) {
        JsonNode door = document.path("doors").path(name).path(workload);
        assertThat(door.path("latency_ms").path("p50").asDouble()).isPositive();
        assertThat(door.path("added_ms").has("p99")).isTrue();
      }
      assertThat(document.path("ratios").path(workload).path("ops_per_s").asDouble()).isPositive();
    }
    assertThat(stages(document, "first"))
        .containsExactly("topic", "decided", "claimed", "effect", "result", "settled", "inbox");
    assertThat(stages(document, "duplicate")).containsExactly("topic", "decided", "inbox");
    try (Stream<Path> left = Files.list(data)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void everyEffectHappensOnceUnderTheOtherGuaranteeToo() throws Exception {
    BenchReport report =
        run(
            EnumSet.of(Workload.FIRST, Workload.DUPLICATE),
            false,
            EnumSet.noneOf(Door.class),
            "processor: { guarantee: at_least_once }");

    assertThat(report.findings()).isEmpty();
    assertThat(report.toText()).contains("processing at_least_once");
  }

  private BenchReport run(
      Set<Workload> workloads, boolean baseline, Set<Door> doors, String settings)
      throws Exception {
    return new Bench(
            new Bench.Wish(
                workloads,
                120,
                16,
                100,
                1,
                baseline,
                doors,
                ConfigLoader.ofProcess().load("settings of the test", settings),
                data),
            line -> {})
        .run();
  }

  private static List<String> stages(JsonNode document, String workload) {
    JsonNode stages = document.path("workloads").path(workload).path("stages_ms");
    return stages.properties().stream().map(java.util.Map.Entry::getKey).toList();
  }
}
