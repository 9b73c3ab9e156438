package dev.ichido.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.Effect.AskOriginal;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.Effect.ReleaseOriginal;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.Effect.TellCompensation;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.CompensationAsked;
import dev.ichido.decision.OperationEvent.CompensationReleased;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationEvent.Terms;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The model check of undoing: an original and two compensations of it, each owned by a partition of
 * its own, with messages under way between them that come late, and in one of the searches twice.
 * The oracle is what the remote did, never what the ledger says.
 */
class CompensationSearchTest {
  private static final int DEPTH = Integer.getInteger("ichido.search.undo.depth", 6);
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Principal A = new Principal("agent:a");
  private static final ActionPolicy POLICY =
      Policies.maxAttempts(
          Policies.times(
              Policies.STANDARD,
              Duration.ofSeconds(10),
              Duration.ofSeconds(60),
              Duration.ofSeconds(100),
              Duration.ofSeconds(2),
              Duration.ofSeconds(80)),
          2);

  /** The original and its two compensations. */
  private enum Who {
    ORIGINAL(0),
    FIRST(1),
    SECOND(2);

    final int place;

    Who(int place) {
      this.place = place;
    }

    OperationKey key() {
      return new OperationKey("t1", "global", "op-00000000000" + name().toLowerCase(Locale.ROOT));
    }

    static Who of(String operationId) {
      for (Who who : values()) {
        if (who.key().operationId().equals(operationId)) {
          return who;
        }
      }
      throw new AssertionError(operationId);
    }
  }

  /** What is under way: a question or a release to the original, an answer to a compensation. */
  private record Message(Who from, Who to, @Nullable OriginalStanding answer, boolean release) {}

  /**
   * @param running whether an attempt may act; by operation
   * @param acted whether the effect took place; by operation
   * @param open intents without an answer; by operation
   * @param mail in the order in which it was sent
   */
  private record World(
      List<OperationState> states,
      List<Boolean> running,
      List<Boolean> acted,
      List<Integer> open,
      List<Message> mail,
      Instant now) {
    static World begin() {
      return new World(
          List.of(Absent.NOTHING, Absent.NOTHING, Absent.NOTHING),
          List.of(false, false, false),
          List.of(false, false, false),
          List.of(0, 0, 0),
          List.of(),
          START);
    }

    /** The original took effect, and that is known. */
    static World tookEffect() {
      World asked = opened(begin(), Who.ORIGINAL).intent(Who.ORIGINAL, null);
      return asked.acts(Who.ORIGINAL).report(Who.ORIGINAL, AttemptOutcome.SUCCEEDED);
    }

    OperationState state(Who who) {
      return states.get(who.place);
    }

    boolean running(Who who) {
      return running.get(who.place);
    }

    boolean acted(Who who) {
      return acted.get(who.place);
    }

    World acts(Who who) {
      return new World(states, with(running, who, false), with(acted, who, true), open, mail, now);
    }

    World dies(Who who) {
      return new World(states, with(running, who, false), acted, open, mail, now);
    }

    World later(Duration time) {
      return new World(states, running, acted, open, mail, now.plus(time));
    }

    World without(int message) {
      List<Message> left = new ArrayList<>(mail);
      left.remove(message);
      return new World(states, running, acted, open, List.copyOf(left), now);
    }

    private static <T> List<T> with(List<T> list, Who who, T value) {
      List<T> changed = new ArrayList<>(list);
      changed.set(who.place, value);
      return List.copyOf(changed);
    }

    World take(Who who, OperationEvent event, @Nullable Who asking) {
      Decision d = OperationStateMachine.decide(state(who), event, POLICY);
      List<Message> posted = new ArrayList<>(mail);
      List<Boolean> runs = running;
      int left = open.get(who.place);
      for (Effect effect : d.effects()) {
        switch (effect) {
          case DispatchCommand it -> {
            requireMayRun(who);
            runs = with(runs, who, true);
          }
          case AskOriginal it -> posted.add(new Message(who, Who.ORIGINAL, null, false));
          case ReleaseOriginal it -> posted.add(new Message(who, Who.ORIGINAL, null, true));
          case TellCompensation it -> {
            if (asking == null) {
              throw new AssertionError("an answer to nobody");
            }
            posted.add(new Message(who, asking, it.standing(), false));
          }
          case SendReply it -> left -= it.to().deliveryId().equals(event.eventId()) ? 1 : 0;
          case Effect.RequestReconciliation it -> {}
          case Effect.ChargeRetryBudget it -> {}
          case Effect.PromiseRetryToken it -> {}
        }
      }
      return new World(
          with(states, who, d.next()),
          runs,
          acted,
          with(open, who, left),
          List.copyOf(posted),
          now);
    }

    private void requireMayRun(Who who) {
      if (running(who) || acted(who)) {
        throw new AssertionError("an attempt leaves while one may act or did");
      }
      if (who == Who.ORIGINAL) {
        return;
      }
      if (!acted(Who.ORIGINAL)) {
        throw new AssertionError("what did not take effect is undone");
      }
      Who other = who == Who.FIRST ? Who.SECOND : Who.FIRST;
      if (running(other) || acted(other)) {
        throw new AssertionError("it is undone twice");
      }
    }

    World intent(Who who, @Nullable OriginalStanding answer) {
      Intent intent =
          new Intent(
              "t1",
              "global",
              who.key().operationId(),
              "d-" + who,
              A,
              POLICY.name(),
              null,
              "acct:1",
              "{}",
              null,
              null,
              START,
              null,
              null,
              who == Who.ORIGINAL ? null : Who.ORIGINAL.key().operationId());
      return take(
          who,
          new IntentReceived(
              intent,
              now,
              null,
              true,
              Terms.of(POLICY),
              Journey.fingerprintOf("f"),
              RetryBudget.full(now),
              null,
              answer),
          null);
    }

    World deliver(Message message) {
      if (message.answer() != null) {
        return intent(message.to(), message.answer());
      }
      String compensation = message.from().key().operationId();
      return take(
          Who.ORIGINAL,
          message.release()
              ? new CompensationReleased(Who.ORIGINAL.key(), now, compensation)
              : new CompensationAsked(
                  Who.ORIGINAL.key(), now, compensation, "d-" + message.from(), A),
          message.from());
    }

    World report(Who who, AttemptOutcome outcome) {
      return take(
          who,
          new ResultReported(
              who.key(),
              now,
              "r-" + who + outcome,
              null,
              outcome,
              Answer.of("ref-" + who, "{}"),
              null),
          null);
    }
  }

  private record Move(String name, Supplier<World> way) {}

  private static List<Move> moves(World w, boolean twice) {
    List<Move> moves = new ArrayList<>();
    for (Who who : Who.values()) {
      if (w.open().get(who.place) < 2) {
        moves.add(new Move(who + " is asked for", () -> opened(w, who).intent(who, null)));
      }
      if (w.running(who)) {
        moves.add(new Move(who + " acts", () -> w.acts(who)));
        moves.add(
            new Move(
                who + " provably did not start",
                () -> w.dies(who).report(who, AttemptOutcome.FAILED_RETRYABLE)));
        moves.add(
            new Move(
                who + " is refused",
                () -> w.dies(who).report(who, AttemptOutcome.FAILED_TERMINAL)));
        moves.add(new Move(who + " is lost", () -> w.report(who, AttemptOutcome.UNKNOWN)));
      } else if (w.acted(who)) {
        moves.add(new Move(who + " reports", () -> w.report(who, AttemptOutcome.SUCCEEDED)));
      }
      moves.add(
          new Move(
              who + " is cancelled",
              () ->
                  w.take(
                      who,
                      new CancelReceived(
                          "t1",
                          "global",
                          who.key().operationId(),
                          w.now(),
                          A,
                          null,
                          w.now(),
                          POLICY.horizon(),
                          POLICY.clockSkew(),
                          null,
                          true),
                      null)));
      moves.add(
          new Move(
              who + " is swept",
              () ->
                  w.take(
                      who,
                      new DeadlineReached(who.key(), w.now(), RetryBudget.full(w.now())),
                      null)));
    }
    for (int i = 0; i < w.mail().size(); i++) {
      Message message = w.mail().get(i);
      // Between two of them mail keeps its order.
      boolean first =
          w.mail().subList(0, i).stream()
              .noneMatch(it -> it.from() == message.from() && it.to() == message.to());
      int at = i;
      if (first) {
        moves.add(new Move(message + " comes", () -> w.without(at).deliver(message)));
        if (twice) {
          moves.add(new Move(message + " comes, and again later", () -> w.deliver(message)));
        }
      }
    }
    moves.add(new Move("time passes", () -> w.later(Duration.ofSeconds(11))));
    moves.add(new Move("much time passes", () -> w.later(Duration.ofSeconds(61))));
    return moves;
  }

  private static World opened(World w, Who who) {
    return new World(
        w.states(),
        w.running(),
        w.acted(),
        World.with(w.open(), who, w.open().get(who.place) + 1),
        w.mail(),
        w.now());
  }

  /** Nothing is under way: everybody was answered, and the place belongs to who may use it. */
  private static void requireAtRest(World w) {
    for (Who who : Who.values()) {
      if (w.open().get(who.place) != 0) {
        throw new AssertionError("an intent is answered once");
      }
    }
    if (w.state(Who.ORIGINAL) instanceof Known original
        && original.binding().compensatedBy() != null) {
      OperationState by = w.state(Who.of(original.binding().compensatedBy()));
      boolean mayUse =
          switch (by.name()) {
            case IN_PROGRESS, UNKNOWN_RECONCILIATION, FAILED_RETRYABLE, SUCCEEDED, EXPIRED -> true;
            case ABSENT, CANCELLED, FAILED_TERMINAL -> false;
          };
      if (!mayUse && !w.acted(Who.of(original.binding().compensatedBy()))) {
        throw new AssertionError("a place is kept for an operation that is " + by.name());
      }
    }
  }

  /** How a situation was first come to. */
  private record Way(@Nullable World from, String move) {}

  private record Searched(int situations, int undone) {}

  private static Searched search(World begin, int depth, boolean twice) {
    Map<World, Way> seen = new HashMap<>();
    seen.put(begin, new Way(null, ""));
    List<World> layer = List.of(begin);
    int undone = 0;
    for (int i = 0; i < depth; i++) {
      List<World> next = new ArrayList<>();
      for (World from : layer) {
        for (Move move : moves(from, twice)) {
          World to;
          try {
            to = move.way().get();
            if (!twice && to.mail().isEmpty()) {
              requireAtRest(to);
            }
          } catch (AssertionError broken) {
            throw new AssertionError(
                broken.getMessage() + ", after:" + history(seen, from) + "\n  " + move.name(),
                broken);
          }
          if (to.mail().size() <= 3 && seen.putIfAbsent(to, new Way(from, move.name())) == null) {
            next.add(to);
            undone += to.acted(Who.FIRST) || to.acted(Who.SECOND) ? 1 : 0;
          }
        }
      }
      layer = next;
    }
    System.out.println(
        "Search of compensations"
            + (twice ? ", mail twice" : "")
            + ": "
            + seen.size()
            + " situations, "
            + undone
            + " of them undone");
    return new Searched(seen.size(), undone);
  }

  private static String history(Map<World, Way> seen, World to) {
    Way way = Objects.requireNonNull(seen.get(to));
    return way.from() == null ? "" : history(seen, way.from()) + "\n  " + way.move();
  }

  @Test
  void nothingIsUndoneTwiceAndNoPlaceIsLost() {
    assertThat(search(World.begin(), DEPTH, false).situations()).isGreaterThan(10_000);
    assertThat(search(World.tookEffect(), DEPTH + 2, false).undone()).isGreaterThan(500);
  }

  /** Within one transaction each message is taken once; even if it were not, nothing runs twice. */
  @Test
  void nothingIsUndoneTwiceWhenMailComesTwice() {
    assertThat(search(World.tookEffect(), DEPTH + 1, true).undone()).isGreaterThan(500);
  }
}
