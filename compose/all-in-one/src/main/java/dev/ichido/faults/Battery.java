package dev.ichido.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs scenarios, two at a time: each on a rig of its own, which it shares with those before it.
 * Most of a scenario is waiting for processes and leases, so this halves the time of many.
 */
public final class Battery {
  private static final int LANES = 2;

  /** A rig starts in some ten seconds. */
  private static final int WORTH_A_LANE = 6;

  private final Wish wish;
  private final Consumer<String> progress;

  /**
   * What is wanted.
   *
   * @param only ids; empty for all
   * @param loadOperations operations of each load
   * @param contract a policy file whose executor contracts are tried instead
   * @param arguments sample arguments for these contracts, as JSON
   */
  public record Wish(
      Set<String> only,
      long seed,
      int rounds,
      int loadOperations,
      @Nullable Path contract,
      String arguments) {
    public Wish {
      only = Set.copyOf(only);
    }
  }

  /** Runs nothing yet. */
  public Battery(Wish wish, Consumer<String> progress) {
    this.wish = wish;
    this.progress = progress;
  }

  /** Ids of all scenarios, in their order. */
  public static List<String> ids() {
    return ids(Scenarios.all());
  }

  /** Ids of the scenarios that are tried on the contracts of a policy file. */
  public static List<String> ids(Path contract, String arguments) {
    return ids(UserContract.read(contract, arguments).scenarios());
  }

  private static List<String> ids(List<Scenario> scenarios) {
    return scenarios.stream().map(Scenario::id).toList();
  }

  /**
   * Runs all of it; the processes are gone when it returns. Interrupted, it tells of the rounds
   * that were complete, or else of what was done of the first.
   */
  public BatteryReport run() throws IOException {
    UserContract contract =
        wish.contract() == null ? null : UserContract.read(wish.contract(), wish.arguments());
    List<Scenario> scenarios =
        (contract == null ? Scenarios.all() : contract.scenarios())
            .stream().filter(it -> wish.only().isEmpty() || wish.only().contains(it.id())).toList();
    List<List<Turn>> turns = lanes(scenarios, wish.rounds());
    BatteryReport.Taken taken = BatteryReport.Taken.here();
    long started = System.nanoTime();
    Path folder = Files.createTempDirectory("ichido-faults-");
    Map<Turn, ScenarioReport> reports = new ConcurrentHashMap<>();
    Map<Turn, Long> ends = new ConcurrentHashMap<>();
    int rounds = wish.rounds();
    boolean stopped = false;
    boolean kept = true;
    try {
      try {
        runLanes(folder, contract == null ? "" : contract.configuration(), turns, reports, ends);
      } catch (InterruptedException e) {
        stopped = true;
        rounds = complete(scenarios, reports);
        progress.accept(
            "stopped with %d of %d scenarios done".formatted(reports.size(), turnsOf(scenarios)));
      }
      kept = reports.values().stream().anyMatch(it -> !it.pass());
    } finally {
      if (kept) {
        progress.accept("books, configuration and logs are kept in " + folder);
      } else {
        delete(folder);
      }
    }
    return new BatteryReport(
        wish.seed(),
        rounds,
        wish.loadOperations(),
        stopped,
        taken,
        ((stopped && rounds > 0 ? endOf(rounds, ends) : System.nanoTime()) - started) / 1e9,
        sums(scenarios, reports, Math.max(1, rounds)));
  }

  private int turnsOf(List<Scenario> scenarios) {
    return wish.rounds() * scenarios.size();
  }

  private static int complete(List<Scenario> scenarios, Map<Turn, ScenarioReport> reports) {
    int rounds = 0;
    while (isComplete(scenarios, reports, rounds + 1)) {
      rounds++;
    }
    return rounds;
  }

  private static boolean isComplete(
      List<Scenario> scenarios, Map<Turn, ScenarioReport> reports, int round) {
    return scenarios.stream().allMatch(it -> reports.containsKey(new Turn(it, round)));
  }

  /** One scenario in one round. */
  record Turn(Scenario scenario, int round) {
    String name() {
      return scenario.id() + " round " + round;
    }
  }

  /**
   * Each lane's turns, by a fixed rule, so that a rig's history is the same in every run of a seed:
   * every other scenario, and those of the other lane in the next round.
   */
  static List<List<Turn>> lanes(List<Scenario> scenarios, int rounds) {
    int count = Math.clamp((long) rounds * scenarios.size() / WORTH_A_LANE, 1, LANES);
    List<List<Turn>> lanes = new ArrayList<>();
    for (int lane = 0; lane < count; lane++) {
      lanes.add(new ArrayList<>());
    }
    for (int round = 1; round <= rounds; round++) {
      for (int i = 0; i < scenarios.size(); i++) {
        lanes.get((i + round) % count).add(new Turn(scenarios.get(i), round));
      }
    }
    return lanes;
  }

  /** When the last turn of these rounds was over; another lane may be in the next one by then. */
  static long endOf(int rounds, Map<Turn, Long> ends) {
    return ends.entrySet().stream()
        .filter(it -> it.getKey().round() <= rounds)
        .mapToLong(Map.Entry::getValue)
        .max()
        .orElseThrow();
  }

  private static List<ScenarioReport> sums(
      List<Scenario> scenarios, Map<Turn, ScenarioReport> reports, int rounds) {
    return scenarios.stream()
        .map(
            scenario ->
                IntStream.rangeClosed(1, rounds)
                    .mapToObj(round -> new Turn(scenario, round))
                    .filter(reports::containsKey)
                    .map(turn -> Objects.requireNonNull(reports.get(turn)))
                    .toList())
        .filter(done -> !done.isEmpty())
        .map(ScenarioReport::sum)
        .toList();
  }

  private void runLanes(
      Path folder,
      String actions,
      List<List<Turn>> turns,
      Map<Turn, ScenarioReport> reports,
      Map<Turn, Long> ends)
      throws InterruptedException {
    try (ExecutorService lanes = Executors.newFixedThreadPool(turns.size())) {
      List<Future<?>> running = new ArrayList<>();
      for (List<Turn> own : turns) {
        Path home = Files.createDirectory(folder.resolve("lane-" + (running.size() + 1)));
        running.add(lanes.submit(new Lane(wish, home, actions, own, reports, ends, progress)));
      }
      try {
        for (Future<?> lane : running) {
          lane.get();
        }
      } finally {
        // What is left to do is left, when this was interrupted or a lane could not start.
        lanes.shutdownNow();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
