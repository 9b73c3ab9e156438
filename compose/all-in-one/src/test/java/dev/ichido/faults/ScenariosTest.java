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
            10,
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
    assertThat(document.at("/scenarios/0/done/0").asText()).isEqualTo("round 1: struck");
    assertThat(FaultTable.markdown(document))
        .contains("| **no** |", "**1 duplicate", "| 0 / 19 / 1 |", "| 6, 4 before any call |")
        .contains(
            "| 0 | 1.2 / 1.1 / 1.0 | 0 / 0 | SETTLED 24 | **no** |",
            "- `" + Scenarios.all().getFirst().id() + "`: round 1: 1 duplicate effects")
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
  void aKnownLimitFailsWhenItShowsMoreThanItsSecondEffects() {
    Scenario limit = FailureModes.limits().getFirst();
    ScenarioReport known =
        ScenarioReport.sum(List.of(report(limit, List.of("1 duplicate effects"), 1)));
    ScenarioReport untold =
        ScenarioReport.sum(
            List.of(report(limit, List.of("expected SECOND_EFFECT", "1 duplicate effects"), 1)));
    assertThat(battery(known).failed()).isZero();
    assertThat(battery(untold).failed()).isEqualTo(1);
    assertThat(battery(untold).toJson().path("duplicate_effects").asInt()).isZero();
  }

  @Test
  void aStoppedBatteryTellsTheTimeOfItsCompleteRounds() {
    Scenario one = Scenarios.all().getFirst();
    Scenario two = Scenarios.all().getLast();
    assertThat(
            Battery.endOf(
                2,
                Map.of(
                    new Battery.Turn(one, 1), 10L,
                    new Battery.Turn(two, 1), 12L,
                    new Battery.Turn(one, 2), 20L,
                    new Battery.Turn(two, 2), 18L,
                    new Battery.Turn(one, 3), 30L)))
        .isEqualTo(20);
    JsonNode complete = stopped(2, 20);
    assertThat(complete.path("seconds_per_round").asInt()).isEqualTo(10);
    assertThat(FaultTable.markdown(complete)).contains("in 20 s: 10 s a round, where 600");
    JsonNode incomplete = stopped(0, 5);
    assertThat(incomplete.has("seconds_per_round")).isFalse();
    assertThat(FaultTable.markdown(incomplete)).contains("in 5 s.\n\n**Stopped before its end.**");
  }

  private static JsonNode stopped(int rounds, double seconds) {
    return new BatteryReport(
            7,
            rounds,
            10,
            true,
            BatteryReport.Taken.here(),
            seconds,
            List.of(ScenarioReport.sum(List.of(report(List.of(), 0)))))
        .toJson();
  }

  private static BatteryReport battery(ScenarioReport report) {
    return new BatteryReport(7, 1, 10, false, BatteryReport.Taken.here(), 3, List.of(report));
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
    return report(Scenarios.all().getFirst(), findings, duplicates);
  }

  private static ScenarioReport report(Scenario scenario, List<String> findings, long duplicates) {
    return new ScenarioReport(
        scenario,
        1,
        10,
        12,
        new EffectCount(0, 10 - duplicates, duplicates, 10 + duplicates, duplicates, 0, 0),
        0,
        0,
        new Metrics(10, 12, 11, 10, duplicates, 0, 3, 2, 0, 0, 0, 0),
        Map.of("SETTLED", 12),
        List.of(),
        List.of("struck"),
        findings,
        1);
  }
}
