package dev.ichido.replay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads committed records of one topic, up to where it ends at the moment of asking. */
public final class TopicTail implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration CONNECT = Duration.ofSeconds(15);

  /** A name of its own for each, since metrics are kept by it. */
  private static final AtomicInteger OPENED = new AtomicInteger();

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<TopicPartition> partitions;

  private TopicTail(KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
    this.consumer = consumer;
    this.partitions = partitions;
  }

  /** Begins with the first record that the broker still has. */
  public static TopicTail fromStart(Map<String, String> kafka, String topic) {
    TopicTail tail = open(kafka, topic);
    tail.consumer.seekToBeginning(tail.partitions);
    return tail;
  }

  /** Begins with the first record that is not committed yet. */
  public static TopicTail fromNow(Map<String, String> kafka, String topic) {
    TopicTail tail = open(kafka, topic);
    tail.consumer.endOffsets(tail.partitions, CONNECT).forEach(tail.consumer::seek);
    return tail;
  }

  private static TopicTail open(Map<String, String> kafka, String topic) {
    Map<String, Object> settings = new HashMap<>(kafka);
    settings.remove(ConsumerConfig.GROUP_ID_CONFIG);
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.putIfAbsent(ConsumerConfig.CLIENT_ID_CONFIG, "replay-" + OPENED.incrementAndGet());
    KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings);
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic, CONNECT).stream()
            .map(it -> new TopicPartition(it.topic(), it.partition()))
            .toList();
    consumer.assign(partitions);
    return new TopicTail(consumer, partitions);
  }

  /**
   * Hands over what is there, perhaps more, and was not handed over yet.
   *
   * @throws TimeoutException when the broker hands out nothing for as long as a connection may take
   */
  public void read(Consumer<ConsumerRecord<byte[], byte[]>> visitor) {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, CONNECT);
    long left = left(ends);
    long moved = System.nanoTime();
    while (left > 0) {
      consumer.poll(POLL).forEach(visitor);
      long before = left;
      left = left(ends);
      if (left < before) {
        moved = System.nanoTime();
      } else if (System.nanoTime() - moved > CONNECT.toNanos()) {
        throw new TimeoutException(
            "Expected %d more records of %s, but none came. Check the broker."
                .formatted(left, partitions.getFirst().topic()));
      }
    }
  }

  private long left(Map<TopicPartition, Long> ends) {
    return partitions.stream()
        .mapToLong(it -> Math.max(0, ends.getOrDefault(it, 0L) - consumer.position(it, CONNECT)))
        .sum();
  }

  /** What is there, perhaps more, and was not handed over yet. */
  public List<ConsumerRecord<byte[], byte[]>> read() {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    read(records::add);
    return records;
  }

  @Override
  public void close() {
    consumer.close();
  }
}
