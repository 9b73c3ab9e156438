package dev.ichido.topology.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.RetryBudget;
import dev.ichido.operation.Intent;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.topology.NodeNames;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.store.SuspectStore;
import dev.ichido.topology.wire.Delivery;
import dev.ichido.topology.wire.IntentMapper;
import dev.ichido.topology.wire.InternalMessage;
import dev.ichido.topology.wire.PoisonException;
import dev.ichido.topology.wire.SourcePosition;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * Sends the intents of actions with {@code remint: hold} past the index of meanings before they are
 * claimed. Everything else goes straight on. Only who may ask is held against the index, so that a
 * stranger can hold nobody up.
 */
public final class IntentGate implements Processor<byte[], byte[], byte[], byte[]> {
  private final Supplier<PolicySet> policies;
  private final IntentMapper intents;
  private final String detour;
  private final Facts facts = new Facts();

  @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before everything else.
  private ProcessorContext<byte[], byte[]> context;

  /**
   * A gate in front of the operations.
   *
   * @param detour name of the node that leads to the index
   */
  public IntentGate(Supplier<PolicySet> policies, IntentMapper intents, String detour) {
    this.policies = policies;
    this.intents = intents;
    this.detour = detour;
  }

  @Override
  public void init(ProcessorContext<byte[], byte[]> taskContext) {
    this.context = taskContext;
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    PolicySet current = policies.get();
    Optional<Record<byte[], byte[]>> question =
        current.holdsRemints() ? question(record, current) : Optional.empty();
    if (question.isPresent()) {
      context.forward(question.get(), detour);
    } else {
      context.forward(record, NodeNames.OPERATIONS);
    }
  }

  /** Poison has no meaning to look for; the operations refuse it. */
  private Optional<Record<byte[], byte[]>> question(
      Record<byte[], byte[]> record, PolicySet current) {
    RecordMetadata metadata = context.recordMetadata().orElseThrow();
    Delivery delivery;
    try {
      delivery = intents.delivery(metadata.topic(), record.key(), record.value());
    } catch (PoisonException e) {
      return Optional.empty();
    }
    Intent intent = delivery.intent();
    String action = intent.action();
    String operationId = intent.operationId();
    if (action == null
        || operationId == null
        || intent.discriminator() != null
        || current.governing(action).remint() != Remint.HOLD) {
      return Optional.empty();
    }
    Instant at = Instant.ofEpochMilli(context.currentSystemTimeMs());
    if (!(facts.event(
            delivery, Absent.NOTHING, current, at, policy -> RetryBudget.full(at), null, null)
        instanceof IntentReceived event)) {
      return Optional.empty();
    }
    Fingerprint fingerprint = event.fingerprint();
    if (fingerprint == null || !event.permitted()) {
      return Optional.empty();
    }
    SourcePosition source =
        new SourcePosition(
            metadata.topic(),
            metadata.partition(),
            metadata.offset(),
            record.timestamp(),
            record.key(),
            record.value());
    return Optional.of(
        record
            .withKey(SuspectStore.key(intent.tenant(), action, fingerprint).getBytes(UTF_8))
            .withValue(InternalMessage.write(new InternalMessage.Question(operationId, source))));
  }
}
