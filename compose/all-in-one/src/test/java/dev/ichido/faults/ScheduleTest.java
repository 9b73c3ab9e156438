package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScheduleTest {
  @Test
  void theSameSeedChoosesTheSameOnEveryMachine() {
    assertThat(drawn(7, "crash-relay", 1))
        .containsExactly("at 14.7 % of the load", "at 80.6 % of the load", "741 ms");
    assertThat(new Schedule(7, "crash-relay", 1).deliveries(12))
        .containsExactly(1, 2, 3, 1, 3, 2, 1, 1, 2, 1, 1, 1);
  }

  @Test
  void anotherSeedScenarioOrRoundChoosesAnother() {
    List<String> first = drawn(7, "crash-relay", 1);
    assertThat(drawn(8, "crash-relay", 1)).isNotEqualTo(first);
    assertThat(drawn(7, "crash-inbox", 1)).isNotEqualTo(first);
    assertThat(drawn(7, "crash-relay", 2)).isNotEqualTo(first);
  }

  @Test
  void aLoadAndTheFaultsDoNotDrawFromEachOther() {
    Schedule schedule = new Schedule(7, "crash-relay", 1);
    schedule.deliveries(2_000);
    assertThat(schedule.shares(3)).isEqualTo(new Schedule(7, "crash-relay", 1).shares(3));
  }

  @Test
  void strikesAreSpreadOverTheLoadAndDeliveriesAreOneToThree() {
    Schedule schedule = new Schedule(7, "crash-relay", 1);
    List<Double> shares = schedule.shares(8);
    for (int i = 0; i < 8; i++) {
      assertThat(shares.get(i)).isBetween(i / 8.0, (i + 1) / 8.0);
    }
    assertThat(schedule.deliveries(2_000)).contains(1, 2, 3).allMatch(it -> it >= 1 && it <= 3);
  }

  private static List<String> drawn(long seed, String scenario, int round) {
    Schedule schedule = new Schedule(seed, scenario, round);
    schedule.shares(2);
    schedule.time(Duration.ofMillis(100), Duration.ofMillis(900));
    return schedule.drawn();
  }
}
