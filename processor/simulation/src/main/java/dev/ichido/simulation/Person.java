package dev.ichido.simulation;

import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.simulation.Action.Written;
import dev.ichido.simulation.Relays.Row;
import dev.ichido.simulation.Remote.Effect;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who looks at an operation that is unknown, and at the remote's book, and says what is true at
 * that moment. The word may come much later.
 */
final class Person {
  private static final int MOST_WORDS = 3;

  private final World world;
  private int words;

  Person(World world) {
    this.world = world;
  }

  /**
   * What was said.
   *
   * @param attempt the latest when they looked
   * @param reference of the effect that was seen
   */
  record Word(int attempt, ResolvedAs as, @Nullable String reference) {}

  void offer(List<Action> actions) {
    for (int i = 0; i < World.OPERATIONS; i++) {
      world.offer(actions, Action.Kind.PERSON_SETTLES, i, 0);
    }
  }

  @Nullable Runnable way(Action action) {
    int operation = action.who();
    Word word =
        words < MOST_WORDS
                && world.processors.state(operation) instanceof UnknownReconciliation unknown
            ? truth(operation, unknown)
            : null;
    return word == null
        ? null
        : () -> world.intents.add(new Row(words++, operation, Written.INTENT, word));
  }

  /** Null where it takes more than a look to be sure. */
  private @Nullable Word truth(int operation, UnknownReconciliation unknown) {
    List<Effect> effects = world.remote.effects(operation);
    int attempt = unknown.attempts().number();
    if (effects.size() == 1) {
      return new Word(attempt, ResolvedAs.SUCCEEDED, effects.getFirst().reference());
    }
    boolean mayStillCome =
        world.remote.isUnderWay(operation)
            || world.executors.isUnderWay(operation)
            || unknown.attempts().unproven().stream()
                .anyMatch(it -> world.executors.claim(operation, it) == null);
    return effects.isEmpty() && !mayStillCome
        ? new Word(
            attempt, words % 2 == 0 ? ResolvedAs.NOT_STARTED : ResolvedAs.FAILED_TERMINAL, null)
        : null;
  }
}
