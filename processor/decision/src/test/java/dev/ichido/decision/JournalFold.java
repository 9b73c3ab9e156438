package dev.ichido.decision;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the journal of one operation says, and nothing else: each entry is flattened first to what a
 * record of the journal keeps, so that no state object gets through.
 *
 * @param state after the last entry
 * @param waiting deliveries that were promised more
 * @param otherReferences of further effects, in order
 */
record JournalFold(Projection state, Set<String> waiting, List<@Nullable String> otherReferences) {

  private record Entry(
      @Nullable String eventId,
      Instant at,
      Verdict verdict,
      StateName before,
      Projection after,
      @Nullable String otherReference) {
    static Entry of(Transition t) {
      return new Entry(
          t.eventId(),
          t.at(),
          t.verdict(),
          t.before().name(),
          Projection.of(t.after()),
          t.otherReference());
    }
  }

  static JournalFold of(List<Transition> journal) {
    Projection state = Projection.of(OperationState.Absent.NOTHING);
    Set<String> waiting = new TreeSet<>();
    List<@Nullable String> others = new ArrayList<>();
    for (Entry entry : journal.stream().map(Entry::of).toList()) {
      if (entry.before() != state.state()) {
        throw new AssertionError(
            "the journal goes on from " + entry.before() + " after " + state.state());
      }
      boolean open =
          switch (entry.after().state()) {
            case IN_PROGRESS, UNKNOWN_RECONCILIATION, FAILED_RETRYABLE -> true;
            case ABSENT, SUCCEEDED, FAILED_TERMINAL, EXPIRED, CANCELLED -> false;
          };
      if (!open) {
        waiting.clear();
      } else if (entry.verdict().leavesWaiting() && entry.eventId() != null) {
        waiting.add(entry.eventId());
      }
      if (entry.verdict() == Verdict.SECOND_EFFECT) {
        others.add(entry.otherReference());
      } else if (entry.after().state() == StateName.ABSENT) {
        others.clear();
      }
      state = entry.after();
    }
    return new JournalFold(state, waiting, others);
  }
}
