package dev.ichido.topology.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.Decision;
import dev.ichido.decision.Effect;
import dev.ichido.decision.Effect.AskOriginal;
import dev.ichido.decision.Effect.ChargeRetryBudget;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.Effect.PromiseRetryToken;
import dev.ichido.decision.Effect.ReleaseOriginal;
import dev.ichido.decision.Effect.RequestReconciliation;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.Effect.TellCompensation;
import dev.ichido.decision.OperationEvent;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.CompensationAsked;
import dev.ichido.decision.OperationEvent.CompensationReleased;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ReadReported;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationStateMachine;
import dev.ichido.decision.OriginalStanding;
import dev.ichido.decision.RetryBudget;
import dev.ichido.decision.Transition;
import dev.ichido.decision.Verdict;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.schemas.CarriedHeaders;
import dev.ichido.schemas.RefusedRecord;
import dev.ichido.topology.NodeNames;
import dev.ichido.topology.metrics.VerdictMeters;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.store.DeadlineKey;
import dev.ichido.topology.store.DeadlineStore;
import dev.ichido.topology.store.ProcessorStores;
import dev.ichido.topology.store.StoredOperation;
import dev.ichido.topology.wire.Delivery;
import dev.ichido.topology.wire.EffectMapper;
import dev.ichido.topology.wire.IntentMapper;
import dev.ichido.topology.wire.InternalMessage;
import dev.ichido.topology.wire.InternalMessage.Answer;
import dev.ichido.topology.wire.InternalMessage.CompensationAnswer;
import dev.ichido.topology.wire.InternalMessage.CompensationQuestion;
import dev.ichido.topology.wire.InternalMessage.CompensationRelease;
import dev.ichido.topology.wire.InternalMessage.Looked;
import dev.ichido.topology.wire.InternalMessage.News;
import dev.ichido.topology.wire.InternalMessage.Question;
import dev.ichido.topology.wire.Outgoing;
import dev.ichido.topology.wire.Poison;
import dev.ichido.topology.wire.PoisonException;
import dev.ichido.topology.wire.ResultMapper;
import dev.ichido.topology.wire.SourcePosition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Owns the operations of its partition. Records come as bytes, so that what cannot be read is
 * refused here, with its position, before any state is touched. The rest is one shape: state,
 * event, decide, write, put.
 */
public final class OperationProcessor implements Processor<byte[], byte[], byte[], byte[]> {
  private final Wiring wiring;
  private final Facts facts;

  @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before everything else.
  private ProcessorContext<byte[], byte[]> context;

  @SuppressWarnings("NullAway.Init")
  private TaskClock clock;

  @SuppressWarnings("NullAway.Init")
  private ProcessorStores stores;

  @SuppressWarnings("NullAway.Init")
  private Cancellable sweeps;

  @SuppressWarnings("NullAway.Init")
  private Instant sweepAt;

  /**
   * What a processor works with.
   *
   * @param intentsTopic name of the topic of intents
   * @param resultsTopic name of the topic of results; what comes from elsewhere are messages of
   *     other operations and of the index of meanings
   * @param hearing how far the reports on the operations have been read
   * @param sweepEvery how often due deadlines are looked for
   * @param sweepBatch most deadlines that one sweep takes; the others are due at the next
   */
  public record Wiring(
      String intentsTopic,
      String resultsTopic,
      Supplier<PolicySet> policies,
      IntentMapper intents,
      ResultMapper results,
      EffectMapper effects,
      VerdictMeters meters,
      Hearing hearing,
      Duration sweepEvery,
      int sweepBatch) {}

  public OperationProcessor(Wiring wiring) {
    this.wiring = wiring;
    this.facts = new Facts();
  }

  @Override
  public void init(ProcessorContext<byte[], byte[]> taskContext) {
    this.context = taskContext;
    this.clock = new TaskClock(taskContext);
    this.stores = ProcessorStores.of(taskContext);
    this.sweeps = sweepAfter(wiring.sweepEvery());
  }

  private Cancellable sweepAfter(Duration wait) {
    sweepAt = clock.now().plus(wait);
    return context.schedule(wait, PunctuationType.WALL_CLOCK_TIME, timestamp -> sweep());
  }

  /**
   * Streams commits after a sweep whether it found anything or not, so there is none before the
   * first deadline.
   */
  private void planSweep() {
    Duration next = Duration.between(clock.now(), stores.deadlines().noneBefore());
    Duration wait = next.compareTo(wiring.sweepEvery()) < 0 ? wiring.sweepEvery() : next;
    sweeps.cancel();
    sweeps = sweepAfter(wait);
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    Instant at = clock.now();
    PolicySet policies = wiring.policies().get();
    SourcePosition source = position(record);
    List<Header> carried = CarriedHeaders.of(record.headers());
    String key = record.key() == null ? "" : new String(record.key(), UTF_8);
    try {
      if (source.topic().equals(wiring.intentsTopic())) {
        intent(key, source, Looked.NOT, null, policies, at, carried);
      } else if (!source.topic().equals(wiring.resultsTopic())) {
        message(key, InternalMessage.read(record.value()), policies, at, carried);
      } else {
        OperationEvent event =
            wiring
                .results()
                .event(source.topic(), record.key(), record.value(), at, policies::mayResolve);
        decide(key, event, policies, new Origin(source, Looked.NOT), carried);
      }
    } catch (PoisonException e) {
      refuse(source, e.poison(), at, carried);
    }
    Instant due = stores.deadlines().noneBefore();
    Instant look = due.isBefore(at) ? at : due;
    // One that is overdue waits for the planned sweep: put off anew by each record, none would
    // come.
    if (look.plus(wiring.sweepEvery()).isBefore(sweepAt)) {
      planSweep();
    }
  }

  private void intent(
      String key,
      SourcePosition source,
      Looked looked,
      @Nullable OriginalStanding original,
      PolicySet policies,
      Instant at,
      List<Header> carried)
      throws PoisonException {
    Delivery delivery =
        wiring.intents().delivery(wiring.intentsTopic(), source.key(), source.value());
    StoredOperation before = stores.operations().get(key);
    OperationEvent event =
        facts.event(
            delivery,
            before.state(),
            policies,
            at,
            it -> budget(delivery, it, at),
            looked.suspectOf(),
            original);
    Decision decision = decide(key, before, event, policies, new Origin(source, looked), carried);
    boolean asks = decision.effects().stream().anyMatch(AskOriginal.class::isInstance);
    if (looked.heldAgainstMeanings() && looked.suspectOf() == null && !asks) {
      // The index was asked under today's list of volatile members, and not under the stored one.
      OperationEvent asked =
          before.state() instanceof Known
              ? facts.event(
                  delivery,
                  Absent.NOTHING,
                  policies,
                  at,
                  it -> RetryBudget.full(at),
                  null,
                  original)
              : event;
      SuspectNews.unclaimed(event.key(), asked, decision.next()).ifPresent(news -> tell(news, at));
    }
  }

  private void message(
      String key, InternalMessage message, PolicySet policies, Instant at, List<Header> carried)
      throws PoisonException {
    switch (message) {
      case Answer it ->
          intent(key, it.source(), new Looked(true, it.suspectOf()), null, policies, at, carried);
      case CompensationAnswer it ->
          intent(key, it.source(), it.looked(), it.standing(), policies, at, carried);
      case CompensationQuestion it ->
          decide(
              key,
              new CompensationAsked(
                  required(key),
                  at,
                  it.compensation(),
                  it.deliveryId(),
                  new Principal(it.principal())),
              policies,
              new Origin(it.source(), it.looked()),
              carried);
      case CompensationRelease it ->
          decide(
              key,
              new CompensationReleased(required(key), at, it.compensation()),
              policies,
              null,
              carried);
      case Question it -> throw misled();
      case News it -> throw misled();
    }
  }

  private static OperationKey required(String key) {
    return OperationKey.parse(key)
        .orElseThrow(
            () -> new IllegalStateException("Expected the key of an operation on a message."));
  }

  private static IllegalStateException misled() {
    return new IllegalStateException("Expected a message for an operation, but got another.");
  }

  private void tell(SuspectNews news, Instant at) {
    context.forward(
        new Record<>(
            news.key().getBytes(UTF_8), InternalMessage.write(news.news()), at.toEpochMilli()),
        NodeNames.SUSPECT_NEWS);
  }

  private void sweep() {
    Instant at = clock.now();
    PolicySet policies = wiring.policies().get();
    int partition = context.taskId().partition();
    DeadlineStore.Look look =
        stores
            .deadlines()
            .look(at, wiring.hearing().heardUntil(partition, at), wiring.sweepBatch());
    for (DeadlineKey due : look.due()) {
      StoredOperation before = stores.operations().get(due.recordKey());
      Optional<OperationKey> key = OperationKey.parse(due.recordKey());
      if (key.isEmpty() || !due.due().equals(before.armedFor())) {
        stores.deadlines().drop(due);
        continue;
      }
      ActionPolicy policy = policies.governing(boundAction(before));
      OperationEvent event =
          new DeadlineReached(
              key.get(),
              at,
              stores
                  .budgets()
                  .view(key.get().tenant(), policy.name(), policy.retry().budget(), at));
      var unused =
          decide(due.recordKey(), before, event, policies, null, trace(before.traceparent()));
    }
    if (look.another()) {
      wiring.hearing().listen(partition, at);
    }
    planSweep();
  }

  private void decide(
      String key,
      OperationEvent event,
      PolicySet policies,
      @Nullable Origin origin,
      List<Header> carried) {
    var unused = decide(key, stores.operations().get(key), event, policies, origin, carried);
  }

  private Decision decide(
      String key,
      StoredOperation before,
      OperationEvent event,
      PolicySet policies,
      @Nullable Origin origin,
      List<Header> carried) {
    ActionPolicy policy =
        policies.governing(OperationStateMachine.governingAction(before.state(), event));
    Instant heardUntil = wiring.hearing().heardUntil(context.taskId().partition(), event.at());
    Decision decision = OperationStateMachine.decide(before.state(), event, heardUntil, policy);

    List<Outgoing> outgoing = new ArrayList<>();
    Poison poison = origin == null ? null : Refusals.poison(decision);
    if (origin != null && poison != null) {
      outgoing.add(wiring.effects().deadLetter(origin.source(), poison, event.at()));
      wiring.meters().deadLetter(poison.code(), poison.reason().name());
    }
    for (Effect effect : decision.effects()) {
      switch (effect) {
        case DispatchCommand it -> outgoing.add(wiring.effects().command(it.command()));
        case RequestReconciliation it -> outgoing.add(wiring.effects().command(it.command()));
        case SendReply it -> outgoing.add(wiring.effects().reply(it));
        case ChargeRetryBudget it ->
            stores.budgets().charge(it.tenant(), it.action(), policy.retry().budget(), it.at());
        case PromiseRetryToken it ->
            stores
                .budgets()
                .promise(it.tenant(), it.action(), policy.retry().budget(), it.at(), it.comesAt());
        case AskOriginal it -> {
          Origin asking = Objects.requireNonNull(origin, "origin");
          mail(
              it.original().recordKey().getBytes(UTF_8),
              new CompensationQuestion(
                  it.compensation(),
                  it.deliveryId(),
                  it.principal().name(),
                  asking.looked(),
                  asking.source()),
              event.at(),
              carried);
        }
        case TellCompensation it -> {
          Origin asking = Objects.requireNonNull(origin, "origin");
          mail(
              Objects.requireNonNull(asking.source().key(), "key"),
              new CompensationAnswer(it.standing(), asking.looked(), asking.source()),
              event.at(),
              carried);
        }
        case ReleaseOriginal it ->
            mail(
                it.original().recordKey().getBytes(UTF_8),
                new CompensationRelease(it.compensation()),
                event.at(),
                carried);
      }
    }
    Address address = Address.of(event);
    for (Transition transition : decision.transitions()) {
      outgoing.add(
          wiring
              .effects()
              .journal(address.tenant(), address.scope(), address.operationId(), transition));
      count(transition, address, event, policies, isReplay(carried));
    }
    stores
        .operations()
        .put(
            key,
            before,
            decision.next(),
            before.traceparent() == null ? traceparent(carried) : before.traceparent());
    forward(key.getBytes(UTF_8), outgoing, event.at(), carried);
    if (!decision.next().equals(before.state())) {
      SuspectNews.of(event.key(), before.state(), decision.next(), event.at())
          .ifPresent(news -> tell(news, event.at()));
    }
    return decision;
  }

  private void mail(byte[] key, InternalMessage message, Instant at, List<Header> carried) {
    forward(
        key,
        List.of(new Outgoing(NodeNames.COMPENSATION_MAIL, InternalMessage.write(message))),
        at,
        carried);
  }

  private void refuse(SourcePosition source, Poison poison, Instant at, List<Header> carried) {
    wiring.meters().deadLetter(poison.code(), poison.reason().name());
    byte[] key = RefusedRecord.of(source.key(), source.value()).letterKey();
    forward(
        key == null ? new byte[0] : key,
        List.of(wiring.effects().deadLetter(source, poison, at)),
        at,
        carried);
  }

  private void forward(byte[] key, List<Outgoing> outgoing, Instant at, List<Header> carried) {
    for (Outgoing record : outgoing) {
      Headers headers = new RecordHeaders(carried);
      context.forward(new Record<>(key, record.value(), at.toEpochMilli(), headers), record.node());
    }
  }

  private void count(
      Transition transition,
      Address address,
      OperationEvent event,
      PolicySet policies,
      boolean replay) {
    String tenant = policies.findTenant(address.tenant()).isPresent() ? address.tenant() : null;
    String action = OperationStateMachine.governingAction(transition.after(), event);
    String known = action != null && policies.findAction(action).isPresent() ? action : null;
    wiring.meters().count(transition.verdict().name(), tenant, known, replay);
    if (transition.alarm()) {
      wiring.meters().alarm(transition.verdict().name(), tenant, known);
    }
  }

  private RetryBudget budget(Delivery delivery, ActionPolicy policy, Instant at) {
    return stores
        .budgets()
        .view(delivery.intent().tenant(), policy.name(), policy.retry().budget(), at);
  }

  private SourcePosition position(Record<byte[], byte[]> record) {
    RecordMetadata metadata = context.recordMetadata().orElseThrow();
    return new SourcePosition(
        metadata.topic(),
        metadata.partition(),
        metadata.offset(),
        record.timestamp(),
        record.key(),
        record.value());
  }

  private static @Nullable String boundAction(StoredOperation stored) {
    return stored.state() instanceof Known known ? known.binding().action() : null;
  }

  private static List<Header> trace(@Nullable String text) {
    return text == null
        ? List.of()
        : List.of(new RecordHeader(CarriedHeaders.TRACE, text.getBytes(UTF_8)));
  }

  private static @Nullable String traceparent(List<Header> carried) {
    return carried.stream()
        .filter(header -> header.key().equals(CarriedHeaders.TRACE))
        .map(header -> new String(header.value(), UTF_8))
        .findFirst()
        .orElse(null);
  }

  private static boolean isReplay(List<Header> carried) {
    return carried.stream().anyMatch(header -> header.key().equals(CarriedHeaders.REPLAY));
  }

  /** The record that an event came of, and what was looked for on its way. */
  private record Origin(SourcePosition source, Looked looked) {}

  /** Whom the journal speaks of. */
  private record Address(String tenant, String scope, @Nullable String operationId) {
    static Address of(OperationEvent event) {
      return switch (event) {
        case IntentReceived it -> {
          Intent intent = it.intent();
          yield new Address(intent.tenant(), intent.scope(), intent.operationId());
        }
        case CancelReceived it -> new Address(it.tenant(), it.scope(), it.operationId());
        case ReadReported it -> new Address(it.tenant(), it.scope(), it.operationId());
        case ResultReported it -> of(it.key());
        case ReconciliationReported it -> of(it.key());
        case ResolutionReceived it -> of(it.key());
        case CompensationAsked it -> of(it.key());
        case CompensationReleased it -> of(it.key());
        case DeadlineReached it -> of(it.key());
      };
    }

    private static Address of(OperationKey key) {
      return new Address(key.tenant(), key.scope(), key.operationId());
    }
  }

  /** Which verdicts send their record to the dead letters beside the reply. */
  private static final class Refusals {
    static @Nullable Poison poison(Decision decision) {
      Verdict verdict = decision.verdict();
      if (verdict.fault() == null) {
        return null;
      }
      Poison.Reason reason =
          switch (verdict.fault()) {
            case CONTRACT -> Poison.Reason.CONTRACT;
            case AUTHORIZATION -> Poison.Reason.AUTHORIZATION;
          };
      Transition last = decision.transitions().get(decision.transitions().size() - 1);
      String code = last.code() == null ? verdict.name() : last.code();
      return new Poison(code, reason, detail(decision, verdict));
    }

    private static String detail(Decision decision, Verdict verdict) {
      for (Effect effect : decision.effects()) {
        if (effect instanceof SendReply reply && reply.detail() != null) {
          return reply.detail();
        }
      }
      return switch (verdict) {
        case UNAUTHORIZED ->
            "Expected a principal that the policy allows, but it does not. Check authorize and"
                + " operators in the policy.";
        default -> "Expected a record that fits the contract, but it does not. Check its code.";
      };
    }
  }
}
