package dev.ichido.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.OperationStateMachine;
import dev.ichido.simulation.Shipped.Flaw;
import dev.ichido.simulation.ShippedTask.Out;
import dev.ichido.topology.NodeNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The shipped topology goes along with the model of the processors, record by record, so that what
 * holds for the model holds for it. {@code -Dlockstep.runs=100000} runs more, and {@code
 * -Dsimulation.seed=N} begins elsewhere.
 */
@Tag("FR-01")
@Tag("FR-10")
class LockstepTest {
  private static final long RUNS = Long.getLong("lockstep.runs", 3_500);
  private static final long FIRST = Long.getLong("simulation.seed", 0);
  private static final int SOON = 300;
  private static final int SHORT = 40;

  private static Simulation lockstep(Profile profile, Protocol protocol, Flaw flaw) {
    ShippedGraph graph = new ShippedGraph(Shipped.policies(profile));
    return new Simulation(profile, protocol, world -> new Shipped(world, graph, flaw));
  }

  @ParameterizedTest
  @MethodSource("dev.ichido.simulation.Profile#all")
  void theModelDoesWhatTheShippedTopologyDoes(Profile profile) {
    Simulation simulation = lockstep(profile, Protocol.SHIPPED, Flaw.NONE);
    long runs = Math.ceilDiv(RUNS, Profile.all().size());
    for (long seed = FIRST; seed < FIRST + runs; seed++) {
      Optional<Simulation.Failure> failure = simulation.run(seed);
      if (failure.isPresent()) {
        throw new AssertionError(failure.get().text());
      }
    }
    System.out.printf("Lockstep: %s, %d runs, %d steps%n", profile, runs, simulation.steps());
  }

  /**
   * One of the two does otherwise.
   *
   * @param profile under which it shows
   */
  record Otherwise(String what, String profile, Protocol model, Flaw shipped) {
    @Override
    public String toString() {
      return what;
    }
  }

  static Stream<Otherwise> otherwise() {
    return Stream.of(
        new Otherwise(
            "the model calls leases over by the clock alone",
            "status read",
            Protocol.SHIPPED.with(
                (state, event, heard, policy) ->
                    OperationStateMachine.decide(state, event, policy)),
            Flaw.NONE),
        shipped("a command is lost", "status read", lost(it -> it.topic().endsWith(".commands"))),
        shipped(
            "news for the index of meanings is lost",
            "suspects are held",
            lost(it -> it.topic().startsWith(NodeNames.SUSPECTS))),
        shipped(
            "mail of a compensation is lost",
            "compensations",
            lost(it -> it.topic().startsWith(NodeNames.COMPENSATIONS))),
        shipped("deadlines are not restored", "status read", forgets(NodeNames.DEADLINE_STORE)),
        shipped(
            "the index is not restored", "suspects are held", forgets(NodeNames.SUSPECT_STORE)));
  }

  private static Otherwise shipped(String what, String profile, Flaw flaw) {
    return new Otherwise(what, profile, Protocol.SHIPPED, flaw);
  }

  private static Flaw lost(Predicate<Out> which) {
    return new Flaw() {
      @Override
      public List<Out> sends(List<Out> sent) {
        List<Out> left = new ArrayList<>(sent);
        left.removeIf(which);
        return left;
      }
    };
  }

  private static Flaw forgets(String store) {
    return new Flaw() {
      @Override
      public void keeps(Map<String, NavigableMap<Bytes, byte[]>> changelogs) {
        changelogs.remove(store);
      }
    };
  }

  @ParameterizedTest
  @MethodSource("otherwise")
  void aDifferenceIsFoundSoonWithAShortSchedule(Otherwise otherwise) {
    Profile profile =
        Profile.all().stream()
            .filter(it -> it.name().equals(otherwise.profile()))
            .findFirst()
            .orElseThrow();
    Simulation simulation = lockstep(profile, otherwise.model(), otherwise.shipped());
    Simulation.Failure failure =
        LongStream.range(0, SOON)
            .mapToObj(simulation::run)
            .flatMap(Optional::stream)
            .findFirst()
            .orElseThrow(() -> new AssertionError("no seed shows it"));
    assertThat(failure.invariant()).isEqualTo(Invariant.AS_SHIPPED);
    assertThat(failure.schedule()).hasSizeLessThan(SHORT);
  }
}
