package dev.ichido.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.Situation.Move;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The model check: every history up to a depth, over two principals, two meanings, up to three
 * attempts and every timer, with executors, a remote and people that do anything which is possible
 * in truth.
 *
 * <p>Histories that lead to the same situation go on as one, since nothing but the situation
 * decides what follows and what is checked; each situation carries the number of histories that
 * lead to it. So every history is covered, and the number that is printed is theirs.
 */
class ExhaustiveSearchTest {
  private static final int DEPTH = Integer.getInteger("ichido.search.depth", 7);

  /** Short times in proportions that let every timer come before and after every other. */
  private static ActionPolicy quick(ActionPolicy policy) {
    ActionPolicy timed =
        Policies.times(
            policy,
            Duration.ofSeconds(10),
            Duration.ofSeconds(60),
            Duration.ofSeconds(100),
            Duration.ofSeconds(2),
            Duration.ofSeconds(80));
    return Policies.statusRead(timed, true, new AbsentAfter(2, Duration.ofSeconds(1)));
  }

  @Test
  void noHistoryBreaksTheGuaranteeUnderAPlainRemote() {
    Searched searched = search(quick(Policies.STANDARD), DEPTH);
    report("plain remote", searched);
    assertThat(searched.verdicts)
        .containsAll(
            EnumSet.of(
                Verdict.CLAIMED,
                Verdict.RECLAIMED,
                Verdict.DUPLICATE_IN_PROGRESS,
                Verdict.REPLAYED,
                Verdict.HELD_UNKNOWN,
                Verdict.RETRY_LATER,
                Verdict.UNAUTHORIZED,
                Verdict.FINGERPRINT_MISMATCH,
                Verdict.LATE_REPLAY,
                Verdict.EXPIRED,
                Verdict.CANCELLED,
                Verdict.SETTLED,
                Verdict.LATE_SUCCESS,
                Verdict.STALE_RESULT,
                Verdict.DUPLICATE_RESULT,
                Verdict.LEASE_EXPIRED,
                Verdict.RECONCILED,
                Verdict.STILL_UNKNOWN,
                Verdict.RESOLVED));
    assertThat(searched.mostAttempts).isGreaterThanOrEqualTo(2);
    assertThat(searched.states).containsExactlyInAnyOrder(StateName.values());
    assertThat(searched.histories).isGreaterThan(1_000_000);
  }

  @Test
  void noHistoryBreaksTheGuaranteeUnderARemoteThatDedupes() {
    ActionPolicy keyed =
        Policies.remote(
            Policies.STANDARD, true, Duration.ofSeconds(40), DedupeAnchor.FIRST_REQUEST);
    Searched searched = search(quick(keyed), DEPTH);
    report("remote that dedupes", searched);
    assertThat(searched.mostAttempts).isGreaterThanOrEqualTo(2);
    assertThat(searched.histories).isGreaterThan(1_000_000);
  }

  private static final class Searched {
    long histories;
    long steps;
    final Set<Situation> situations = new HashSet<>();
    final Set<Verdict> verdicts = EnumSet.noneOf(Verdict.class);
    final Set<StateName> states = EnumSet.noneOf(StateName.class);
    final Set<String> moves = new TreeSet<>();
    int mostAttempts;
  }

  private static Searched search(ActionPolicy policy, int depth) {
    Searched searched = new Searched();
    Situation.Setting setting =
        new Situation.Setting(policy, decision -> searched.verdicts.add(decision.verdict()));
    Map<Situation, Long> layer = Map.of(Situation.begin(Journey.KEY), 1L);
    Map<Situation, String> how = new HashMap<>();
    how.put(Situation.begin(Journey.KEY), "");
    for (int i = 0; i < depth; i++) {
      Map<Situation, Long> next = new HashMap<>();
      for (Map.Entry<Situation, Long> entry : layer.entrySet()) {
        Situation from = entry.getKey();
        for (Move move : from.moves(setting)) {
          Situation to = take(from, move, how.getOrDefault(from, ""));
          searched.steps++;
          searched.histories += entry.getValue();
          if (i + 1 < depth) {
            next.merge(to, entry.getValue(), Long::sum);
            how.putIfAbsent(to, how.get(from) + "\n  " + move);
          }
          searched.states.add(to.state().name());
          searched.moves.add(move.name());
          searched.mostAttempts = Math.max(searched.mostAttempts, to.book().tries().size());
        }
      }
      layer = next;
    }
    searched.situations.addAll(how.keySet());
    return searched;
  }

  private static Situation take(Situation from, Move move, String history) {
    try {
      return move.way().take();
    } catch (AssertionError broken) {
      throw new AssertionError(
          broken.getMessage() + ", after:" + history + "\n  " + move + "\nin " + from, broken);
    }
  }

  private static void report(String about, Searched searched) {
    List<String> line = new ArrayList<>();
    line.add(about);
    line.add(searched.histories + " histories of up to " + DEPTH + " events");
    line.add(searched.situations.size() + " situations");
    line.add(searched.steps + " steps checked");
    line.add(searched.mostAttempts + " attempts at most");
    System.out.println("Exhaustive search: " + String.join(", ", line));
  }
}
