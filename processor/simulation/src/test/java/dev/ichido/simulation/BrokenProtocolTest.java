package dev.ichido.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.Answer;
import dev.ichido.decision.Attempts;
import dev.ichido.decision.Decision;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.OperationEvent;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationStateMachine;
import dev.ichido.decision.OriginalStanding;
import dev.ichido.executor.AttemptProtocol;
import dev.ichido.executor.AttemptProtocol.Next;
import dev.ichido.executor.Report;
import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import dev.ichido.simulation.Protocol.Decider;
import dev.ichido.simulation.Protocol.ExecutorRules;
import dev.ichido.simulation.Protocol.RelayRules;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The simulation can fail: each protocol here is the shipped one with one rule broken, and a seed
 * that shows it is found soon, with a short schedule.
 */
class BrokenProtocolTest {
  private static final int SEEDS = 20_000;
  private static final int SHORT = 60;

  /**
   * A broken rule.
   *
   * @param profile under which it shows
   */
  record Broken(String rule, String profile, Protocol protocol, Set<Invariant> shows) {
    @Override
    public String toString() {
      return rule;
    }
  }

  static Stream<Broken> brokenRules() {
    return Stream.of(
        decider(
            "the end of a lease frees the claim",
            "status read",
            (state, event, heard, policy) ->
                state instanceof InProgress s && !event.at().isBefore(s.leaseUntil())
                    ? OperationStateMachine.decide(
                        state,
                        report(s, event, AttemptOutcome.FAILED_RETRYABLE, "lease"),
                        heard,
                        policy)
                    : OperationStateMachine.decide(state, event, heard, policy),
            Invariant.TRUTH,
            Invariant.AT_MOST_ONE_EFFECT),
        decider(
            "a timeout counts as a failure",
            "no key, no status read",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(
                    state,
                    event instanceof ResultReported r && r.outcome() == AttemptOutcome.UNKNOWN
                        ? new ResultReported(
                            r.key(),
                            r.at(),
                            r.resultId(),
                            r.attempt(),
                            AttemptOutcome.FAILED_RETRYABLE,
                            r.answer(),
                            null)
                        : event,
                    heard,
                    policy),
            Invariant.TRUTH,
            Invariant.AT_MOST_ONE_EFFECT),
        decider(
            "the proof about the latest attempt counts for all",
            "key for a window",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(
                    event instanceof ResultReported && state instanceof InProgress s
                        ? new InProgress(
                            s.revision(),
                            s.binding(),
                            onlyTheLatest(s.attempts()),
                            s.work(),
                            s.leaseUntil(),
                            s.waiting())
                        : state,
                    event,
                    heard,
                    policy),
            Invariant.TRUTH),
        decider(
            "a lease is over by the clock alone",
            "status read",
            (state, event, heard, policy) -> OperationStateMachine.decide(state, event, policy),
            Invariant.HEARD_BEFORE_UNKNOWN),
        decider(
            "a report counts for whichever attempt runs",
            "status read",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(
                    state,
                    event instanceof ResultReported r
                            && r.outcome() == AttemptOutcome.FAILED_RETRYABLE
                            && state instanceof InProgress s
                        ? report(s, event, r.outcome(), r.resultId() + "/" + s.attempt())
                        : event,
                    heard,
                    policy),
            Invariant.AT_MOST_ONE_EFFECT,
            Invariant.TRUTH),
        decider(
            "one status read that finds nothing is proof",
            "status read",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(state, event, heard, withProofOfOneRead(policy)),
            Invariant.TRUTH,
            Invariant.AT_MOST_ONE_EFFECT),
        new Broken(
            "a call may start after its deadline",
            "status read",
            Protocol.SHIPPED.with(
                new ExecutorRules() {
                  @Override
                  public boolean mayStart(ToolCommand command, Instant now, Duration sinceClaim) {
                    return true;
                  }
                }),
            Set.of(Invariant.TRUTH, Invariant.AT_MOST_ONE_EFFECT)),
        new Broken(
            "whoever was not answered takes an open claim for its own",
            "status read",
            Protocol.SHIPPED.with(
                new ExecutorRules() {
                  @Override
                  public ClaimAnswer granted(
                      ToolCommand command,
                      ClaimRequest request,
                      ClaimAnswer answer,
                      String owner,
                      boolean askedBefore) {
                    return askedBefore && answer instanceof ClaimAnswer.Open
                        ? new ClaimAnswer.Won()
                        : ExecutorRules.super.granted(command, request, answer, owner, askedBefore);
                  }
                }),
            Set.of(Invariant.TRUTH, Invariant.AT_MOST_ONE_EFFECT)),
        new Broken(
            "a call may start under a claim of any age",
            "clocks far off, status read",
            Protocol.SHIPPED.with(
                new ExecutorRules() {
                  @Override
                  public boolean mayStart(ToolCommand command, Instant now, Duration sinceClaim) {
                    return ExecutorRules.super.mayStart(command, now, Duration.ZERO);
                  }
                }),
            Set.of(Invariant.TRUTH, Invariant.AT_MOST_ONE_EFFECT)),
        decider(
            "a suspect runs",
            "suspects are held",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(
                    state,
                    event instanceof IntentReceived e ? asked(e, null, e.original()) : event,
                    heard,
                    policy),
            Invariant.SUSPECT_IS_HELD),
        decider(
            "an operation is undone as often as somebody asks",
            "compensations",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(
                    state,
                    event instanceof IntentReceived e && e.original() == OriginalStanding.TAKEN
                        ? asked(e, e.suspectOf(), OriginalStanding.GRANTED)
                        : event,
                    heard,
                    policy),
            Invariant.UNDONE_ONCE),
        decider(
            "what is unknown may be undone",
            "compensations",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(
                    state,
                    event instanceof IntentReceived e && e.original() == OriginalStanding.UNKNOWN
                        ? asked(e, e.suspectOf(), OriginalStanding.GRANTED)
                        : event,
                    heard,
                    policy),
            Invariant.UNDONE_ONCE),
        decider(
            "a cancel is not judged by its age",
            "short retention",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(
                    state,
                    event instanceof CancelReceived c
                        ? new CancelReceived(
                            c.tenant(),
                            c.scope(),
                            c.operationId(),
                            c.at(),
                            c.principal(),
                            c.deliveryId(),
                            c.at(),
                            c.horizon(),
                            c.clockSkew(),
                            c.refusal(),
                            c.permitted())
                        : event,
                    heard,
                    policy),
            Invariant.TRUTH),
        decider(
            "who waits is forgotten at settlement",
            "status read",
            (state, event, heard, policy) -> {
              Decision d = OperationStateMachine.decide(state, event, heard, policy);
              return new Decision(
                  d.next(),
                  d.verdict(),
                  d.effects().stream()
                      .filter(
                          it ->
                              !(it instanceof SendReply reply)
                                  || reply.to().deliveryId().equals(event.eventId()))
                      .toList(),
                  d.transitions());
            },
            Invariant.EVERY_DELIVERY_ANSWERED),
        decider(
            "the meaning is not compared",
            "status read",
            (state, event, heard, policy) ->
                OperationStateMachine.decide(
                    state,
                    event instanceof IntentReceived e
                            && state instanceof Known known
                            && known.comparable() != null
                        ? new IntentReceived(
                            e.intent(),
                            e.at(),
                            null,
                            true,
                            e.terms(),
                            known.comparable(),
                            e.budget(),
                            null)
                        : event,
                    heard,
                    policy),
            Invariant.NO_FALSE_DEDUPE),
        new Broken(
            "equal content counts as one operation",
            "status read",
            Protocol.SHIPPED.with((int operation) -> operation == 1 ? 0 : operation),
            Set.of(Invariant.NO_FALSE_DEDUPE)),
        executor(
            "the remote is called without a claim",
            "no key, no status read",
            new ExecutorRules() {
              @Override
              public Optional<ClaimRequest> claim(ToolCommand command, Instant now) {
                return command.kind() == ToolCommand.Kind.EXECUTE
                    ? Optional.empty()
                    : AttemptProtocol.claim(command, now, null);
              }

              @Override
              public Next next(ToolCommand command, @Nullable ClaimAnswer claim) {
                return command.kind() == ToolCommand.Kind.EXECUTE
                    ? new Next.Call()
                    : AttemptProtocol.next(command, claim);
              }
            }),
        executor(
            "a claim that was left open is taken over",
            "no key, no status read",
            new ExecutorRules() {
              @Override
              public Next next(ToolCommand command, @Nullable ClaimAnswer claim) {
                return command.kind() == ToolCommand.Kind.EXECUTE
                        && claim instanceof ClaimAnswer.Open
                    ? new Next.Call()
                    : AttemptProtocol.next(command, claim);
              }
            }),
        executor(
            "a recorded result is not looked at",
            "no key, no status read",
            new ExecutorRules() {
              @Override
              public Next next(ToolCommand command, @Nullable ClaimAnswer claim) {
                return command.kind() == ToolCommand.Kind.EXECUTE
                        && claim instanceof ClaimAnswer.Recorded
                    ? new Next.Call()
                    : AttemptProtocol.next(command, claim);
              }
            }),
        executor(
            "an attempt is revoked without a row",
            "no key, no status read",
            new ExecutorRules() {
              @Override
              public Next next(ToolCommand command, @Nullable ClaimAnswer claim) {
                return command.kind() == ToolCommand.Kind.RECONCILE
                        && command.leaseOver()
                        && !(claim instanceof ClaimAnswer.Recorded)
                    ? new Next.Tell(revoked(command))
                    : AttemptProtocol.next(command, claim);
              }
            }),
        executor(
            "no answer counts as not accepted",
            "no key, no status read",
            new ExecutorRules() {
              @Override
              public Finding unanswered() {
                return Finding.FAILED_RETRYABLE;
              }
            }),
        new Broken(
            "the slot moves before the batch is acknowledged",
            "status read",
            Protocol.SHIPPED.with(new RelayRules(true, false)),
            Set.of(Invariant.NOTHING_LOST, Invariant.RELAY_IN_COMMIT_ORDER)),
        new Broken(
            "rows are looked for by a growing number",
            "status read",
            Protocol.SHIPPED.with(new RelayRules(false, true)),
            Set.of(Invariant.NOTHING_LOST, Invariant.RELAY_IN_COMMIT_ORDER)));
  }

  @ParameterizedTest
  @MethodSource("brokenRules")
  void brokenRuleIsFoundSoonWithAShortSchedule(Broken broken) {
    Profile profile =
        Profile.all().stream()
            .filter(it -> it.name().equals(broken.profile()))
            .findFirst()
            .orElseThrow();
    Simulation simulation = new Simulation(profile, broken.protocol());
    for (long seed = 0; seed < SEEDS; seed++) {
      Simulation.Failure failure = simulation.run(seed).orElse(null);
      if (failure != null
          && broken.shows().contains(failure.invariant())
          && failure.schedule().size() <= SHORT) {
        assertThat(failure.schedule().size()).isLessThanOrEqualTo(failure.found());
        return;
      }
    }
    throw new AssertionError(SEEDS + " seeds did not show that " + broken.rule());
  }

  private static Broken decider(String rule, String profile, Decider decider, Invariant... shows) {
    return new Broken(rule, profile, Protocol.SHIPPED.with(decider), Set.of(shows));
  }

  private static Broken executor(String rule, String profile, ExecutorRules rules) {
    return new Broken(
        rule,
        profile,
        Protocol.SHIPPED.with(rules),
        Set.of(Invariant.TRUTH, Invariant.AT_MOST_ONE_EFFECT));
  }

  private static IntentReceived asked(
      IntentReceived e, @Nullable String suspectOf, @Nullable OriginalStanding original) {
    return new IntentReceived(
        e.intent(),
        e.at(),
        e.refusal(),
        e.permitted(),
        e.terms(),
        e.fingerprint(),
        e.budget(),
        suspectOf,
        original);
  }

  private static ActionPolicy withProofOfOneRead(ActionPolicy p) {
    ActionPolicy.Remote r = p.remote();
    return new ActionPolicy(
        p.name(),
        p.effect(),
        p.scope(),
        p.volatileMembers(),
        p.lease(),
        p.retention(),
        p.tombstone(),
        p.clockSkew(),
        p.retryHorizon(),
        p.share(),
        p.remint(),
        p.remintWindow(),
        p.schema(),
        p.authorize(),
        p.retry(),
        new ActionPolicy.Remote(
            r.keyLimit(),
            r.dedupesOnKey(),
            r.dedupeWindow(),
            r.dedupeAnchor(),
            r.statusRead(),
            new AbsentAfter(1, Duration.ZERO)));
  }

  private static Attempts onlyTheLatest(Attempts a) {
    return new Attempts(
        a.number(),
        a.base(),
        a.firstStartedAt(),
        a.startedAt(),
        a.downstreamKey(),
        a.keyed(),
        List.of(a.number()),
        a.noFurther());
  }

  private static ResultReported report(
      InProgress s, OperationEvent event, AttemptOutcome outcome, String id) {
    return new ResultReported(event.key(), event.at(), id, s.attempt(), outcome, Answer.NONE, null);
  }

  private static Report revoked(ToolCommand command) {
    return new Report(
        Report.Kind.ATTEMPT,
        Finding.FAILED_RETRYABLE,
        AttemptProtocol.resultId(command),
        null,
        null,
        null,
        0,
        null,
        "REVOKED",
        null,
        0,
        null,
        Instant.EPOCH);
  }
}
