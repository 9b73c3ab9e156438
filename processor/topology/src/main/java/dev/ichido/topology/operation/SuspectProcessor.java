package dev.ichido.topology.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.operation.OperationKey;
import dev.ichido.topology.NodeNames;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.store.ProcessorStores;
import dev.ichido.topology.store.SuspectStore;
import dev.ichido.topology.wire.EffectMapper;
import dev.ichido.topology.wire.InternalMessage;
import dev.ichido.topology.wire.InternalMessage.Answer;
import dev.ichido.topology.wire.InternalMessage.CompensationAnswer;
import dev.ichido.topology.wire.InternalMessage.CompensationQuestion;
import dev.ichido.topology.wire.InternalMessage.CompensationRelease;
import dev.ichido.topology.wire.InternalMessage.News;
import dev.ichido.topology.wire.InternalMessage.Question;
import dev.ichido.topology.wire.SourcePosition;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

/**
 * Owns the meanings of its partition: which operations carry one. It answers whether an intent's
 * meaning is known under another id, and reports where it finds that afterwards. The intent's own
 * fate is not decided here.
 */
public final class SuspectProcessor implements Processor<byte[], byte[], byte[], byte[]> {
  private final Supplier<PolicySet> policies;
  private final EffectMapper effects;
  private final String answers;

  @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before everything else.
  private ProcessorContext<byte[], byte[]> context;

  @SuppressWarnings("NullAway.Init")
  private TaskClock clock;

  @SuppressWarnings("NullAway.Init")
  private SuspectStore suspects;

  /**
   * An owner of meanings.
   *
   * @param answers name of the node that leads back to the operations
   */
  public SuspectProcessor(Supplier<PolicySet> policies, EffectMapper effects, String answers) {
    this.policies = policies;
    this.effects = effects;
    this.answers = answers;
  }

  @Override
  public void init(ProcessorContext<byte[], byte[]> taskContext) {
    this.context = taskContext;
    this.clock = new TaskClock(taskContext);
    this.suspects = ProcessorStores.suspects(taskContext);
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    String key = new String(record.key(), UTF_8);
    switch (InternalMessage.read(record.value())) {
      case Question it -> answer(key, it, record);
      case News it -> learn(key, it, record);
      case Answer it -> throw misled();
      case CompensationQuestion it -> throw misled();
      case CompensationAnswer it -> throw misled();
      case CompensationRelease it -> throw misled();
    }
  }

  private static IllegalStateException misled() {
    return new IllegalStateException("Expected a question or news, but got another message.");
  }

  private void answer(String key, Question question, Record<byte[], byte[]> record) {
    // Open from now on, not from its claim on: the next question may come first.
    Optional<String> twin =
        suspects.findTwinOrOpen(key, question.operationId(), window(key), clock.now());
    SourcePosition source = question.source();
    byte[] operation = source.key();
    context.forward(
        record
            .withKey(operation == null ? new byte[0] : operation)
            .withValue(InternalMessage.write(new Answer(twin.orElse(null), source))),
        answers);
  }

  private void learn(String key, News news, Record<byte[], byte[]> record) {
    switch (news.standing()) {
      case OPEN -> {
        Optional<String> twin = suspects.open(key, news.operationId(), window(key), clock.now());
        boolean reports = policies.get().governing(news.action()).remint() == Remint.REPORT;
        if (reports && twin.isPresent()) {
          report(news, twin.get(), record);
        }
      }
      case SETTLED -> suspects.settle(key, news.operationId(), news.at());
      case GONE -> suspects.remove(key, news.operationId());
    }
  }

  private void report(News news, String twin, Record<byte[], byte[]> record) {
    Instant at = clock.now();
    String operation =
        new OperationKey(news.tenant(), news.scope(), news.operationId()).recordKey();
    context.forward(
        record
            .withKey(operation.getBytes(UTF_8))
            .withValue(effects.suspectedRemint(news, twin, at).value())
            .withTimestamp(at.toEpochMilli()),
        NodeNames.SUSPECT_JOURNAL);
  }

  /** The key of a meaning names tenant and action in the places of tenant and scope. */
  private Duration window(String key) {
    String action = OperationKey.parse(key).map(OperationKey::scope).orElse(null);
    return policies.get().governing(action).remintWindow();
  }
}
