package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.app.Launched;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short form of the battery, from the built jar. */
class FaultsIT {
  @TempDir Path temp;

  @Test
  @Tag("FR-09")
  @Tag("FR-11")
  @Tag("FR-14")
  void theShortFormHolds() throws Exception {
    try (Launched faults =
        Launched.start(
            temp,
            "faults",
            "--only",
            "concurrent-duplicate,key-reuse-mismatch,timeout-after-commit,crash-processor,"
                + "legitimate-twins",
            "--operations",
            "200",
            "--json")) {
      assertThat(faults.awaitExit()).as(faults.err()).isZero();
      JsonNode report = new JsonMapper().readTree(faults.out());
      assertThat(report.path("scenarios")).hasSize(5);
      assertThat(report.path("failed").asInt()).isZero();
      assertThat(report.path("duplicate_effects").asInt()).isZero();
      assertThat(report.path("lost").asInt()).isZero();
      assertThat(report.path("false_dedupe").asInt()).isZero();
      assertThat(report.path("operations").asInt()).isEqualTo(276);
      assertThat(report.at("/scenarios/3/schedule"))
          .extracting(JsonNode::asText)
          .isEqualTo(struck(1, "crash-processor", 3));
    }
  }

  @Test
  @Tag("FR-17")
  void aContractHoldsOnlyWhenItDoesWhatIsAsked() throws Exception {
    Path contract =
        Files.writeString(
            temp.resolve("contract.yaml"),
            """
            actions:
              good: { http: HTTP }
              denying: { http: HTTP }
              choosy: { http: HTTP, schema: { type: object, required: [ticket] } }
            """
                .replace("denying: { http: HTTP }", "denying: { http: DENYING }")
                .replace(
                    "DENYING", http(", rules: [{ status: 200, means: TERMINAL, reason: DENIED }]"))
                .replace("HTTP", http("")));
    String only = "good-clean,denying-clean,choosy-clean";
    try (Launched faults =
        Launched.start(
            temp, "faults", "--contract", contract.toString(), "--only", only, "--json")) {
      assertThat(faults.awaitExit()).as(faults.err()).isEqualTo(1);
      JsonNode scenarios = new JsonMapper().readTree(faults.out()).path("scenarios");
      assertThat(scenarios)
          .extracting(it -> it.path("id").asText() + " " + it.path("pass").asBoolean())
          .containsExactly("good-clean true", "denying-clean false", "choosy-clean false");
      assertThat(scenarios.at("/1/findings").toString())
          .contains("FAILED_TERMINAL", "told as failed");
      assertThat(scenarios.at("/2/findings").toString()).contains("without their effect");
    }
  }

  private static String http(String rules) {
    return "{ url: 'https://a.example/pay', answers: { expected: [200]"
        + rules
        + " }, reference: $.id }";
  }

  private static List<String> struck(long seed, String scenario, int strikes) {
    Schedule schedule = new Schedule(seed, scenario, 1);
    schedule.shares(strikes);
    return schedule.drawn();
  }

  @Test
  void aBatteryThatIsEndedOrKilledLeavesNoProcessBehind() throws Exception {
    try (Launched ended = Launched.start(temp, "faults", "--only", "relay-paused");
        Launched killed = Launched.start(temp, "faults", "--only", "relay-paused")) {
      ended.awaitErr("migrating");
      killed.awaitErr("migrating");
      assertThat(processesOf(ended)).hasSizeGreaterThan(4);
      assertThat(processesOf(killed)).hasSizeGreaterThan(4);
      ended.terminate();
      killed.kill();
      // As of every process that a signal ends.
      assertThat(ended.awaitExit()).isEqualTo(128 + 15);
      assertThat(processesOf(ended)).isEmpty();
      assertThat(ended.err()).contains("stopped with 0 of 1 scenarios done");
      assertThat(ended.err()).doesNotContain("UNEXPECTED");
      assertThat(ended.out()).contains("Stopped before its end.");
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(processesOf(killed)).isEmpty());
    }
  }

  /** Those that name the battery's folder in their command. */
  private static List<String> processesOf(Launched battery) {
    Matcher folder = Pattern.compile("ichido-faults-[0-9]+").matcher(battery.err());
    assertThat(folder.find()).isTrue();
    return ProcessHandle.allProcesses()
        .flatMap(it -> it.info().commandLine().stream())
        .filter(it -> it.contains(folder.group()))
        .toList();
  }
}
