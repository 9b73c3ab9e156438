package dev.ichido.faults;

import dev.ichido.faults.Battery.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Plays one scenario after the other: on one rig for each round, so that the last round finds as
 * little in books and ledgers as the first.
 */
final class Lane implements Callable<@Nullable Void> {
  private final Battery.Wish wish;
  private final Path folder;
  private final String actions;
  private final Queue<Turn> turns;
  private final Map<Turn, ScenarioReport> reports;
  private final Map<Turn, Long> ends;
  private final Consumer<String> progress;

  Lane(
      Battery.Wish wish,
      Path folder,
      String actions,
      List<Turn> turns,
      Map<Turn, ScenarioReport> reports,
      Map<Turn, Long> ends,
      Consumer<String> progress) {
    this.wish = wish;
    this.folder = folder;
    this.actions = actions;
    this.turns = new ArrayDeque<>(turns);
    this.reports = reports;
    this.ends = ends;
    this.progress = progress;
  }

  @Override
  public @Nullable Void call() throws IOException, InterruptedException {
    for (int rigs = 1; !turns.isEmpty(); rigs++) {
      Path own = Files.createDirectory(folder.resolve("rig-" + rigs));
      Map<Turn, Act> judged = new LinkedHashMap<>();
      try (Rig rig = Rig.start(own, actions, progress)) {
        playOn(rig, judged);
      }
      judged.forEach(this::recount);
    }
    return null;
  }

  /** The turns of one round, for as long as the rig is whole. */
  private void playOn(Rig rig, Map<Turn, Act> judged) throws InterruptedException {
    Replies replies = new Replies(rig.runtime());
    boolean whole = true;
    Turn turn = turns.peek();
    int round = turn == null ? 0 : turn.round();
    while (whole && turn != null && turn.round() == round) {
      whole = play(rig, replies, turn, judged);
      turns.remove();
      turn = turns.peek();
    }
  }

  /** An effect that came late is the worst one, and no process is left to bring another. */
  private void recount(Turn turn, Act act) {
    reports.computeIfPresent(
        turn,
        (same, report) -> {
          ScenarioReport now = act.recounted(report);
          if (!now.equals(report)) {
            progress.accept(turn.name() + ": " + told(now));
          }
          return now;
        });
  }

  /** Whether the rig can be used further. */
  private boolean play(Rig rig, Replies replies, Turn turn, Map<Turn, Act> judged)
      throws InterruptedException {
    Act act =
        new Act(rig, replies, turn.scenario(), wish.seed(), turn.round(), wish.loadOperations());
    ScenarioReport report;
    boolean whole = false;
    try {
      boolean played = perform(rig, act, turn.scenario());
      rig.heal();
      report = act.judge(turn.round());
      judged.put(turn, act);
      whole = played;
    } catch (RuntimeException e) {
      act.check(false, "the rig did not recover: " + e);
      report = ScenarioReport.unjudged(turn.scenario(), turn.round(), act.findings());
    }
    if (Thread.currentThread().isInterrupted()) {
      // The processes may have had the signal too, so this says nothing of the scenario.
      throw new InterruptedException();
    }
    ends.put(turn, System.nanoTime());
    reports.put(turn, report);
    progress.accept(
        "%s: %s, %d operations, %d effects, %.0f s"
            .formatted(
                turn.name(),
                told(report),
                report.operations(),
                report.effects().all(),
                report.seconds()));
    return whole;
  }

  private static String told(ScenarioReport report) {
    if (report.pass()) {
      return "holds";
    }
    return report.isAsKnown() ? "does not hold, as is known" : "DOES NOT HOLD " + report.findings();
  }

  /** Whether it came to its end; what broke it off may be wrong with the rig. */
  private static boolean perform(Rig rig, Act act, Scenario scenario) throws InterruptedException {
    try {
      scenario.body().run(act);
      return true;
    } catch (InterruptedException e) {
      throw e;
    } catch (BrokeOff e) {
      act.check(false, e.finding());
      return false;
    } catch (Exception e) {
      act.check(false, "the scenario broke off: " + e);
      return false;
    } finally {
      act.end();
      rig.endOthers();
    }
  }
}
