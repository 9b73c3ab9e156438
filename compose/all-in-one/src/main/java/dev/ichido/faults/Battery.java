package dev.ichido.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs scenarios one after the other on one rig. */
public final class Battery {
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
    return Scenarios.all().stream().map(Scenario::id).toList();
  }

  /** Runs all of it; the processes are gone when it returns. */
  public BatteryReport run() throws IOException, InterruptedException {
    UserContract contract =
        wish.contract() == null ? null : UserContract.read(wish.contract(), wish.arguments());
    List<Scenario> scenarios =
        (contract == null ? Scenarios.all() : contract.scenarios())
            .stream().filter(it -> wish.only().isEmpty() || wish.only().contains(it.id())).toList();
    Map<String, List<ScenarioReport>> reports = new LinkedHashMap<>();
    Path folder = Files.createTempDirectory("ichido-faults-");
    boolean kept = true;
    try (Rig rig = Rig.start(folder, contract == null ? "" : contract.configuration(), progress)) {
      Replies replies = new Replies(rig.runtime());
      for (int round = 1; round <= wish.rounds(); round++) {
        for (Scenario scenario : scenarios) {
          ScenarioReport report = play(rig, replies, scenario, round);
          reports.computeIfAbsent(scenario.id(), none -> new ArrayList<>()).add(report);
          progress.accept(
              "%s round %d: %s, %d operations, %d effects, %.0f s"
                  .formatted(
                      scenario.id(),
                      round,
                      report.pass() ? "holds" : "DOES NOT HOLD " + report.findings(),
                      report.operations(),
                      report.effects(),
                      report.seconds()));
        }
      }
      kept = reports.values().stream().flatMap(List::stream).anyMatch(it -> !it.pass());
    } finally {
      if (kept) {
        progress.accept("books, configuration and logs are kept in " + folder);
      } else {
        delete(folder);
      }
    }
    return new BatteryReport(
        wish.seed(), wish.rounds(), reports.values().stream().map(ScenarioReport::sum).toList());
  }

  private ScenarioReport play(Rig rig, Replies replies, Scenario scenario, int round)
      throws InterruptedException {
    Act act = new Act(rig, replies, scenario, wish.seed(), round, wish.loadOperations());
    try {
      scenario.body().run(act);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      act.check(false, "the scenario broke off: " + e);
    } finally {
      rig.endOthers();
    }
    rig.heal();
    return act.judge(round);
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
