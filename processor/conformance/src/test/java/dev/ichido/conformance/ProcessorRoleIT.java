package dev.ichido.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.StateName;
import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.TopicAdmin;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.topology.ProcessorConfig;
import dev.ichido.topology.ProcessorRole;
import dev.ichido.topology.policy.LocatedTree;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The processor as it runs, exactly once, on a real broker. */
class ProcessorRoleIT {
  /** Once it is unpacked: the broker's limit holds for what is sent. */
  private static final int LARGER_THAN_ANY_RECORD = 10 * Topics.RECORD_BYTES;

  private static final int PARTITIONS = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @TempDir static Path folder;

  @SuppressWarnings("NullAway.Init")
  private static EmbeddedBroker broker;

  private final RecordSerdes serdes = LocalAvro.serdes();

  @BeforeAll
  static void startBroker() {
    broker = EmbeddedBroker.start(folder.resolve("kafka"));
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  private static Topics topics(String name) {
    Topics topics = new Topics(name);
    try (TopicAdmin admin =
        TopicAdmin.connect(
            Map.of("bootstrap.servers", broker.bootstrapServers()), Duration.ofSeconds(30))) {
      admin.ensure(topics.specs(PARTITIONS, (short) 1));
    }
    return topics;
  }

  private static ProcessorRole role(Topics topics, String stateDir, PolicySet policies) {
    ProcessorRole role = begin(topics, stateDir, policies, new SimpleMeterRegistry());
    await().atMost(PATIENCE).until(role::ready);
    return role;
  }

  private static ProcessorRole begin(
      Topics topics, String stateDir, PolicySet policies, MeterRegistry meters) {
    return begin(topics, stateDir, policies, meters, Map.of());
  }

  private static ProcessorRole begin(
      Topics topics,
      String stateDir,
      PolicySet policies,
      MeterRegistry meters,
      Map<String, String> settings) {
    Map<String, String> kafka = new HashMap<>(settings);
    kafka.put("bootstrap.servers", broker.bootstrapServers());
    ProcessorRole role =
        new ProcessorRole(
            ProcessorConfig.of(
                topics.prefix() + "-processor",
                topics.prefix(),
                kafka,
                Map.of(
                    RecordSerdes.SERIALIZER_CLASS, LocalAvro.Writer.class.getName(),
                    RecordSerdes.DESERIALIZER_CLASS, LocalAvro.Reader.class.getName()),
                folder.resolve(stateDir).toString()),
            () -> policies,
            meters);
    role.start();
    return role;
  }

  /** Though a thread of the role may end by what a test throws into it. */
  private static void awaitThat(Callable<Boolean> reached) {
    await().dontCatchUncaughtExceptions().atMost(PATIENCE).until(reached);
  }

  private static JsonNode policy(String members) {
    return LocatedTree.read("policy", members).root();
  }

  private static StepRecords.Sent intent(StepRecords records, int step, String operation) {
    JsonNode node = policy("intent: { operation: " + operation + ", delivery: d-" + step + " }");
    return records.intent(step, (Step.Intent) Step.of("s", node).verb(), Instant.now());
  }

  private static void send(String topic, byte @Nullable [] key, byte[] value) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.<String, Object>of(
                "bootstrap.servers",
                broker.bootstrapServers(),
                "compression.type",
                "gzip",
                "max.request.size",
                LARGER_THAN_ANY_RECORD + 1_024),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      producer.send(new ProducerRecord<>(topic, key, value)).get();
    }
  }

  /** All committed records of a topic. */
  private <T extends SpecificRecordBase> List<T> read(String topic, Class<T> type) {
    Deserializer<T> deserializer = serdes.deserializer(type);
    List<T> records = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.<String, Object>of(
                "bootstrap.servers",
                broker.bootstrapServers(),
                "isolation.level",
                "read_committed"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1));
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream()
          .anyMatch(it -> consumer.position(it) < ends.getOrDefault(it, 0L))) {
        consumer
            .poll(Duration.ofMillis(100))
            .forEach(record -> records.add(deserializer.deserialize(topic, record.value())));
      }
    }
    return records;
  }

  private void awaitVerdict(Topics topics, String delivery, String verdict) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(read(topics.replies(), OperationReply.class))
                    .filteredOn(it -> it.getDeliveryId().equals(delivery))
                    .extracting(OperationReply::getVerdict)
                    .contains(verdict));
  }

  @Tag("FR-28")
  @Tag("TRN-03")
  @Test
  void aClaimOutlivesAProcessThatLosesItsDisk() throws Exception {
    Topics topics = topics("restart");
    StepRecords records = new StepRecords(topics, serdes);
    PolicySet policies = Policies.with(policy("{}"));
    StepRecords.Sent first = intent(records, 1, "op-0000000000000001");
    try (ProcessorRole role = role(topics, "restart-1", policies)) {
      send(topics.intents(), first.key(), first.value());
      awaitVerdict(topics, "d-1", "CLAIMED");
      assertThat(role.ledger().find(first.recordKey()).map(OperationState::name))
          .contains(StateName.IN_PROGRESS);
    }
    try (ProcessorRole role = role(topics, "restart-2", policies)) {
      StepRecords.Sent second = intent(records, 2, "op-0000000000000001");
      send(topics.intents(), second.key(), second.value());
      awaitVerdict(topics, "d-2", "DUPLICATE_IN_PROGRESS");
      JsonNode success = policy("result: { outcome: SUCCEEDED, remote_ref: r-1, body: '{}' }");
      StepRecords.Sent result =
          records.result(3, (Step.Result) Step.of("s", success).verb(), null, Instant.now());
      send(topics.results(), result.key(), result.value());
      awaitVerdict(topics, "d-1", "SETTLED");
      awaitVerdict(topics, "d-2", "SETTLED");
      assertThat(role.failure()).isEmpty();
    }
    assertThat(read(topics.commands(), SideEffectCommand.class)).hasSize(1);
  }

  /** The lease ends while nobody decides, and the result of the attempt is in the topic by then. */
  @Tag("FR-10")
  @Test
  void aResultThatWaitedForAProcessorIsNoUnknown() throws Exception {
    Topics topics = topics("late");
    StepRecords records = new StepRecords(topics, serdes);
    PolicySet policies = Policies.with(policy("actions: { pay.transfer: { lease: 1s } }"));
    StepRecords.Sent first = intent(records, 1, "op-0000000000000001");
    StepRecords.Sent silent = intent(records, 2, "op-0000000000000002");
    try (ProcessorRole role = role(topics, "late", policies)) {
      send(topics.intents(), first.key(), first.value());
      awaitVerdict(topics, "d-1", "CLAIMED");
      assertThat(role.failure()).isEmpty();
    }
    settle(topics, records, "op-0000000000000001");
    Instant end = read(topics.commands(), SideEffectCommand.class).getFirst().getDeadline();
    await().atMost(PATIENCE).until(() -> Instant.now().isAfter(end));
    try (ProcessorRole role = role(topics, "late", policies)) {
      awaitVerdict(topics, "d-1", "SETTLED");
      send(topics.intents(), silent.key(), silent.value());
      awaitVerdict(topics, "d-2", "CLAIMED");
      // Sooner than what nobody tells is called over.
      await()
          .atMost(Duration.ofSeconds(14))
          .until(() -> verdicts(topics, silent).contains("LEASE_EXPIRED"));
      assertThat(role.failure()).isEmpty();
    }
    assertThat(verdicts(topics, first)).containsExactly("CLAIMED", "SETTLED");
  }

  private List<String> verdicts(Topics topics, StepRecords.Sent about) {
    return read(topics.journal(), JournalEntry.class).stream()
        .filter(it -> about.recordKey().endsWith("/" + it.getOperationId()))
        .map(JournalEntry::getVerdict)
        .toList();
  }

  @Test
  void poisonGoesToTheDeadLettersAndTheStreamGoesOn() throws Exception {
    Topics topics = topics("poison");
    StepRecords records = new StepRecords(topics, serdes);
    StepRecords.Sent good = intent(records, 1, "op-0000000000000001");
    try (ProcessorRole role = role(topics, "poison", Policies.with(policy("{}")))) {
      byte[] garbage = "no record".getBytes(UTF_8);
      send(topics.intents(), good.key(), garbage);
      send(topics.results(), good.key(), garbage);
      send(topics.intents(), null, garbage);
      send(topics.intents(), good.key(), new byte[LARGER_THAN_ANY_RECORD]);
      send(topics.intents(), new byte[LARGER_THAN_ANY_RECORD], garbage);
      send(topics.intents(), good.key(), good.value());
      awaitVerdict(topics, "d-1", "CLAIMED");
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(read(topics.deadLetters(), DeadLetter.class))
                      .extracting(DeadLetter::getCode)
                      .containsExactlyInAnyOrder(
                          "RECORD_MALFORMED",
                          "RECORD_MALFORMED",
                          "RECORD_MALFORMED",
                          "RECORD_TOO_LARGE",
                          "RECORD_TOO_LARGE"));
      assertThat(role.failure()).isEmpty();
    }
  }

  @Tag("KEY-18")
  @Test
  void theDetourPastTheIndexOfMeaningsIsAWayOnABrokerToo() throws Exception {
    Topics topics = topics("remint");
    StepRecords records = new StepRecords(topics, serdes);
    PolicySet hold = Policies.with(policy("actions: { pay.transfer: { remint: hold } }"));
    try (ProcessorRole role = role(topics, "remint", hold)) {
      StepRecords.Sent first = intent(records, 1, "op-0000000000000001");
      send(topics.intents(), first.key(), first.value());
      awaitVerdict(topics, "d-1", "CLAIMED");
      StepRecords.Sent twin = intent(records, 2, "op-0000000000000002");
      send(topics.intents(), twin.key(), twin.value());
      awaitVerdict(topics, "d-2", "HELD_SUSPECT");
      assertThat(read(topics.commands(), SideEffectCommand.class)).hasSize(1);
      assertThat(role.failure()).isEmpty();
    }
  }

  /** Finds no partition for a command, once: after the claim was put, before its command left. */
  public static final class Lost implements Partitioner {
    private static final AtomicInteger LEFT = new AtomicInteger(1);

    @Override
    public int partition(
        String topic,
        Object key,
        byte[] keyBytes,
        Object value,
        byte[] valueBytes,
        Cluster cluster) {
      if (topic.equals("lost.commands") && LEFT.getAndDecrement() > 0) {
        throw new IllegalStateException("The command is lost.");
      }
      return 0;
    }

    @Override
    public void close() {
      // It holds nothing.
    }

    @Override
    public void configure(Map<String, ?> configs) {
      // Nothing to choose.
    }
  }

  /** Resumed past the put, the claim would stay, and the retry would hear that it is under way. */
  @Tag("FR-30")
  @Test
  void aClaimWhoseCommandIsLostIsTakenBack() throws Exception {
    Topics topics = topics("lost");
    StepRecords records = new StepRecords(topics, serdes);
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    StepRecords.Sent first = intent(records, 1, "op-0000000000000001");
    StepRecords.Sent retry = intent(records, 2, "op-0000000000000001");
    try (ProcessorRole role =
        begin(
            topics,
            "lost",
            Policies.with(policy("{}")),
            meters,
            Map.of("producer.partitioner.class", Lost.class.getName()))) {
      send(topics.intents(), first.key(), first.value());
      send(topics.intents(), retry.key(), retry.value());
      awaitThat(() -> read(topics.replies(), OperationReply.class).size() == 2);
      assertThat(role.failure()).isEmpty();
    }
    assertThat(
            meters
                .counter(
                    "ichido.verdicts",
                    "verdict",
                    "CLAIMED",
                    "tenant",
                    "t1",
                    "action",
                    "pay.transfer")
                .count())
        .isEqualTo(2);
    assertThat(read(topics.commands(), SideEffectCommand.class))
        .extracting(SideEffectCommand::getAttempt)
        .containsExactly(1);
    assertThat(read(topics.replies(), OperationReply.class))
        .extracting(OperationReply::getDeliveryId, OperationReply::getVerdict)
        .containsExactly(tuple("d-1", "CLAIMED"), tuple("d-2", "DUPLICATE_IN_PROGRESS"));
  }

  /** Where a compensation loses its processor: with all sent, and nothing written yet. */
  private enum Hop {
    /** The original notes who may undo it, and answers. */
    COMPENSATION_GRANTED,
    /** The compensation is claimed, and its command leaves. */
    CLAIMED,
    /** Its effect is settled, and the reply leaves. */
    SETTLED,
    NOWHERE
  }

  /**
   * Each life ends at the next hop, in the middle of its transaction and with its disk lost. Two
   * compensations want the same original, and every delivery comes twice.
   */
  @Tag("FR-30")
  @Test
  void aCompensationThatLosesItsProcessorAtEveryHopIsDoneOnce() throws Exception {
    Topics topics = topics("undo");
    StepRecords records = new StepRecords(topics, serdes);
    PolicySet policies = Policies.with(policy("{}"));
    String original = "op-0000000000000001";
    try (ProcessorRole role = role(topics, "undo-original", policies)) {
      StepRecords.Sent first = intent(records, 1, original);
      send(topics.intents(), first.key(), first.value());
      awaitVerdict(topics, "d-1", "CLAIMED");
      settle(topics, records, original);
      awaitVerdict(topics, "d-1", "SETTLED");
      assertThat(role.failure()).isEmpty();
    }
    for (String undo : List.of("undo-000000000000001", "undo-000000000000002")) {
      JsonNode node =
          policy(
              "intent: { operation: %s, delivery: d-%s, compensates: %s }"
                  .formatted(undo, undo, original));
      StepRecords.Sent intent =
          records.intent(2, (Step.Intent) Step.of("s", node).verb(), Instant.now());
      send(topics.intents(), intent.key(), intent.value());
      send(topics.intents(), intent.key(), intent.value());
    }
    for (Hop hop : Hop.values()) {
      CountDownLatch lost = new CountDownLatch(1);
      SimpleMeterRegistry meters = new SimpleMeterRegistry();
      meters
          .config()
          .onMeterAdded(
              it -> {
                if (hop.name().equals(it.getId().getTag("verdict"))) {
                  lost.countDown();
                  throw new IllegalStateException("The processor is lost.");
                }
              });
      try (ProcessorRole role = begin(topics, "undo-" + hop, policies, meters)) {
        if (hop == Hop.SETTLED) {
          awaitThat(() -> undoing(topics).size() == 1);
          settle(topics, records, undoing(topics).getFirst().getOperationId());
        }
        if (hop == Hop.NOWHERE) {
          awaitThat(() -> isUndone(topics));
          assertThat(role.failure()).isEmpty();
        } else {
          assertThat(lost.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
      }
      assertThat(isUndone(topics)).isEqualTo(hop == Hop.NOWHERE);
    }
    assertThat(undoing(topics)).hasSize(1);
    assertThat(read(topics.journal(), JournalEntry.class))
        .filteredOn(it -> it.getVerdict().equals("COMPENSATION_GRANTED"))
        .extracting(JournalEntry::getCompensatedBy)
        .containsExactly(undoing(topics).getFirst().getOperationId());
  }

  private void settle(Topics topics, StepRecords records, @Nullable String operation)
      throws Exception {
    JsonNode node =
        policy(
            "result: { operation: %s, attempt: 1, outcome: SUCCEEDED, remote_ref: r-%s }"
                .formatted(operation, operation));
    StepRecords.Sent result =
        records.result(3, (Step.Result) Step.of("s", node).verb(), null, Instant.now());
    send(topics.results(), result.key(), result.value());
  }

  private List<SideEffectCommand> undoing(Topics topics) {
    return read(topics.commands(), SideEffectCommand.class).stream()
        .filter(it -> it.getCompensates() != null)
        .toList();
  }

  /** One of them is done, and the other knows that it is too late. */
  private boolean isUndone(Topics topics) {
    List<OperationReply> replies =
        read(topics.replies(), OperationReply.class).stream()
            .filter(it -> it.getDeliveryId().startsWith("d-undo"))
            .toList();
    return replies.stream().anyMatch(it -> it.getVerdict().equals("SETTLED"))
        && replies.stream().anyMatch(it -> "COMPENSATED_ALREADY".equals(it.getCode()));
  }
}
