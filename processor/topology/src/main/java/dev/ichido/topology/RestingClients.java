package dev.ichido.topology;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.KafkaClientSupplier;

/**
 * The clients that Streams makes by itself, but while nothing comes a poll takes longer than {@code
 * poll.ms}. That is short so that a record that comes alone is committed soon, and a hundred polls
 * a second for nothing cost two fifths of what an idle stack takes.
 */
final class RestingClients implements KafkaClientSupplier {
  @Override
  public Admin getAdmin(Map<String, Object> config) {
    return Admin.create(config);
  }

  @Override
  public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
    return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
    return new RestingConsumer(config);
  }

  @Override
  public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
    return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  @Override
  public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
    return getRestoreConsumer(config);
  }

  private static final class RestingConsumer extends KafkaConsumer<byte[], byte[]> {
    /** By then all that came is committed. */
    private static final Duration AWAKE = Duration.ofMillis(200);

    /** Due deadlines are looked for between polls. */
    private static final Duration REST = Duration.ofMillis(100);

    private long cameAt = System.nanoTime();

    RestingConsumer(Map<String, Object> config) {
      super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
      boolean rests =
          timeout.isPositive()
              && timeout.compareTo(REST) < 0
              && System.nanoTime() - cameAt > AWAKE.toNanos();
      ConsumerRecords<byte[], byte[]> records = super.poll(rests ? REST : timeout);
      if (!records.isEmpty()) {
        cameAt = System.nanoTime();
      }
      return records;
    }
  }
}
