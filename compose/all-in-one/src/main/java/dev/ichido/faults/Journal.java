package dev.ichido.faults;

import dev.ichido.config.IchidoConfig;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * The processor's own account of what it decided. It tells how long something was unknown, and what
 * was suspected; whether an effect took place is not asked of it.
 */
final class Journal implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(100);

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Deserializer<JournalEntry> deserializer;
  private final List<JournalEntry> lines = new ArrayList<>();

  Journal(IchidoConfig config) {
    String topic = new Topics(config.topics().prefix()).journal();
    consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                config.kafka().values().get("bootstrap.servers"),
                "isolation.level",
                "read_committed"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    deserializer = RecordSerdes.from(config.registry().values()).deserializer(JournalEntry.class);
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream()
            .map(it -> new TopicPartition(topic, it.partition()))
            .toList();
    consumer.assign(partitions);
    consumer.seekToEnd(partitions);
    partitions.forEach(consumer::position);
  }

  /** Lines of operations whose id begins so, up to now, in the order of each operation. */
  List<JournalEntry> read(String prefix) {
    Map<TopicPartition, Long> ends = consumer.endOffsets(consumer.assignment());
    while (ends.entrySet().stream()
        .anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        lines.add(deserializer.deserialize(record.topic(), record.value()));
      }
    }
    lines.removeIf(
        line -> line.getOperationId() == null || !line.getOperationId().startsWith(prefix));
    return List.copyOf(lines);
  }

  /**
   * For how long the outcome of one operation was unknown.
   *
   * @param since when it became so for the first time
   * @param until when it was first settled after that; null: it is not
   */
  record Unknown(Instant since, Optional<Instant> until) {
    /** Empty when it was known all the time. */
    static Optional<Unknown> of(List<JournalEntry> operation) {
      Optional<Instant> since = Optional.empty();
      Optional<Instant> until = Optional.empty();
      for (JournalEntry line : operation) {
        if (line.getStateAfter().equals("UNKNOWN_RECONCILIATION")) {
          since = since.or(() -> Optional.of(line.getAt()));
          until = Optional.empty();
        } else if (since.isPresent()) {
          until = until.or(() -> Optional.of(line.getAt()));
        }
      }
      Optional<Instant> last = until;
      return since.map(it -> new Unknown(it, last));
    }
  }

  @Override
  public void close() {
    consumer.close();
    deserializer.close();
  }
}
