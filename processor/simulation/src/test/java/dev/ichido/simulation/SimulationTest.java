package dev.ichido.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.Verdict;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The shipped rules in worlds of every kind of remote, under loss, duplicates, reordering, crashes
 * at every step, zombies and wrong clocks. {@code -Dsimulation.runs=1000000} runs more of them and
 * {@code -Dsimulation.seed=N} begins elsewhere.
 */
@Tag("FR-01")
@Tag("FR-03")
@Tag("FR-04")
@Tag("FR-07")
@Tag("FR-09")
@Tag("FR-13")
@Tag("FR-14")
@Tag("FR-24")
@Tag("FR-25")
@Tag("FR-31")
@Tag("FR-32")
class SimulationTest {
  private static final long RUNS = Long.getLong("simulation.runs", 10_000);
  private static final long FIRST = Long.getLong("simulation.seed", 0);

  @Test
  void noSeedBreaksAnInvariant() {
    List<Profile> profiles = Profile.all();
    Set<Verdict> verdicts = EnumSet.noneOf(Verdict.class);
    Set<Action.Kind> kinds = EnumSet.noneOf(Action.Kind.class);
    for (int i = 0; i < profiles.size(); i++) {
      Simulation simulation = new Simulation(profiles.get(i), Protocol.SHIPPED);
      long runs = RUNS / profiles.size() + (i < RUNS % profiles.size() ? 1 : 0);
      for (long seed = FIRST; seed < FIRST + runs; seed++) {
        Optional<Simulation.Failure> failure = simulation.run(seed);
        if (failure.isPresent()) {
          throw new AssertionError(failure.get().text());
        }
      }
      verdicts.addAll(simulation.verdicts());
      kinds.addAll(simulation.kinds());
      System.out.printf(
          "Simulation: %s, %d runs, %d steps, %d effects, %d operations doubled through the gap%n",
          profiles.get(i), runs, simulation.steps(), simulation.effects(), simulation.doubled());
    }
    assertThat(verdicts)
        .containsAll(
            EnumSet.of(
                Verdict.CLAIMED,
                Verdict.RECLAIMED,
                Verdict.PASSED_THROUGH,
                Verdict.DUPLICATE_IN_PROGRESS,
                Verdict.REPLAYED,
                Verdict.HELD_UNKNOWN,
                Verdict.RETRY_LATER,
                Verdict.UNAUTHORIZED,
                Verdict.FINGERPRINT_MISMATCH,
                Verdict.LATE_REPLAY,
                Verdict.EXPIRED,
                Verdict.CANCELLED,
                Verdict.SETTLED,
                Verdict.LATE_SUCCESS,
                Verdict.STALE_RESULT,
                Verdict.DUPLICATE_RESULT,
                Verdict.LEASE_EXPIRED,
                Verdict.RECONCILED,
                Verdict.STILL_UNKNOWN,
                Verdict.RESOLVED,
                Verdict.HELD_SUSPECT,
                Verdict.COMPENSATION_GRANTED,
                Verdict.COMPENSATION_RELEASED));
    assertThat(EnumSet.complementOf(EnumSet.copyOf(kinds)))
        .containsExactlyInAnyOrder(
            Action.Kind.PROCESSOR_FLUSHES, Action.Kind.PROCESSOR_CRASHES_ON_DISK);
  }

  @Test
  void equalSeedsGiveEqualRuns() {
    Protocol broken = Protocol.SHIPPED.with(new Protocol.RelayRules(true, false));
    Profile profile = Profile.all().get(1);
    for (long seed = 0; seed < 100; seed++) {
      assertThat(new Simulation(profile, broken).run(seed))
          .isEqualTo(new Simulation(profile, broken).run(seed));
    }
  }
}
