package dev.ichido.decision;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What was decided on one event.
 *
 * @param next the state of the operation from now on
 * @param verdict on the event itself
 * @param effects what the adapter must write, in order
 * @param transitions what the journal is given, in order: first the deadlines that had passed, then
 *     the event. Empty exactly when the verdict is {@link Verdict#NOTHING_DUE}
 */
public record Decision(
    OperationState next, Verdict verdict, List<Effect> effects, List<Transition> transitions) {
  public Decision {
    Objects.requireNonNull(next, "next");
    Objects.requireNonNull(verdict, "verdict");
    effects = List.copyOf(effects);
    transitions = List.copyOf(transitions);
  }

  Decision with(Effect further) {
    List<Effect> all = new ArrayList<>(effects);
    all.add(further);
    return new Decision(next, verdict, all, transitions);
  }
}
