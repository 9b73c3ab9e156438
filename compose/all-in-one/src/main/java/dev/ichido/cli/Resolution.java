package dev.ichido.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.outbox.RecordKey;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.wire.RecordSerdes;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a person's settlement and finds the line of the journal that says what became of it. Only
 * the journal tells of a refusal too: no delivery waits for that.
 */
final class Resolution {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration CONNECT = Duration.ofSeconds(15);

  private final TopicAccess access;
  private final RecordSerdes serdes;

  Resolution(TopicAccess access) {
    this.access = access;
    this.serdes = RecordSerdes.from(access.registry());
  }

  /**
   * Sends it once and waits.
   *
   * @return the decision on it; empty when there was none in this time, which does not mean that
   *     none will follow
   * @throws CommandException KAFKA_FAILED, JOURNAL_MISSING
   */
  Optional<JournalEntry> settle(OperationResult resolution, Duration atMost)
      throws InterruptedException {
    byte[] key =
        RecordKey.of(resolution.getTenant(), resolution.getScope(), resolution.getOperationId())
            .getBytes(UTF_8);
    // Before anything is sent: an end is a position only while nothing has been decided.
    try (KafkaConsumer<byte[], byte[]> journal = new KafkaConsumer<>(consumerSettings())) {
      seekToEnd(journal);
      send(key, resolution);
      return await(journal, key, resolution.getResultId(), atMost);
    } catch (KafkaException e) {
      throw failed(e);
    }
  }

  private void seekToEnd(KafkaConsumer<byte[], byte[]> journal) {
    List<TopicPartition> partitions =
        journal.partitionsFor(access.topics().journal(), CONNECT).stream()
            .map(it -> new TopicPartition(it.topic(), it.partition()))
            .toList();
    if (partitions.isEmpty()) {
      throw CommandException.failed(
          "JOURNAL_MISSING",
          "Expected the topic "
              + access.topics().journal()
              + ", but the broker has none of that name. Check topics.prefix, and run ichido"
              + " migrate. Nothing was sent.",
          null);
    }
    journal.assign(partitions);
    journal.endOffsets(partitions, CONNECT).forEach(journal::seek);
  }

  private void send(byte[] key, OperationResult resolution) throws InterruptedException {
    String topic = access.topics().results();
    byte[] value = serdes.serializer(OperationResult.class).serialize(topic, resolution);
    try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(producerSettings())) {
      producer.send(new ProducerRecord<>(topic, key, value)).get();
    } catch (ExecutionException e) {
      throw failed(e.getCause());
    }
  }

  private Optional<JournalEntry> await(
      KafkaConsumer<byte[], byte[]> journal, byte[] key, String resultId, Duration atMost) {
    Deserializer<JournalEntry> lines = serdes.deserializer(JournalEntry.class);
    long until = System.nanoTime() + atMost.toNanos();
    do {
      for (ConsumerRecord<byte[], byte[]> record : journal.poll(POLL)) {
        if (Arrays.equals(key, record.key())) {
          JournalEntry line = lines.deserialize(record.topic(), record.value());
          if (resultId.equals(line.getEventId())) {
            return Optional.of(line);
          }
        }
      }
    } while (System.nanoTime() - until < 0);
    return Optional.empty();
  }

  private static CommandException failed(@Nullable Throwable cause) {
    return CommandException.failed(
        "KAFKA_FAILED",
        "Expected a broker that takes the resolution, but it failed ("
            + (cause == null ? "no reason given" : cause.getMessage())
            + "). Check kafka.bootstrap.servers, and look with operation show before sending it"
            + " again.",
        cause);
  }

  private Map<String, Object> consumerSettings() {
    Map<String, Object> settings = new HashMap<>(access.kafka());
    settings.remove(ConsumerConfig.GROUP_ID_CONFIG);
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.putIfAbsent(ConsumerConfig.CLIENT_ID_CONFIG, "resolve");
    return settings;
  }

  private Map<String, Object> producerSettings() {
    Map<String, Object> settings = new HashMap<>(access.kafka());
    settings.put(ProducerConfig.ACKS_CONFIG, "all");
    settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, "resolve");
    settings.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, (int) CONNECT.toMillis());
    return settings;
  }
}
