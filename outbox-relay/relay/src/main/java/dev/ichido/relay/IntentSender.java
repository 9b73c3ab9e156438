package dev.ichido.relay;

import dev.ichido.relay.RelayException.Code;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.WireException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Writes batches, each in one Kafka transaction: a batch is there whole or not at all, and a relay
 * that was paused while another took its slot is fenced by the transactional id, which belongs to
 * the slot.
 */
final class IntentSender implements AutoCloseable {
  /**
   * Closing aborts an open transaction, so that readers of committed records do not wait for its
   * timeout.
   */
  private static final Duration CLOSE = Duration.ofSeconds(2);

  private final Topics topics;
  private final ChangeRouter router;
  private final RelayMeters meters;
  private final int intentLimit;
  private final int deadLetterLimit;
  private final Serializer<ToolIntent> intents;
  private final Serializer<DeadLetter> deadLetters;
  private final Producer<byte[], byte[]> producer;

  /**
   * Creates the producer and fences the ones before it.
   *
   * @throws RelayException BROKER_UNREACHABLE, BROKER_ACCESS
   */
  static IntentSender open(
      Map<String, String> kafka,
      String transactionalId,
      Topics topics,
      BrokerChecks.Limits limits,
      RecordSerdes serdes,
      ChangeRouter router,
      RelayMeters meters,
      Function<Map<String, Object>, Producer<byte[], byte[]>> producers) {
    Producer<byte[], byte[]> producer = producers.apply(settings(kafka, transactionalId));
    try {
      producer.initTransactions();
    } catch (KafkaException e) {
      producer.close(Duration.ZERO);
      throw named(e);
    }
    return new IntentSender(topics, limits, serdes, router, meters, producer);
  }

  private IntentSender(
      Topics topics,
      BrokerChecks.Limits limits,
      RecordSerdes serdes,
      ChangeRouter router,
      RelayMeters meters,
      Producer<byte[], byte[]> producer) {
    this.topics = topics;
    this.router = router;
    this.meters = meters;
    this.intentLimit = limits.intentBytes();
    this.deadLetterLimit = limits.deadLetterBytes();
    this.intents = serdes.serializer(ToolIntent.class);
    this.deadLetters = serdes.serializer(DeadLetter.class);
    this.producer = producer;
  }

  static Map<String, Object> settings(Map<String, String> kafka, String transactionalId) {
    Map<String, Object> settings = new HashMap<>();
    settings.put("max.request.size", String.valueOf(Topics.DEAD_LETTER_BYTES + (64 << 10)));
    // With more than one request in flight the broker refused some as out of order, and they were
    // sent again.
    settings.put("batch.size", String.valueOf(256 << 10));
    settings.put("max.in.flight.requests.per.connection", "1");
    // A batch that can't be delivered in this time is read from the slot again.
    settings.put("request.timeout.ms", "10000");
    settings.put("delivery.timeout.ms", "20000");
    settings.put("max.block.ms", "20000");
    settings.put("transaction.timeout.ms", "20000");
    settings.putAll(kafka);
    settings.put("acks", "all");
    settings.put("enable.idempotence", "true");
    settings.put("transactional.id", transactionalId);
    return settings;
  }

  /**
   * Returns when every record is acknowledged and the transaction is committed.
   *
   * @return how many records were written
   */
  int send(List<RoutedRow> rows) throws InterruptedException {
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(rows.size());
    for (RoutedRow row : rows) {
      switch (row) {
        case RoutedRow.Intent intent -> records.add(record(intent));
        case RoutedRow.Refused refused -> records.add(record(refused));
        case RoutedRow.Nothing nothing -> {}
      }
    }
    if (records.isEmpty()) {
      return 0;
    }
    try {
      producer.beginTransaction();
      List<Future<RecordMetadata>> acknowledgements = new ArrayList<>(records.size());
      for (ProducerRecord<byte[], byte[]> record : records) {
        acknowledgements.add(producer.send(record));
      }
      producer.commitTransaction();
      for (Future<RecordMetadata> acknowledgement : acknowledgements) {
        acknowledgement.get();
      }
    } catch (KafkaException e) {
      throw named(e);
    } catch (ExecutionException e) {
      throw named(
          e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause()));
    }
    return records.size();
  }

  private ProducerRecord<byte[], byte[]> record(RoutedRow.Intent intent) {
    byte[] key = intent.recordKey().getBytes(StandardCharsets.UTF_8);
    byte[] value = serialize(intents, topics.intents(), intent.value());
    int bytes = key.length + value.length;
    if (bytes > intentLimit) {
      return record(router.tooLarge(intent, bytes, intentLimit));
    }
    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topics.intents(), key, value);
    if (intent.traceparent() != null) {
      record.headers().add("traceparent", intent.traceparent().getBytes(StandardCharsets.UTF_8));
    }
    return record;
  }

  /**
   * The letter as whole as the topic takes it. The record key goes before the row, which names all
   * that it is made of.
   */
  private ProducerRecord<byte[], byte[]> record(RoutedRow.Refused refused) {
    meters.refused(refused.value().getCode());
    DeadLetter whole = refused.value();
    byte[] key = refused.recordKey().getBytes(StandardCharsets.UTF_8);
    return findFitting(key, whole)
        .or(() -> findFitting(digest(key), keyless(whole)))
        .or(() -> findFitting(key, rowless(whole)))
        .orElseGet(() -> letter(digest(key), keyless(rowless(whole))));
  }

  private Optional<ProducerRecord<byte[], byte[]>> findFitting(byte[] key, DeadLetter letter) {
    return Optional.of(letter(key, letter))
        .filter(record -> record.key().length + record.value().length <= deadLetterLimit);
  }

  private ProducerRecord<byte[], byte[]> letter(byte[] key, DeadLetter letter) {
    return new ProducerRecord<>(
        topics.deadLetters(), key, serialize(deadLetters, topics.deadLetters(), letter));
  }

  private static DeadLetter keyless(DeadLetter letter) {
    return DeadLetter.newBuilder(letter).clearRecordKey().build();
  }

  private static DeadLetter rowless(DeadLetter letter) {
    return DeadLetter.newBuilder(letter).clearRecordValue().build();
  }

  private static byte[] digest(byte[] key) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(key);
      return ("sha256:" + HexFormat.of().formatHex(digest)).getBytes(StandardCharsets.UTF_8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected SHA-256, which every JDK has.", e);
    }
  }

  private static <T> byte[] serialize(Serializer<T> serializer, String topic, T value) {
    try {
      return serializer.serialize(topic, value);
    } catch (WireException e) {
      throw RelayException.wrapping(Code.REGISTRY, e);
    }
  }

  static RelayException named(KafkaException e) {
    return e instanceof ProducerFencedException || e instanceof InvalidProducerEpochException
        ? RelayException.of(
            Code.FENCED,
            "to be the only relay of this slot",
            "another one took over",
            "that one relay a slot runs; this one waits for the slot again",
            e)
        : BrokerChecks.named(e);
  }

  /** From another thread, while {@link #send} waits for a broker that does not answer. */
  void abandon() {
    producer.close(Duration.ZERO);
  }

  @Override
  public void close() {
    producer.close(CLOSE);
  }
}
