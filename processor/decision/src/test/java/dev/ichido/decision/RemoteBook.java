package dev.ichido.decision;

import dev.ichido.decision.Effect.Command;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The remote's own book about one operation, and the truth about its executors. It is the oracle of
 * the proofs: it learns only of commands that left and of what the remote did, and never looks at
 * the state under test.
 *
 * @param tries one for each command that left, in order
 * @param effects how often the effect took place
 * @param absences times at which a status read found nothing since the latest try began
 * @param asked attempt that a status read was last asked for; 0 when none was
 */
record RemoteBook(List<Try> tries, int effects, List<Instant> absences, int asked) {
  static final RemoteBook EMPTY = new RemoteBook(List.of(), 0, List.of(), 0);

  /** What can still become of a try. */
  enum Fate {
    /** It may take effect at any time. */
    MAY_ACT,
    /** It took effect. */
    ACTED,
    /**
     * It took effect, and its executor swore that it had not. Nothing can keep the next attempt
     * from running then; what counts is that a later word of success is not lost.
     */
    DENIED,
    /** It took no effect and never will. */
    DEAD
  }

  /**
   * One command that left.
   *
   * @param deadline no call is started at or after it
   * @param proof what its executor reports once it is dead
   */
  record Try(
      int attempt,
      String downstreamKey,
      Instant startedAt,
      Instant deadline,
      Fate fate,
      @Nullable AttemptOutcome proof) {
    Try with(Fate next, @Nullable AttemptOutcome outcome) {
      return new Try(attempt, downstreamKey, startedAt, deadline, next, outcome);
    }
  }

  RemoteBook {
    tries = List.copyOf(tries);
    absences = List.copyOf(absences);
  }

  boolean acted() {
    return tries.stream().anyMatch(t -> t.fate() == Fate.ACTED) || denied();
  }

  boolean denied() {
    return tries.stream().anyMatch(t -> t.fate() == Fate.DENIED);
  }

  boolean mayAct() {
    return tries.stream().anyMatch(t -> t.fate() == Fate.MAY_ACT);
  }

  /**
   * A command leaves. This is where the guarantee is checked: every try before it is dead, or the
   * remote takes both for one, since they carry one key and its memory is long enough.
   */
  RemoteBook dispatched(Command command, Instant now, ActionPolicy policy) {
    String key = Objects.requireNonNull(command.downstreamKey());
    for (Try earlier : tries) {
      boolean safe =
          earlier.fate() == Fate.DEAD
              || earlier.fate() == Fate.DENIED
              || (remembersAt(now, policy) && earlier.downstreamKey().equals(key));
      if (!safe) {
        throw new AssertionError(
            "attempt "
                + command.attempt()
                + " left while attempt "
                + earlier.attempt()
                + " had "
                + earlier.fate());
      }
      if (earlier.attempt() >= command.attempt()) {
        throw new AssertionError("attempt " + command.attempt() + " left twice or backwards");
      }
    }
    List<Try> more = new ArrayList<>(tries);
    more.add(
        new Try(
            command.attempt(),
            key,
            now,
            Objects.requireNonNull(command.deadline()),
            Fate.MAY_ACT,
            null));
    return new RemoteBook(more, effects, List.of(), asked);
  }

  RemoteBook asked(int attempt) {
    return new RemoteBook(tries, effects, absences, attempt);
  }

  /**
   * Whether the try can take effect now. Without dedupe every executor may be a zombie that wakes
   * up at any time; where our key is what protects, it starts no call after its deadline, with a
   * clock that is behind by as much as is allowed.
   */
  boolean canAct(Try t, Instant now, ActionPolicy policy) {
    return t.fate() == Fate.MAY_ACT
        && (!policy.remote().dedupesOnKey() || now.isBefore(t.deadline().plus(policy.clockSkew())));
  }

  /** The try takes effect, unless the remote takes it for one that it remembers. */
  RemoteBook acts(int attempt, Instant now, ActionPolicy policy) {
    boolean known = remembersAt(now, policy) && acted();
    return new RemoteBook(
        replaced(attempt, Fate.ACTED, null), known ? effects : effects + 1, absences, asked);
  }

  RemoteBook denies(int attempt) {
    return new RemoteBook(replaced(attempt, Fate.DENIED, null), effects, absences, asked);
  }

  RemoteBook dies(int attempt, AttemptOutcome proof) {
    return new RemoteBook(replaced(attempt, Fate.DEAD, proof), effects, absences, asked);
  }

  /** Whoever looked saw to it that nothing acts any more. */
  RemoteBook allDie() {
    List<Try> next = new ArrayList<>();
    for (Try t : tries) {
      next.add(t.fate() == Fate.MAY_ACT ? t.with(Fate.DEAD, null) : t);
    }
    return new RemoteBook(next, effects, absences, asked);
  }

  /**
   * A status read finds nothing; enough of them over enough time are the remote's word for never.
   */
  RemoteBook foundAbsent(Instant now, ActionPolicy policy) {
    List<Instant> more = new ArrayList<>(absences);
    more.add(now);
    RemoteBook next = new RemoteBook(tries, effects, more, asked);
    ActionPolicy.AbsentAfter contract = Objects.requireNonNull(policy.remote().absentAfter());
    boolean promised =
        more.size() >= contract.reads()
            && Duration.between(more.get(0), now).compareTo(contract.over()) >= 0;
    return promised ? next.allDie() : next;
  }

  private boolean remembersAt(Instant now, ActionPolicy policy) {
    Duration window = policy.remote().dedupeWindow();
    return policy.remote().dedupesOnKey()
        && window != null
        && !tries.isEmpty()
        && now.isBefore(tries.get(0).startedAt().plus(window));
  }

  private List<Try> replaced(int attempt, Fate fate, @Nullable AttemptOutcome proof) {
    List<Try> next = new ArrayList<>();
    for (Try t : tries) {
      next.add(t.attempt() == attempt ? t.with(fate, proof) : t);
    }
    return next;
  }
}
