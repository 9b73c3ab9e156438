package dev.ichido.executor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.conformance.VirtualProcessor;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.StateName;
import dev.ichido.operation.OperationKey;
import dev.ichido.schemas.IntentKind;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import dev.ichido.topology.policy.LocatedTree;
import dev.ichido.topology.policy.PolicyLoader;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.Counter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The shipped topology and decision in front of a real executor: commands go to its topic, results
 * come from it, and the time is that of a clock that both look at. It jumps from deadline to
 * deadline whenever the executor has nothing to do.
 */
final class DecisionDriver implements AutoCloseable {
  static final String TENANT = "t1";
  private static final String PRINCIPAL = "agent:a";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Stack stack;
  private final Topics topics;
  private final SharedClock clock;
  private final VirtualProcessor processor;
  private final KafkaConsumer<byte[], byte[]> results;
  private final Set<String> running = new HashSet<>();
  private final Set<String> unanswered = new HashSet<>();
  private final List<OperationResult> reports = new ArrayList<>();
  private final List<JournalEntry> journal = new ArrayList<>();
  private final List<SideEffectCommand> commands = new ArrayList<>();

  DecisionDriver(Stack stack, Topics topics, SharedClock clock, JsonNode actions) {
    this.stack = stack;
    this.topics = topics;
    this.clock = clock;
    processor = new VirtualProcessor(policies(actions));
    clock.set(processor.now());
    Map<String, Object> settings = new HashMap<>(stack.kafka());
    settings.put("isolation.level", "read_committed");
    settings.put("auto.offset.reset", "earliest");
    results =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    results.assign(
        results.partitionsFor(topics.results()).stream()
            .map(p -> new TopicPartition(p.topic(), p.partition()))
            .toList());
  }

  private static PolicySet policies(JsonNode actions) {
    ObjectNode root = new ObjectMapper().createObjectNode();
    root.putObject("tenants").putObject(TENANT).putArray("principals").add(PRINCIPAL);
    root.set("actions", actions);
    return PolicyLoader.released().load(LocatedTree.of(root));
  }

  static String recordKey(String scope, String operation) {
    return new OperationKey(TENANT, scope, operation).recordKey();
  }

  void submit(String operation, String delivery, String action, String arguments) {
    submit("global", operation, delivery + "-" + operation, action, arguments);
  }

  /** Sends an intent; what the decision makes of it leaves at once. */
  void submit(String scope, String operation, String delivery, String action, String arguments) {
    ToolIntent intent =
        ToolIntent.newBuilder()
            .setKind(IntentKind.EXECUTE)
            .setTenant(TENANT)
            .setScope(scope)
            .setOperationId(operation)
            .setDeliveryId(delivery)
            .setPrincipal(PRINCIPAL)
            .setAction(action)
            .setArguments(arguments)
            .setIssuedAt(processor.now())
            .build();
    processor.intent(
        recordKey(scope, operation).getBytes(UTF_8),
        processor.serdes().serializer(ToolIntent.class).serialize(topics.intents(), intent));
    running.add(recordKey(scope, operation));
    forward();
  }

  /**
   * Goes on until all of these are settled, or nothing happens any more before the end of a span.
   *
   * @param idle whether the executor has done all that it was sent
   */
  void run(Set<String> recordKeys, Duration span, BooleanSupplier idle) {
    running.retainAll(recordKeys);
    Instant end = processor.now().plus(span);
    long limit = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      takeResults();
      if (recordKeys.stream().map(processor::state).allMatch(DecisionDriver::isSettled)) {
        return;
      }
      if (!idle.getAsBoolean() || takeResults()) {
        assertThat(System.nanoTime()).as("the executor goes on").isLessThan(limit);
        continue;
      }
      limit = System.nanoTime() + PATIENCE.toNanos();
      Instant due = processor.nextDeadline().orElse(Instant.MAX);
      if (due.isAfter(end)) {
        return;
      }
      processor.advance(
          due.isAfter(processor.now())
              ? Duration.between(processor.now(), due)
              : Duration.ofMillis(1));
      clock.set(processor.now());
      forward();
    }
  }

  private static boolean isSettled(OperationState state) {
    return state.name() == StateName.SUCCEEDED || state.name() == StateName.FAILED_TERMINAL;
  }

  /** Whether every command was answered: true of an executor that does not die. */
  boolean isAnswered() {
    return unanswered.isEmpty();
  }

  OperationState state(String recordKey) {
    return processor.state(recordKey);
  }

  List<OperationResult> reports(String operation) {
    return reports.stream().filter(r -> operation.equals(r.getOperationId())).toList();
  }

  List<SideEffectCommand> commands(String operation) {
    return commands.stream().filter(c -> operation.equals(c.getOperationId())).toList();
  }

  List<JournalEntry> journal(String operation) {
    return journal.stream().filter(e -> operation.equals(e.getOperationId())).toList();
  }

  /** How often the processor came to that verdict. */
  double verdicts(String verdict) {
    return processor.meters().find("ichido.verdicts").tag("verdict", verdict).counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  SharedClock clock() {
    return clock;
  }

  private boolean takeResults() {
    boolean any = false;
    Map<TopicPartition, Long> ends = results.endOffsets(results.assignment());
    do {
      for (ConsumerRecord<byte[], byte[]> record : results.poll(Duration.ofMillis(20))) {
        take(record);
        any = true;
      }
    } while (ends.entrySet().stream().anyMatch(e -> results.position(e.getKey()) < e.getValue()));
    if (any) {
      forward();
    }
    return any;
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    OperationResult report =
        stack
            .serdes
            .deserializer(OperationResult.class)
            .deserialize(record.topic(), record.value());
    unanswered.remove(report.getCommandId());
    reports.add(report);
    processor.result(
        record.key(),
        processor.serdes().serializer(OperationResult.class).serialize(topics.results(), report));
  }

  /** Operations of earlier runs are left alone. */
  private void forward() {
    VirtualProcessor.Output output = processor.drain();
    journal.addAll(output.journal());
    for (SideEffectCommand command : output.commands()) {
      if (!running.contains(recordKey(command.getScope(), command.getOperationId()))) {
        continue;
      }
      commands.add(command);
      unanswered.add(command.getCommandId());
      stack.send(topics, recordKey(command.getScope(), command.getOperationId()), command);
    }
  }

  @Override
  public void close() {
    results.close();
    processor.close();
  }
}
