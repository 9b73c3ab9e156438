package dev.ichido.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.cli.Ran;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The main job from the built jar; on real tool calls where the shared file is beside us. */
class DemoIT {
  private static final Path AIRLINE =
      Path.of("..", "..", "..", "shared", "data", "agent-tool-calls", "airline-even.jsonl");

  @TempDir Path temp;

  @Test
  void theSampleTakesEffectOnceAndIsRepeatedWithoutEffects() throws Exception {
    String data = temp.resolve("data").toString();
    JsonNode first = demo(data);
    assertThat(names(first))
        .containsExactly(
            "input_lines",
            "operations",
            "deliveries",
            "effects",
            "duplicate_effects",
            "replies",
            "missing_replies",
            "verdicts",
            "dead_letters",
            "seconds");
    counts(first, 48, 35, 118, 35);
    assertThat(first.at("/verdicts/SETTLED").asInt()).isGreaterThanOrEqualTo(35);

    JsonNode again = demo(data);
    counts(again, 48, 35, 118, 35);
    assertThat(again.at("/verdicts/REPLAYED").asInt()).isEqualTo(105);
    assertThat(again.at("/verdicts/SETTLED").isMissingNode()).isTrue();
    assertThat(Files.readAllLines(Path.of(data, "demo", "effects.jsonl"))).hasSize(35);

    Ran operations = Ran.of("operation", "list", "--data", data, "--json");
    assertThat(new JsonMapper().readTree(operations.out())).hasSize(35);
  }

  @Test
  @Tag("FR-09")
  @Tag("FR-10")
  void aStackThatIsKilledInTheMiddleSettlesAfterTheNextStart() throws Exception {
    boolean shared = Files.exists(AIRLINE);
    String data = temp.resolve("data").toString();
    List<String> arguments = new ArrayList<>(List.of("demo", "--data", data, "--json"));
    if (shared) {
      arguments.addAll(List.of("--input", AIRLINE.toString()));
    }
    String[] command = arguments.toArray(String[]::new);
    Path book = Path.of(data, "demo", "effects.jsonl");
    int few = shared ? 40 : 8;
    try (Launched killed = Launched.start(temp, command)) {
      Awaitility.await()
          .atMost(Duration.ofMinutes(4))
          .pollInterval(Duration.ofMillis(20))
          .until(() -> !killed.isAlive() || lines(book) >= few);
      assertThat(killed.isAlive()).as(killed.err()).isTrue();
      killed.kill();
    }
    try (Launched next = Launched.start(temp, command)) {
      int code = next.awaitExit();
      assertThat(code).as(next.err()).isZero();
      assertThat(next.err()).contains("goes on: the same operations");
      JsonNode report = new JsonMapper().readTree(next.out());
      counts(report, shared ? 577 : 48, shared ? 152 : 35, shared ? 881 : 118, shared ? 152 : 35);
      assertThat(lines(book)).isEqualTo(shared ? 152 : 35);
    }
  }

  private JsonNode demo(String data) throws Exception {
    try (Launched demo = Launched.start(temp, "demo", "--data", data, "--json")) {
      assertThat(demo.awaitExit()).as(demo.err()).isZero();
      return new JsonMapper().readTree(demo.out());
    }
  }

  private static void counts(
      JsonNode report, int lines, int operations, int deliveries, int effects) {
    assertThat(report.path("input_lines").asInt()).isEqualTo(lines);
    assertThat(report.path("operations").asInt()).isEqualTo(operations);
    assertThat(report.path("deliveries").asInt()).isEqualTo(deliveries);
    assertThat(report.path("effects").asInt()).isEqualTo(effects);
    assertThat(report.path("duplicate_effects").asInt()).isZero();
    assertThat(report.path("replies").asInt()).isEqualTo(deliveries);
    assertThat(report.path("missing_replies").asInt()).isZero();
    assertThat(report.path("dead_letters").asInt()).isZero();
  }

  private static List<String> names(JsonNode node) {
    List<String> names = new ArrayList<>();
    node.fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static int lines(Path file) throws IOException {
    return Files.exists(file) ? Files.readAllLines(file).size() : 0;
  }
}
