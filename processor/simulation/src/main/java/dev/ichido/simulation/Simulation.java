package dev.ichido.simulation;

import dev.ichido.decision.Verdict;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs worlds. A seed gives the profile's clocks, the length and every step of a run, so that equal
 * seeds give equal runs.
 */
public final class Simulation {
  private static final int SHORTEST = 40;
  private static final int LONGEST = 300;

  /** How many steps of a hundred bring work on, whatever else may happen. */
  private static final int[] OF_HEALTH = {0, 25, 50, 75};

  /**
   * What goes wrong, or comes from outside, in a run where little does. A pause is drawn more
   * often: it matters only at one moment of many.
   */
  private static final List<Action.Kind> FAULTS =
      List.of(
          Action.Kind.PAUSES,
          Action.Kind.PAUSES,
          Action.Kind.PAUSES,
          Action.Kind.EXECUTOR_GIVES_UP,
          Action.Kind.EXECUTOR_TIMES_OUT,
          Action.Kind.EXECUTOR_CRASHES,
          Action.Kind.EXECUTOR_JOINS,
          Action.Kind.NETWORK_HOLDS,
          Action.Kind.REQUEST_IS_LOST,
          Action.Kind.REQUEST_TAKES_EFFECT_AND_BREAKS,
          Action.Kind.REQUEST_IS_NOT_ACCEPTED,
          Action.Kind.REPLAYS_INTENT,
          Action.Kind.REPLAYS_RESULT,
          Action.Kind.PERSON_SETTLES,
          Action.Kind.PROCESSOR_CRASHES,
          Action.Kind.RELAY_LOSES_SLOT,
          Action.Kind.CLOCK_JUMPS);

  private static final int MOST_KINDS_OF_FAULTS = 2;

  private final Profile profile;
  private final Protocol protocol;
  private final Function<World, Beside> besides;
  private final Set<Verdict> verdicts = EnumSet.noneOf(Verdict.class);
  private final Set<Action.Kind> kinds = EnumSet.noneOf(Action.Kind.class);
  private long steps;
  private long effects;
  private long doubled;

  /** Worlds of one kind. */
  public Simulation(Profile profile, Protocol protocol) {
    this(profile, protocol, unused -> Beside.NOTHING);
  }

  /** Worlds of one kind, with something that goes along with the processors of each. */
  Simulation(Profile profile, Protocol protocol, Function<World, Beside> besides) {
    this.profile = profile;
    this.protocol = protocol;
    this.besides = besides;
  }

  /**
   * An invariant that does not hold, and how to come to it.
   *
   * @param seed of the run
   * @param found how many steps the run took
   * @param schedule the shortest schedule that was found to it, one step a line
   */
  public record Failure(
      String profile,
      long seed,
      Invariant invariant,
      String what,
      int found,
      List<String> schedule) {
    /** The schedule as text. */
    public String text() {
      StringBuilder text = new StringBuilder();
      text.append(what).append(" [").append(profile).append(", seed ").append(seed).append("]\n");
      for (int i = 0; i < schedule.size(); i++) {
        text.append(String.format("%3d  %s%n", i + 1, schedule.get(i)));
      }
      return text.append("     (then everything heals)").toString();
    }
  }

  /** Runs one seed; a failure comes with its shortest schedule. */
  public Optional<Failure> run(long seed) {
    List<Action> schedule = new ArrayList<>();
    ViolationException violation = explore(seed, schedule);
    if (violation == null) {
      return Optional.empty();
    }
    List<Action> shortest =
        new Shrinker(candidate -> replay(seed, candidate), violation.invariant()).shrink(schedule);
    ViolationException last = replay(seed, new ArrayList<>(shortest));
    return Optional.of(
        new Failure(
            profile.name(),
            seed,
            violation.invariant(),
            String.valueOf((last == null ? violation : last).getMessage()),
            schedule.size(),
            shortest.stream().map(Action::toString).toList()));
  }

  /** Steps that were taken by all runs so far. */
  public long steps() {
    return steps;
  }

  /** Effects that took place in all runs so far. */
  public long effects() {
    return effects;
  }

  /** Operations that took effect more than once, through a gap that the guarantees speak of. */
  public long doubled() {
    return doubled;
  }

  Set<Verdict> verdicts() {
    return verdicts;
  }

  Set<Action.Kind> kinds() {
    return kinds;
  }

  /** The same seed is another run under another profile. */
  private long ofProfile(long seed) {
    return seed * 31 + profile.name().hashCode();
  }

  private @Nullable ViolationException explore(long seed, List<Action> schedule) {
    Random random = new Random(ofProfile(seed));
    int length = SHORTEST + random.nextInt(LONGEST - SHORTEST);
    Map<Action.Kind, Integer> weights = weights(random);
    boolean mostlyHealthy = random.nextBoolean();
    List<Action.Kind> order = order(random, mostlyHealthy ? 80 : 12);
    int ofHealth = OF_HEALTH[random.nextInt(OF_HEALTH.length)];
    List<Action.Kind> faults = faults(random);
    World world = new World(profile, protocol, ofProfile(seed), besides);
    try {
      for (int i = 0; i < length; i++) {
        List<Action> actions = world.actions();
        Action action =
            mostlyHealthy
                ? mostlyHealthy(world, actions, order, faults, random)
                : random.nextInt(100) < ofHealth
                    ? healthy(world, actions, order, random)
                    : choose(actions, weights, random);
        schedule.add(action);
        world.take(action);
      }
      world.heal();
      return null;
    } catch (ViolationException e) {
      return e;
    } finally {
      steps += schedule.size();
      schedule.forEach(action -> kinds.add(action.kind()));
      verdicts.addAll(world.oracle.verdicts());
      for (int i = 0; i < World.OPERATIONS; i++) {
        int took = world.remote.effects(i).size();
        effects += took;
        doubled += took > 1 ? 1 : 0;
      }
    }
  }

  /**
   * Each run leaves out some kinds of steps and prefers others, so that runs come deep in different
   * directions.
   */
  private static Map<Action.Kind, Integer> weights(Random random) {
    Map<Action.Kind, Integer> weights = new EnumMap<>(Action.Kind.class);
    for (Action.Kind kind : Action.Kind.values()) {
      int factor = random.nextInt(8) == 0 ? 0 : random.nextInt(3) == 0 ? 4 : 1;
      weights.put(kind, kind.weight * factor);
    }
    return weights;
  }

  /**
   * Each run prefers other steps of those that bring work on, and does not take some at all.
   *
   * @param oneIn how rarely a kind is left out
   */
  private static List<Action.Kind> order(Random random, int oneIn) {
    List<Action.Kind> order = new ArrayList<>(World.PROGRESS);
    Collections.shuffle(order, random);
    order.removeIf(kind -> random.nextInt(oneIn) == 0);
    return order;
  }

  /** Work goes on, and from time to time or when nothing can be done, time passes. */
  private static Action healthy(
      World world, List<Action> actions, List<Action.Kind> order, Random random) {
    Action time = new Action(Action.Kind.TIME_COMES, 0, 0);
    Action progress = world.findProgress(actions, order);
    boolean waits = progress == null || random.nextInt(12) == 0;
    return waits && actions.contains(time)
        ? time
        : progress == null ? actions.get(random.nextInt(actions.size())) : progress;
  }

  private static List<Action.Kind> faults(Random random) {
    List<Action.Kind> kinds = new ArrayList<>(FAULTS);
    Collections.shuffle(kinds, random);
    return kinds.subList(0, 1 + random.nextInt(MOST_KINDS_OF_FAULTS));
  }

  /**
   * Something is written and work goes on; what goes wrong is of few kinds and rare, so that the
   * rest comes to its end around it. A fault may end before the others do.
   */
  private static Action mostlyHealthy(
      World world,
      List<Action> actions,
      List<Action.Kind> order,
      List<Action.Kind> faults,
      Random random) {
    int what = random.nextInt(20);
    List<Action> some =
        actions.stream()
            .filter(
                it ->
                    what < 3
                        ? faults.contains(it.kind()) && isBorne(world, it)
                        : what < 5
                            ? it.kind() == Action.Kind.WRITES
                            : what == 5 && World.HEALING.contains(it.kind()))
            .toList();
    return some.isEmpty()
        ? healthy(world, actions, order, random)
        : some.get(random.nextInt(some.size()));
  }

  /** Of two of a kind, one stays awake. */
  private static boolean isBorne(World world, Action fault) {
    return fault.kind() != Action.Kind.PAUSES || world.isAwake(Action.otherRole(fault.who()));
  }

  private static Action choose(
      List<Action> actions, Map<Action.Kind, Integer> weights, Random random) {
    int sum = 0;
    for (Action action : actions) {
      sum += weights.getOrDefault(action.kind(), 0);
    }
    if (sum == 0) {
      return actions.get(random.nextInt(actions.size()));
    }
    int left = random.nextInt(sum);
    for (Action action : actions) {
      left -= weights.getOrDefault(action.kind(), 0);
      if (left < 0) {
        return action;
      }
    }
    throw new IllegalStateException("Expected a weight for every action.");
  }

  /** Takes the steps that are possible, and leaves the others out of the list. */
  private @Nullable ViolationException replay(long seed, List<Action> schedule) {
    World world = new World(profile, protocol, ofProfile(seed), besides);
    List<Action> taken = new ArrayList<>();
    try {
      for (Action action : schedule) {
        taken.add(action);
        if (!world.take(action)) {
          taken.remove(taken.size() - 1);
        }
      }
      world.heal();
      return null;
    } catch (ViolationException e) {
      schedule.clear();
      schedule.addAll(taken);
      return e;
    }
  }
}
