package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ScenariosTest {
  @Test
  void idsAreStableWordsAndUnique() {
    assertThat(Battery.ids()).doesNotHaveDuplicates().allMatch(id -> id.matches("[a-z0-9-]{4,40}"));
    assertThat(Scenarios.all()).allMatch(it -> !it.covers().isEmpty() && !it.does().isBlank());
  }

  @Test
  void aScenarioThatFailedInOneRoundFails() {
    ScenarioReport good = report(List.of(), 0, 0);
    ScenarioReport bad = report(List.of("1 duplicate effects"), 1, 0);
    BatteryReport both =
        new BatteryReport(
            7,
            2,
            false,
            BatteryReport.Taken.here(),
            3,
            List.of(ScenarioReport.sum(List.of(good, bad))));
    JsonNode document = both.toJson();
    assertThat(both.failed()).isEqualTo(1);
    assertThat(document.at("/scenarios/0/pass").asBoolean()).isFalse();
    assertThat(document.path("duplicate_effects").asInt()).isEqualTo(1);
    assertThat(document.at("/metrics/duplicate_side_effect_rate").asDouble()).isEqualTo(0.05);
    assertThat(FaultTable.markdown(document)).contains("| **no** |").contains("**1 duplicate");
  }

  private static ScenarioReport report(List<String> findings, long duplicates, long lost) {
    return new ScenarioReport(
        Scenarios.all().getFirst(),
        1,
        10,
        12,
        10 + duplicates,
        duplicates,
        lost,
        0,
        0,
        new Metrics(10, 12, 10, duplicates, 0, 0, 0, 0, 0, 0),
        Map.of("SETTLED", 12),
        List.of(),
        List.of(),
        findings,
        1);
  }
}
