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
    ScenarioReport good = report(List.of(), 0);
    ScenarioReport bad = report(List.of("1 duplicate effects"), 1);
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
    assertThat(document.at("/scenarios/0/operations_by_effects").toString())
        .isEqualTo("{\"0\":0,\"1\":19,\"2+\":1}");
    assertThat(document.at("/metrics/unknown/after_a_call").asDouble()).isEqualTo(0.1);
    assertThat(document.at("/metrics/unknown/before_any_call").asDouble()).isEqualTo(0.2);
    assertThat(document.at("/metrics/retry_amplification/attempts_per_operation").asDouble())
        .isEqualTo(1.1);
    assertThat(FaultTable.markdown(document))
        .contains("| **no** |", "**1 duplicate", "| 0 / 19 / 1 |", "| 6, 4 before any call |")
        .contains(
            "(0.1 where a call may have been made, 0.2 because the lease ended before any)",
            "1.1 attempts");
  }

  @Test
  void anEffectThatComesAfterTheJudgementFails() {
    ScenarioReport late = report(List.of(), 0).recounted(new EffectCount(0, 9, 1, 11, 1, 0, 0));
    assertThat(late.pass()).isFalse();
    assertThat(late.findings())
        .containsExactly("1 effects came after the scenario was judged; now 1 are duplicates");
    assertThat(late.metrics().duplicateEffects()).isEqualTo(1);
  }

  @Test
  void aRigsHistoryIsTheSameInEveryRun() {
    List<Scenario> all = Scenarios.all();
    List<List<Battery.Turn>> lanes = Battery.lanes(all, 2);
    assertThat(lanes).hasSize(2).isEqualTo(Battery.lanes(all, 2));
    assertThat(lanes.stream().flatMap(List::stream))
        .hasSize(2 * all.size())
        .doesNotHaveDuplicates();
    assertThat(lanes)
        .allSatisfy(
            lane ->
                assertThat(lane)
                    .extracting(Battery.Turn::scenario)
                    .containsExactlyInAnyOrderElementsOf(all));
    assertThat(Battery.lanes(all.subList(0, 4), 1)).hasSize(1);
  }

  private static ScenarioReport report(List<String> findings, long duplicates) {
    return new ScenarioReport(
        Scenarios.all().getFirst(),
        1,
        10,
        12,
        new EffectCount(0, 10 - duplicates, duplicates, 10 + duplicates, duplicates, 0, 0),
        0,
        0,
        new Metrics(10, 12, 11, 10, duplicates, 0, 3, 2, 0, 0, 0, 0),
        Map.of("SETTLED", 12),
        List.of(),
        List.of(),
        findings,
        1);
  }
}
