package dev.ichido.relay;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.WireException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/** Looks for deliveries among the records that the broker has: intents, and what was refused. */
final class SentDeliveries implements OutboxAudit.TopicSearch {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration POLL = Duration.ofMillis(200);

  /** Between the clocks of broker and database. */
  private static final Duration SKEW = Duration.ofMinutes(5);

  private final Map<String, String> kafka;
  private final Topics topics;
  private final Deserializer<ToolIntent> intents;
  private final Deserializer<DeadLetter> letters;

  SentDeliveries(Map<String, String> kafka, Topics topics, RecordSerdes serdes) {
    this.kafka = kafka;
    this.topics = topics;
    this.intents = serdes.deserializer(ToolIntent.class);
    this.letters = serdes.deserializer(DeadLetter.class);
  }

  @Override
  public void remove(Set<String> deliveries, long since) {
    Map<String, Object> settings = new HashMap<>(kafka);
    settings.remove("group.id");
    settings.put("isolation.level", "read_committed");
    settings.put("enable.auto.commit", "false");
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      Map<TopicPartition, Long> times = new HashMap<>();
      for (String topic : List.of(topics.intents(), topics.deadLetters())) {
        consumer
            .partitionsFor(topic)
            .forEach(
                info ->
                    times.put(
                        new TopicPartition(topic, info.partition()),
                        Math.max(0, since - SKEW.toMillis())));
      }
      List<TopicPartition> partitions = new ArrayList<>(times.keySet());
      consumer.assign(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      Map<TopicPartition, OffsetAndTimestamp> starts = consumer.offsetsForTimes(times);
      for (TopicPartition partition : partitions) {
        OffsetAndTimestamp start = starts.get(partition);
        consumer.seek(partition, start == null ? ends.getOrDefault(partition, 0L) : start.offset());
      }
      while (!deliveries.isEmpty()
          && partitions.stream()
              .anyMatch(it -> consumer.position(it) < ends.getOrDefault(it, 0L))) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          String delivery = delivery(record);
          if (delivery != null) {
            deliveries.remove(delivery);
          }
        }
      }
    }
  }

  private @Nullable String delivery(ConsumerRecord<byte[], byte[]> record) {
    try {
      if (record.topic().equals(topics.intents())) {
        return intents.deserialize(record.topic(), record.value()).getDeliveryId();
      }
      ByteBuffer row = letters.deserialize(record.topic(), record.value()).getRecordValue();
      return row == null
          ? null
          : JSON.readTree(StandardCharsets.UTF_8.decode(row.duplicate()).toString())
              .path("id")
              .textValue();
    } catch (WireException | IOException ofAnotherWriter) {
      return null;
    }
  }
}
