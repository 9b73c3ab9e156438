package dev.ichido.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.Situation.Move;
import dev.ichido.decision.Situation.Setting;
import dev.ichido.operation.OperationKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/**
 * Long random histories over several operations at once: two tenants, two scopes, equal operation
 * ids. Each step is a pair of an operation and one of the moves that are possible for it; time is
 * common to all, and what was sent may be read late. The invariants of {@link Situation} are
 * checked after every step against the remote's own book, and the journal that was written is
 * folded at the end.
 */
class HistoryPropertyTest {
  private static final List<OperationKey> KEYS =
      List.of(
          new OperationKey("t1", "global", "op-0000000000000001"),
          new OperationKey("t2", "global", "op-0000000000000001"),
          new OperationKey("t1", "region:eu-west-1", "op-0000000000000001"),
          new OperationKey("t1", "global", "op-0000000000000002"));

  /** A step: which operation, and which of its moves, modulo how many there are. */
  record Step(int operation, int move) {}

  @Provide
  Arbitrary<Step> steps() {
    return Combinators.combine(
            Arbitraries.integers().between(0, KEYS.size() - 1),
            Arbitraries.integers().between(0, 5039))
        .as(Step::new);
  }

  @Property(tries = 3000)
  void noRandomHistoryBreaksTheGuarantee(
      @ForAll @Size(min = 10, max = 120) List<@From("steps") Step> history,
      @ForAll @IntRange(min = 0, max = 5) int policyIndex,
      @ForAll @IntRange(min = 0, max = 2) int behind) {
    ActionPolicy policy = policies().get(policyIndex);
    List<Situation> situations = new ArrayList<>();
    List<List<Transition>> journals = new ArrayList<>();
    for (OperationKey key : KEYS) {
      situations.add(Situation.begin(key));
      journals.add(new ArrayList<>());
    }
    Instant now = Situation.START;
    for (Step step : history) {
      int i = step.operation();
      Situation from = situations.get(i).at(now);
      Setting setting =
          new Setting(
              policy,
              Duration.ofSeconds(20).multipliedBy(behind),
              d -> journals.get(i).addAll(d.transitions()));
      List<Move> moves = from.moves(setting);
      Situation to = moves.get(step.move() % moves.size()).way().take();
      now = to.now();
      situations.set(i, to);
    }
    for (int i = 0; i < KEYS.size(); i++) {
      assertThat(JournalFold.of(journals.get(i)).state())
          .isEqualTo(Projection.of(situations.get(i).state()));
    }
  }

  /** The remotes differ in what they promise, the actions in how patient they are. */
  private static List<ActionPolicy> policies() {
    Duration second = Duration.ofSeconds(1);
    ActionPolicy quick =
        Policies.times(
            Policies.STANDARD,
            second.multipliedBy(10),
            second.multipliedBy(60),
            second.multipliedBy(100),
            second.multipliedBy(2),
            second.multipliedBy(80));
    ActionPolicy proving = Policies.statusRead(quick, true, new AbsentAfter(2, second));
    ActionPolicy patient =
        Policies.times(
            proving,
            second.multipliedBy(30),
            second.multipliedBy(600),
            second.multipliedBy(900),
            second.multipliedBy(5),
            second.multipliedBy(400));
    return List.of(
        quick,
        proving,
        Policies.maxAttempts(patient, 6),
        Policies.remote(proving, true, second.multipliedBy(30), DedupeAnchor.FIRST_REQUEST),
        Policies.maxAttempts(
            Policies.remote(patient, true, second.multipliedBy(200), DedupeAnchor.FIRST_REQUEST),
            6),
        Policies.auto(
            Policies.remote(patient, true, second.multipliedBy(200), DedupeAnchor.FIRST_REQUEST),
            false));
  }

  /** The journal alone gives the state, the waiting deliveries and every reference. */
  @Property(tries = 500)
  void foldedJournalIsTheLiveState(
      @ForAll @Size(min = 5, max = 60) List<@From("steps") Step> history,
      @ForAll @IntRange(min = 0, max = 5) int policyIndex) {
    Situation at = Situation.begin(KEYS.get(0));
    List<Transition> journal = new ArrayList<>();
    Setting setting =
        new Setting(policies().get(policyIndex), d -> journal.addAll(d.transitions()));
    for (Step step : history) {
      List<Move> moves = at.moves(setting);
      at = moves.get(step.move() % moves.size()).way().take();
      JournalFold folded = JournalFold.of(journal);
      assertThat(folded.state()).isEqualTo(Projection.of(at.state()));
      if (!(at.state() instanceof Absent)) {
        assertThat(folded.waiting()).isEqualTo(at.awaiting());
      }
      if (at.state() instanceof OperationState.Succeeded s
          && s.others().size() < OperationState.Succeeded.OTHERS_KEPT) {
        assertThat(folded.otherReferences())
            .isEqualTo(s.others().stream().map(OtherEffect::remoteReference).toList());
      }
    }
  }
}
