package dev.ichido.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What is left to chance in a scenario. It comes from the seed, the scenario and the round alone,
 * so the same seed gives the same schedule on every machine.
 */
final class Schedule {
  private final Random load;
  private final Random faults;
  private final List<String> drawn = new ArrayList<>();

  Schedule(long seed, String scenario, int round) {
    long mixed = seed * 31 + (scenario + "/" + round).hashCode();
    load = new Random(mixed);
    faults = new Random(~mixed);
  }

  /** How often each operation of a load is delivered: some two or three times. */
  List<Integer> deliveries(int operations) {
    List<Integer> deliveries = new ArrayList<>();
    for (int i = 0; i < operations; i++) {
      int chance = load.nextInt(10);
      deliveries.add(chance < 7 ? 1 : chance < 9 ? 2 : 3);
    }
    return deliveries;
  }

  /** The part of a load that is published when something happens. */
  double share(double least, double most) {
    double share = least + (most - least) * faults.nextDouble();
    drawn.add("at %.1f %% of the load".formatted(100 * share));
    return share;
  }

  /** So many parts in their order, spread over the load. */
  List<Double> shares(int count) {
    List<Double> shares = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      shares.add(share((i + 0.1) / count, (i + 0.9) / count));
    }
    return shares;
  }

  /** A time to the millisecond. */
  Duration time(Duration least, Duration most) {
    Duration time =
        least.plusMillis(faults.nextInt(Math.toIntExact(most.minus(least).toMillis()) + 1));
    drawn.add("%d ms".formatted(time.toMillis()));
    return time;
  }

  /** For what draws by itself. */
  long seed() {
    return faults.nextLong();
  }

  /** All shares and times so far. */
  List<String> drawn() {
    return List.copyOf(drawn);
  }
}
