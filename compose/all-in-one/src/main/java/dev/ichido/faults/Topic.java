package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.config.IchidoConfig;
import dev.ichido.operation.OperationKey;
import dev.ichido.replay.TopicTail;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A topic as bytes: what a queue hands again, and what a stranger writes. */
final class Topic {
  private final Map<String, String> kafka;
  private final String name;

  Topic(IchidoConfig config, String name) {
    kafka = config.kafka().values();
    this.name = name;
  }

  /** Committed records whose key holds the text, in the order of their partitions. */
  List<ConsumerRecord<byte[], byte[]>> read(String inKey) {
    List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
    try (TopicTail tail = TopicTail.fromStart(kafka, name)) {
      tail.read(
          record -> {
            if (record.key() != null && new String(record.key(), UTF_8).contains(inKey)) {
              found.add(record);
            }
          });
    }
    return found;
  }

  /** What is committed from now on; to be closed by who asked for it. */
  TopicTail follow() {
    return TopicTail.fromNow(kafka, name);
  }

  /** The operation that a record is about; empty where its key names none. */
  static String operationId(ConsumerRecord<byte[], byte[]> record) {
    return OperationKey.parse(new String(record.key(), UTF_8))
        .map(OperationKey::operationId)
        .orElse("");
  }

  /** Where a group goes on, by partition, as the broker has it. */
  Map<Integer, Long> committed(String group) throws InterruptedException {
    try (Admin admin = Admin.create(Map.copyOf(kafka))) {
      return admin
          .listConsumerGroupOffsets(group)
          .partitionsToOffsetAndMetadata()
          .get()
          .entrySet()
          .stream()
          .filter(it -> it.getKey().topic().equals(name))
          .collect(Collectors.toMap(it -> it.getKey().partition(), it -> it.getValue().offset()));
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  /** Writes them again as they are, under their keys or others. */
  void write(List<ConsumerRecord<byte[], byte[]>> records, UnaryOperator<byte[]> key)
      throws InterruptedException {
    try (KafkaProducer<byte[], byte[]> producer = producer()) {
      for (ConsumerRecord<byte[], byte[]> record : records) {
        var unused =
            producer.send(
                new ProducerRecord<>(
                    name, null, null, key.apply(record.key()), record.value(), record.headers()));
      }
      producer.flush();
    }
  }

  /** Writes them again as if they were of that time. */
  void writeAt(List<ConsumerRecord<byte[], byte[]>> records, long timestamp) {
    try (KafkaProducer<byte[], byte[]> producer = producer()) {
      for (ConsumerRecord<byte[], byte[]> record : records) {
        var unused =
            producer.send(
                new ProducerRecord<>(
                    name, null, timestamp, record.key(), record.value(), record.headers()));
      }
    }
  }

  /** How many committed records there are. */
  int count() {
    return read("").size();
  }

  /** Writes one record and returns when it is there. */
  void write(byte[] key, byte[] value) throws InterruptedException {
    try (KafkaProducer<byte[], byte[]> producer = producer()) {
      producer.send(new ProducerRecord<>(name, key, value)).get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  private KafkaProducer<byte[], byte[]> producer() {
    return new KafkaProducer<>(
        Map.copyOf(kafka), new ByteArraySerializer(), new ByteArraySerializer());
  }
}
