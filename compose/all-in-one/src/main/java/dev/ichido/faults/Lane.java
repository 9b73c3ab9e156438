package dev.ichido.faults;

import dev.ichido.faults.Battery.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes one scenario after the other, until none is left: on one rig for each round, so that the
 * last round finds as little in books and ledgers as the first.
 */
final class Lane implements Callable<@Nullable Void> {
  private final Battery.Wish wish;
  private final Path folder;
  private final String actions;
  private final Queue<Turn> turns;
  private final Map<Turn, ScenarioReport> reports;
  private final Consumer<String> progress;

  Lane(
      Battery.Wish wish,
      Path folder,
      String actions,
      Queue<Turn> turns,
      Map<Turn, ScenarioReport> reports,
      Consumer<String> progress) {
    this.wish = wish;
    this.folder = folder;
    this.actions = actions;
    this.turns = turns;
    this.reports = reports;
    this.progress = progress;
  }

  @Override
  public @Nullable Void call() throws IOException, InterruptedException {
    Turn turn = turns.poll();
    for (int rigs = 1; turn != null; rigs++) {
      Path own = Files.createDirectory(folder.resolve("rig-" + rigs));
      try (Rig rig = Rig.start(own, actions, progress)) {
        Replies replies = new Replies(rig.runtime());
        int round = turn.round();
        boolean whole = true;
        while (whole && turn != null && turn.round() == round) {
          whole = play(rig, replies, turn);
          turn = turns.poll();
        }
      }
    }
    return null;
  }

  /** Whether the rig can be used further. */
  private boolean play(Rig rig, Replies replies, Turn turn) throws InterruptedException {
    Act act =
        new Act(rig, replies, turn.scenario(), wish.seed(), turn.round(), wish.loadOperations());
    ScenarioReport report;
    boolean whole = true;
    try {
      perform(rig, act, turn.scenario());
      rig.heal();
      report = act.judge(turn.round());
    } catch (RuntimeException e) {
      whole = false;
      report =
          ScenarioReport.unjudged(
              turn.scenario(), turn.round(), List.of("the rig did not recover: " + e));
    }
    if (Thread.currentThread().isInterrupted()) {
      // The processes may have had the signal too, so this says nothing of the scenario.
      throw new InterruptedException();
    }
    reports.put(turn, report);
    progress.accept(
        "%s round %d: %s, %d operations, %d effects, %.0f s"
            .formatted(
                turn.scenario().id(),
                turn.round(),
                told(report),
                report.operations(),
                report.effects(),
                report.seconds()));
    return whole;
  }

  private static String told(ScenarioReport report) {
    if (report.pass()) {
      return "holds";
    }
    return report.scenario().group() == Scenario.Group.LIMITS
        ? "does not hold, as is known"
        : "DOES NOT HOLD " + report.findings();
  }

  private static void perform(Rig rig, Act act, Scenario scenario) throws InterruptedException {
    try {
      scenario.body().run(act);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      act.check(false, "the scenario broke off: " + e);
    } finally {
      act.end();
      rig.endOthers();
    }
  }
}
