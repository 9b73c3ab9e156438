package dev.ichido.bench;

import dev.ichido.app.Stack;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Where the time of operations went, read afterwards from what they left behind: the outbox row,
 * the time the broker gave to records, the journal, the claim row. Most of these clocks tick in
 * milliseconds.
 */
final class Stages {
  /** Each stage is named after what it ends with; it begins with the one before, or the outbox. */
  private static final List<String> NAMES =
      List.of("topic", "decided", "claimed", "effect", "result", "settled", "inbox");

  private static final Duration POLL = Duration.ofMillis(500);

  private final Stack stack;
  private final Topics topics;
  private final Map<TopicPartition, Long> from;

  /** Begins here: what was there before is not looked at. */
  private Stages(Stack stack, Topics topics, Map<TopicPartition, Long> from) {
    this.stack = stack;
    this.topics = topics;
    this.from = from;
  }

  static Stages begin(Stack stack) {
    Topics topics = new Topics(stack.config().topics().prefix());
    try (KafkaConsumer<String, byte[]> consumer = consumer(stack)) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (String topic : List.of(topics.intents(), topics.results(), topics.journal())) {
        for (int i = 0; i < stack.config().topics().partitions(); i++) {
          partitions.add(new TopicPartition(topic, i));
        }
      }
      return new Stages(stack, topics, consumer.endOffsets(partitions));
    }
  }

  /**
   * Microseconds of each stage, over the operations that were answered; a stage that a duplicate
   * does not go through is not there.
   *
   * @param answeredAt microseconds since the epoch, by delivery id
   */
  Map<String, Histogram> micros(Map<String, Long> answeredAt) throws SQLException {
    Map<String, Long> intents = new HashMap<>();
    Map<String, Long> decided = new HashMap<>();
    Map<String, Long> results = new HashMap<>();
    Map<String, Long> settled = new HashMap<>();
    Deserializer<JournalEntry> entries =
        RecordSerdes.from(stack.config().registry().values()).deserializer(JournalEntry.class);
    read(topics.intents(), r -> intents.merge(r.key(), millis(r.timestamp()), Math::max));
    read(topics.results(), r -> results.putIfAbsent(r.key(), millis(r.timestamp())));
    read(
        topics.journal(),
        record -> {
          JournalEntry entry =
              Objects.requireNonNull(entries.deserialize(record.topic(), record.value()));
          if (entry.getVerdict().equals("SETTLED")) {
            settled.putIfAbsent(record.key(), micros(entry.getAt()));
          } else if (entry.getEventId() != null) {
            decided.putIfAbsent(entry.getEventId(), micros(entry.getAt()));
          }
        });
    Map<String, Histogram> stages = new LinkedHashMap<>();
    try (Connection connection = stack.dataSource().getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                """
                select o.id, 'k1/' || o.tenant || '/' || o.scope || '/' || o.aggregateid, o.created_at,
                       (extract(epoch from c.started_at) * 1000000)::bigint,
                       (extract(epoch from c.recorded_at) * 1000000)::bigint
                  from ichido.outbox o
                  left join ichido.claim c
                    on c.record_key = 'k1/' || o.tenant || '/' || o.scope || '/' || o.aggregateid
                   and c.attempt = 1 and c.started_at >= to_timestamp(o.created_at / 1000000.0)
                 where o.id = any (?)
                """)) {
      statement.setArray(1, connection.createArrayOf("text", answeredAt.keySet().toArray()));
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          String delivery = rows.getString(1);
          String key = rows.getString(2);
          boolean ran = rows.getObject(4) != null;
          Long[] times = {
            intents.get(key),
            decided.get(delivery),
            ran ? rows.getObject(4, Long.class) : null,
            ran ? rows.getObject(5, Long.class) : null,
            ran ? results.get(key) : null,
            ran ? settled.get(key) : null,
            answeredAt.get(delivery)
          };
          add(stages, rows.getLong(3), times);
        }
      }
    }
    return stages;
  }

  private static void add(Map<String, Histogram> stages, long begun, @Nullable Long[] times) {
    long before = begun;
    for (int i = 0; i < times.length; i++) {
      Long time = times[i];
      if (time != null) {
        stages
            .computeIfAbsent(NAMES.get(i), none -> new Histogram(3))
            .recordValue(Math.max(0, time - before));
        before = Math.max(before, time);
      }
    }
  }

  private void read(String topic, Consumer<ConsumerRecord<String, byte[]>> each) {
    try (KafkaConsumer<String, byte[]> consumer = consumer(stack)) {
      List<TopicPartition> partitions =
          from.keySet().stream().filter(it -> it.topic().equals(topic)).toList();
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      consumer.assign(partitions);
      partitions.forEach(it -> consumer.seek(it, from.getOrDefault(it, 0L)));
      while (partitions.stream()
          .anyMatch(it -> consumer.position(it) < ends.getOrDefault(it, 0L))) {
        ConsumerRecords<String, byte[]> records = consumer.poll(POLL);
        records.forEach(each);
      }
    }
  }

  private static KafkaConsumer<String, byte[]> consumer(Stack stack) {
    Map<String, Object> settings = new HashMap<>(stack.config().kafka().values());
    settings.put("isolation.level", "read_committed");
    return new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
  }

  private static long millis(long millis) {
    return millis * 1_000;
  }

  private static long micros(Instant instant) {
    return instant.toEpochMilli() * 1_000;
  }
}
