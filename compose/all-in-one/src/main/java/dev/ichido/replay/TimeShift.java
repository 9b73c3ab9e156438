package dev.ichido.replay;

import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.WireException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificRecordBase;
import org.jspecify.annotations.Nullable;

/**
 * Records as if they had been taken in later. All times that the protocol itself put into them move
 * by the same span: issue times, deadlines, the start of a first attempt, when a report was made.
 * Ids, arguments and what a remote answered stay as they are, whatever times they hold: an id that
 * was derived from a time is the same operation only as it is, and arguments are what was meant.
 */
public final class TimeShift {
  private final RecordSerdes serdes;
  private final Topics topics;

  /** For a system with these schemas and names. */
  public TimeShift(RecordSerdes serdes, Topics topics) {
    this.serdes = serdes;
    this.topics = topics;
  }

  /** The newest of them was taken in at this time, all others keep their distance to it. */
  public List<Recorded> newestAt(Instant time, List<Recorded> records) {
    long newest = records.stream().mapToLong(Recorded::at).max().orElse(time.toEpochMilli());
    Duration by = Duration.ofMillis(time.toEpochMilli() - newest);
    List<Recorded> shifted = new ArrayList<>();
    for (Recorded record : records) {
      shifted.add(
          new Recorded(
              record.topic(),
              record.at() + by.toMillis(),
              record.key(),
              shifted(record, record.topic().type(), by),
              record.headers()));
    }
    return shifted;
  }

  /** What can't be read is left as it is. */
  private <T extends SpecificRecordBase> byte @Nullable [] shifted(
      Recorded record, Class<T> type, Duration by) {
    byte[] value = record.value();
    String topic = record.topic().in(topics);
    if (value == null) {
      return null;
    }
    try {
      T decoded = serdes.deserializer(type).deserialize(topic, value);
      for (Schema.Field field : decoded.getSchema().getFields()) {
        if (decoded.get(field.pos()) instanceof Instant time) {
          decoded.put(field.pos(), time.plus(by));
        }
      }
      return serdes.serializer(type).serialize(topic, decoded);
    } catch (WireException poison) {
      return value;
    }
  }
}
