package dev.ichido.decision;

import dev.ichido.decision.Effect.ChargeRetryBudget;
import dev.ichido.decision.Effect.CommandKind;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.Effect.PromiseRetryToken;
import dev.ichido.decision.Effect.RequestReconciliation;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.Found;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationEvent.Terms;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.RemoteBook.Try;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One operation with everything around it at one moment: the state under test, the clock, the
 * remote's book, and who was promised an answer. Immutable, so that a search can go on from it in
 * every direction. {@link #moves} lists what may happen next; taking a move checks every invariant.
 *
 * @param awaiting deliveries that were told that more follows
 * @param owner principal that the operation belongs to, by what was accepted first
 */
record Situation(
    OperationKey key,
    OperationState state,
    Instant now,
    RemoteBook book,
    Set<String> awaiting,
    @Nullable Principal owner) {
  static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Principal A = new Principal("agent:a");
  private static final Principal B = new Principal("agent:b");
  private static final Fingerprint F = Journey.fingerprintOf("f");
  private static final Fingerprint G = Journey.fingerprintOf("g");
  private static final Duration SOME_TIME = Duration.ofSeconds(35);
  private static final Duration MUCH_TIME = Duration.ofSeconds(200);

  /**
   * What stays the same over a history.
   *
   * @param behind how far the reading is behind what was sent
   * @param seen is told every decision
   */
  record Setting(ActionPolicy policy, Duration behind, Consumer<Decision> seen) {
    Setting(ActionPolicy policy, Consumer<Decision> seen) {
      this(policy, Duration.ZERO, seen);
    }

    Decision decide(OperationState state, OperationEvent event) {
      return OperationStateMachine.decide(state, event, event.at().minus(behind), policy);
    }
  }

  /** One thing that may happen. */
  record Move(String name, Way way) {
    @Override
    public String toString() {
      return name;
    }
  }

  /** What happens, as the situation after it. */
  interface Way {
    Situation take();
  }

  static Situation begin(OperationKey key) {
    return new Situation(key, Absent.NOTHING, START, RemoteBook.EMPTY, Set.of(), null);
  }

  /** Everything that may happen next. The names are those of a history. */
  List<Move> moves(Setting setting) {
    List<Move> moves = new ArrayList<>(32);
    addIntents(moves, setting);
    addAttempts(moves, setting);
    addStatusReads(moves, setting);
    addPeople(moves, setting);
    addTime(moves, setting);
    return moves;
  }

  private void addIntents(List<Move> moves, Setting setting) {
    moves.add(new Move("A asks for f", () -> intent(A, F, true, setting)));
    moves.add(new Move("A asks for f, no token", () -> intent(A, F, false, setting)));
    moves.add(new Move("A asks for g", () -> intent(A, G, true, setting)));
    moves.add(new Move("B asks for f", () -> intent(B, F, true, setting)));
  }

  private void addAttempts(List<Move> moves, Setting setting) {
    for (Try t : book.tries()) {
      int n = t.attempt();
      String name = "attempt " + n;
      if (book.canAct(t, now, setting.policy())) {
        moves.add(new Move(name + " acts", () -> with(book.acts(n, now, setting.policy()))));
      }
      switch (t.fate()) {
        case MAY_ACT -> {
          moves.add(
              new Move(
                  name + " provably did not start",
                  () ->
                      with(book.dies(n, AttemptOutcome.FAILED_RETRYABLE))
                          .report(n, AttemptOutcome.FAILED_RETRYABLE, setting)));
          moves.add(
              new Move(
                  name + " was refused",
                  () ->
                      with(book.dies(n, AttemptOutcome.FAILED_TERMINAL))
                          .report(n, AttemptOutcome.FAILED_TERMINAL, setting)));
          moves.add(
              new Move(name + " got no answer", () -> report(n, AttemptOutcome.UNKNOWN, setting)));
        }
        case ACTED, DENIED -> {
          if (t.fate() == RemoteBook.Fate.ACTED) {
            moves.add(
                new Move(
                    name + " acted and its executor denies it",
                    () ->
                        with(book.denies(n)).report(n, AttemptOutcome.FAILED_RETRYABLE, setting)));
          }
          moves.add(
              new Move(
                  name + " reports success", () -> report(n, AttemptOutcome.SUCCEEDED, setting)));
          moves.add(
              new Move(
                  name + " lost its answer", () -> report(n, AttemptOutcome.UNKNOWN, setting)));
        }
        case DEAD -> {
          AttemptOutcome proof = t.proof();
          if (proof != null) {
            moves.add(new Move(name + " reports again", () -> report(n, proof, setting)));
          }
        }
      }
    }
  }

  private void addStatusReads(List<Move> moves, Setting setting) {
    int asked = book.asked();
    if (asked == 0) {
      return;
    }
    if (book.acted()) {
      moves.add(
          new Move("the read finds it", () -> read("found", asked, Found.COMMITTED, setting)));
    } else {
      int count = book.absences().size();
      moves.add(
          new Move(
              "the read finds nothing",
              () ->
                  with(book.foundAbsent(now, setting.policy()))
                      .read("absent-" + asked + "-" + count, asked, Found.ABSENT, setting)));
      if (count > 0) {
        moves.add(
            new Move(
                "the read's report comes again",
                () -> read("absent-" + asked + "-" + (count - 1), asked, Found.ABSENT, setting)));
      }
    }
    moves.add(new Move("the read fails", () -> read("failed", asked, Found.UNKNOWN, setting)));
  }

  private void addPeople(List<Move> moves, Setting setting) {
    moves.add(new Move("A cancels", () -> cancel(A, setting)));
    if (book.tries().isEmpty()) {
      return;
    }
    if (book.acted()) {
      moves.add(new Move("a person saw it", () -> resolve(ResolvedAs.SUCCEEDED, setting)));
    } else {
      moves.add(
          new Move(
              "a person stopped it",
              () -> with(book.allDie()).resolve(ResolvedAs.NOT_STARTED, setting)));
      moves.add(
          new Move(
              "a person gave it up",
              () -> with(book.allDie()).resolve(ResolvedAs.FAILED_TERMINAL, setting)));
    }
  }

  private void addTime(List<Move> moves, Setting setting) {
    moves.add(new Move("the sweep comes", () -> sweep(true, setting)));
    moves.add(new Move("the sweep comes, no token", () -> sweep(false, setting)));
    Instant due = state.nextDeadline().orElse(null);
    if (due != null && due.isAfter(now)) {
      moves.add(new Move("time comes to the deadline", () -> at(due)));
      if (due.minusMillis(1).isAfter(now)) {
        moves.add(new Move("time comes to just before it", () -> at(due.minusMillis(1))));
      }
    }
    moves.add(new Move("some time passes", () -> at(now.plus(SOME_TIME))));
    moves.add(new Move("much time passes", () -> at(now.plus(MUCH_TIME))));
  }

  private Situation with(RemoteBook next) {
    if (next.effects() > 1 && !next.denied()) {
      throw new AssertionError("the effect took place twice");
    }
    return new Situation(key, state, now, next, awaiting, owner);
  }

  Situation at(Instant time) {
    return new Situation(key, state, time, book, awaiting, owner);
  }

  // Events

  private Situation intent(Principal who, Fingerprint meaning, boolean token, Setting setting) {
    String delivery = "d-" + who.name() + (meaning.equals(F) ? "-f" : "-g");
    Intent intent =
        new Intent(
            key.tenant(),
            key.scope(),
            key.operationId(),
            delivery,
            who,
            setting.policy().name(),
            null,
            "acct:1",
            "{}",
            null,
            null,
            // Issued as far ahead of time as is allowed, and kept by every retry.
            START.plus(setting.policy().clockSkew()),
            null,
            null,
            null);
    return take(
        new IntentReceived(
            intent, now, null, true, Terms.of(setting.policy()), meaning, budget(token), null),
        setting);
  }

  private Situation report(int attempt, AttemptOutcome outcome, Setting setting) {
    return take(
        new ResultReported(
            key,
            now,
            "r-" + attempt + "-" + outcome,
            attempt,
            outcome,
            outcome == AttemptOutcome.SUCCEEDED ? answer() : Answer.NONE,
            null),
        setting);
  }

  private Situation read(String id, int attempt, Found found, Setting setting) {
    return take(
        new ReconciliationReported(
            key, now, id, attempt, found, found == Found.COMMITTED ? answer() : Answer.NONE, now),
        setting);
  }

  private Situation resolve(ResolvedAs as, Setting setting) {
    return take(
        new ResolutionReceived(key, now, "s-" + as, null, as, "person:p", "looked", true, answer()),
        setting);
  }

  private Situation cancel(Principal who, Setting setting) {
    return take(
        new CancelReceived(
            key.tenant(),
            key.scope(),
            key.operationId(),
            now,
            who,
            "d-" + who.name() + "-x",
            START.plus(setting.policy().clockSkew()),
            setting.policy().horizon(),
            setting.policy().clockSkew(),
            null,
            true),
        setting);
  }

  private Situation sweep(boolean token, Setting setting) {
    return take(new DeadlineReached(key, now, budget(token)), setting);
  }

  private RetryBudget budget(boolean token) {
    return token ? RetryBudget.full(now) : RetryBudget.empty(now.plusSeconds(5));
  }

  /** What the remote answers about this operation: its body names whose it is. */
  private Answer answer() {
    return Answer.of("effect of " + key.recordKey(), key.recordKey());
  }

  // Invariants

  private Situation take(OperationEvent event, Setting setting) {
    Decision d = setting.decide(state, event);
    require(
        d.equals(setting.decide(state, event)),
        "an aborted task that decides again decides the same");
    setting.seen().accept(d);
    checkJournal(d);
    checkSettledStays(d, setting);
    checkSweepIndependence(d, event, setting);
    Situation next =
        new Situation(key, d.next(), now, bookAfter(d, setting), awaiting, ownerAfter(d, event));
    next = next.checkReplies(d, event, owner);
    checkSuccessIsKept(d, event);
    next.checkTruth();
    return next;
  }

  private void checkJournal(Decision d) {
    OperationState reached = state;
    for (Transition t : d.transitions()) {
      require(t.before().equals(reached), "the journal has no gap");
      reached = t.after();
      require(
          t.after() instanceof Absent
              || revision(t.after()) == revision(t.before()) + 1
              || (revision(t.after()) == revision(t.before())
                  && Projection.of(t.before()).equals(Projection.of(t.after()))),
          "a changed operation has the next revision, an unchanged one the same");
    }
    require(
        d.verdict() == Verdict.NOTHING_DUE
            ? d.transitions().isEmpty()
                && d.effects().stream().allMatch(PromiseRetryToken.class::isInstance)
                && Projection.of(d.next()).equals(Projection.of(state))
            : reached.equals(d.next())
                && d.transitions().get(d.transitions().size() - 1).verdict() == d.verdict(),
        "the journal leads to the state that is kept");
  }

  private static long revision(OperationState s) {
    return s instanceof Known known ? known.revision() : 0;
  }

  private void checkSettledStays(Decision d, Setting setting) {
    if (state instanceof Succeeded before) {
      if (d.next() instanceof Succeeded after) {
        require(
            after.result().equals(before.result())
                && after.settledAt().equals(before.settledAt())
                && after.retainUntil().equals(before.retainUntil()),
            "a stored success stays");
      } else {
        requireExpiry(before.settledAt(), d, setting);
      }
    }
    if (state instanceof FailedTerminal before) {
      if (d.next() instanceof FailedTerminal after) {
        require(after.equals(before), "a stored failure stays");
      } else if (d.next() instanceof Succeeded) {
        require(
            book.acted()
                && (d.verdict() == Verdict.LATE_SUCCESS || d.verdict() == Verdict.RECONCILED)
                && d.transitions().get(d.transitions().size() - 1).alarm(),
            "a stored failure gives way only to a true success, with an alarm");
      } else {
        requireExpiry(before.settledAt(), d, setting);
      }
    }
  }

  /** Whatever was known before, a reported success leaves an operation that does not run again. */
  private static void checkSuccessIsKept(Decision d, OperationEvent event) {
    if (event instanceof ResultReported r && r.outcome() == AttemptOutcome.SUCCEEDED) {
      boolean kept =
          switch (d.next().name()) {
            case SUCCEEDED, EXPIRED, CANCELLED -> true;
            case ABSENT -> ((Absent) d.next()).evidence() != null;
            case IN_PROGRESS, FAILED_RETRYABLE, FAILED_TERMINAL, UNKNOWN_RECONCILIATION -> false;
          };
      require(kept, "a reported success is never dropped");
    }
  }

  private void requireExpiry(Instant settledAt, Decision d, Setting setting) {
    ActionPolicy policy = setting.policy();
    boolean forgotten = !now.isBefore(settledAt.plus(policy.horizon()).plus(policy.clockSkew()));
    boolean expired =
        !now.isBefore(settledAt.plus(policy.retention())) && d.next() instanceof Expired;
    require(forgotten || expired, "a settled operation only expires, and not early");
  }

  /**
   * Where only time has to act, it makes no difference whether the sweep came: neither just before
   * the event nor when the deadline was due. When the remote is asked next is the sweep's own
   * matter, so that of a punctual sweep only verdict and state are compared.
   */
  private void checkSweepIndependence(Decision d, OperationEvent event, Setting setting) {
    if (event instanceof DeadlineReached) {
      return;
    }
    Decision now = afterSweep(this.now, event, setting);
    require(
        now == null || (now.verdict() == d.verdict() && now.next().equals(d.next())),
        "the decision does not depend on whether the sweep came");
    Instant due = state.nextDeadline().orElse(this.now);
    Decision punctual = due.isAfter(this.now) ? null : afterSweep(due, event, setting);
    require(
        punctual == null
            || (punctual.verdict() == d.verdict() && punctual.next().name() == d.next().name()),
        "the decision does not depend on when the sweep came");
  }

  /** The decision after a sweep on which only time had to act; null when there was other work. */
  private @Nullable Decision afterSweep(Instant at, OperationEvent event, Setting setting) {
    Decision swept =
        setting.decide(state, new DeadlineReached(key, at, RetryBudget.empty(at.plusSeconds(5))));
    boolean onlyTime =
        swept.verdict() == Verdict.LEASE_EXPIRED || swept.verdict() == Verdict.EXPIRED;
    return onlyTime ? setting.decide(swept.next(), event) : null;
  }

  private RemoteBook bookAfter(Decision d, Setting setting) {
    RemoteBook next = book;
    boolean charged = d.effects().stream().anyMatch(ChargeRetryBudget.class::isInstance);
    for (Effect effect : d.effects()) {
      if (effect instanceof DispatchCommand dispatch) {
        require(dispatch.command().kind() == CommandKind.EXECUTE, "a write is executed");
        require(
            charged == (dispatch.command().attempt() > 1), "retries are charged, claims are not");
        next = next.dispatched(dispatch.command(), now, setting.policy());
      } else if (effect instanceof RequestReconciliation request) {
        next = next.asked(request.command().attempt());
      }
    }
    return next;
  }

  private @Nullable Principal ownerAfter(Decision d, OperationEvent event) {
    if (d.next() instanceof Absent) {
      return null;
    }
    boolean known =
        state instanceof Known
            && d.transitions().stream().noneMatch(t -> t.after() instanceof Absent);
    Principal acting =
        event instanceof IntentReceived e
            ? e.intent().principal()
            : event instanceof CancelReceived c ? c.principal() : null;
    return known ? owner : acting;
  }

  private Situation checkReplies(
      Decision d, OperationEvent event, @Nullable Principal ownerBefore) {
    Set<String> waiting = new TreeSet<>(awaiting);
    String own =
        event instanceof IntentReceived || event instanceof CancelReceived ? event.eventId() : null;
    int toItself = 0;
    for (Effect effect : d.effects()) {
      if (!(effect instanceof SendReply reply)) {
        continue;
      }
      String delivery = reply.to().deliveryId();
      String asker = reply.to().principal().name();
      require(delivery.startsWith("d-" + asker + "-"), "a reply goes to who sent the delivery");
      require(
          reply.to().tenant().equals(key.tenant())
              && key.operationId().equals(reply.to().operationId()),
          "a reply stays in its tenant and operation");
      if (delivery.equals(own)) {
        toItself++;
        require(reply.verdict() == d.verdict(), "an intent is answered with its verdict");
      } else {
        require(awaiting.contains(delivery), "only who was promised more is told more");
      }
      Principal told = reply.to().principal();
      if (!told.equals(owner) && !told.equals(ownerBefore)) {
        require(
            reply.state() == null
                && reply.answer() == null
                && reply.attempt() == 0
                && reply.revision() == 0
                && reply.differing().isEmpty(),
            "who is not the owner learns nothing");
      }
      Answer answer = reply.answer();
      if (answer != null && answer.body() != null) {
        require(key.recordKey().equals(answer.body()), "an answer is that of this operation");
      }
      if (reply.state() == StateName.SUCCEEDED) {
        require(book.acted(), "nobody is told of an effect that did not take place");
      }
      if (reply.last()) {
        waiting.remove(delivery);
      } else {
        waiting.add(delivery);
      }
    }
    require(own == null || toItself == 1, "an intent is answered once");
    require(
        !(d.next() instanceof Succeeded
                || d.next() instanceof FailedTerminal
                || d.next() instanceof Expired
                || d.next() instanceof OperationState.Cancelled
                || d.next() instanceof Absent)
            || waiting.isEmpty(),
        "nobody waits for an operation that is over");
    return new Situation(key, state, now, book, waiting, owner);
  }

  /** What the state says is so. */
  private void checkTruth() {
    if (state instanceof Succeeded) {
      require(book.acted(), "a success took place");
    }
    boolean failed =
        state instanceof FailedRetryable
            || state instanceof FailedTerminal
            || state instanceof OperationState.Cancelled
            || (state instanceof Expired s && s.was() != StateName.SUCCEEDED);
    if (failed && !book.denied()) {
      require(
          !book.acted() && !book.mayAct(),
          "what is told to have had no effect has and will have none");
    }
  }

  private static void require(boolean holds, String invariant) {
    if (!holds) {
      throw new AssertionError(invariant);
    }
  }
}
