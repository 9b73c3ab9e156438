package dev.ichido.replay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.outbox.RecordKey;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Which records of which topics.
 *
 * @param partition only this one; null for all
 * @param fromOffset first offset of each partition
 * @param untilOffset first offset that is not meant any more
 * @param since from this time of the broker on
 * @param until before this time
 */
public record Selection(
    List<ReplayTopic> topics,
    @Nullable Integer partition,
    long fromOffset,
    long untilOffset,
    @Nullable Instant since,
    @Nullable Instant until,
    @Nullable String tenant,
    @Nullable String operationId) {
  public Selection {
    topics = List.copyOf(topics);
  }

  boolean holds(ConsumerRecord<byte[], byte[]> record) {
    return record.offset() >= fromOffset
        && record.offset() < untilOffset
        && (since == null || record.timestamp() >= since.toEpochMilli())
        && (until == null || record.timestamp() < until.toEpochMilli())
        && holds(record.key() == null ? "" : new String(record.key(), UTF_8));
  }

  /** Of a file, which keeps no offsets. */
  boolean holds(Recorded record) {
    return (since == null || record.at() >= since.toEpochMilli())
        && (until == null || record.at() < until.toEpochMilli())
        && holds(record.keyText());
  }

  /** By the parts of the key alone, encoded as they are in it. */
  boolean holds(String key) {
    if (tenant == null && operationId == null) {
      return true;
    }
    String[] parts = key.split("/", -1);
    String[] wanted =
        RecordKey.of(tenant == null ? "-" : tenant, "-", operationId == null ? "-" : operationId)
            .split("/", -1);
    return parts.length == wanted.length
        && (tenant == null || parts[1].equals(wanted[1]))
        && (operationId == null || (parts[0].equals(wanted[0]) && parts[3].equals(wanted[3])));
  }
}
