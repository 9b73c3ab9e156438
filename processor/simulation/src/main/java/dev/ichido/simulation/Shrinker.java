package dev.ichido.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Delta debugging: leaves out ever smaller parts of a schedule as long as the same invariant is
 * broken without them.
 */
final class Shrinker {
  private final Function<List<Action>, @Nullable ViolationException> replay;
  private final Invariant invariant;

  /**
   * @param replay tells what a schedule breaks, and leaves out of it what was not possible
   */
  Shrinker(Function<List<Action>, @Nullable ViolationException> replay, Invariant invariant) {
    this.replay = replay;
    this.invariant = invariant;
  }

  List<Action> shrink(List<Action> schedule) {
    List<Action> shortest = schedule;
    int before;
    do {
      before = shortest.size();
      for (int part = Math.max(1, shortest.size() / 2); part > 0; part /= 2) {
        for (int from = 0; from < shortest.size(); ) {
          List<Action> candidate = new ArrayList<>(shortest.subList(0, from));
          candidate.addAll(
              shortest.subList(Math.min(shortest.size(), from + part), shortest.size()));
          ViolationException broken = replay.apply(candidate);
          if (broken != null && broken.invariant() == invariant) {
            shortest = candidate;
          } else {
            from += part;
          }
        }
      }
    } while (shortest.size() < before);
    return shortest;
  }
}
