package dev.ichido.faults;

import dev.ichido.config.IchidoConfig;
import dev.ichido.replay.TopicTail;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * The processor's own account of what it decided. It tells how long something was unknown, and what
 * was suspected; whether an effect took place is not asked of it.
 */
final class Journal implements AutoCloseable {
  private final TopicTail tail;
  private final Deserializer<JournalEntry> deserializer;
  private final List<JournalEntry> lines = new ArrayList<>();

  Journal(IchidoConfig config) {
    tail =
        TopicTail.fromNow(config.kafka().values(), new Topics(config.topics().prefix()).journal());
    deserializer = RecordSerdes.from(config.registry().values()).deserializer(JournalEntry.class);
  }

  /** Lines of operations whose id begins so, up to now, in the order of each operation. */
  List<JournalEntry> read(String prefix) {
    tail.read(record -> lines.add(deserializer.deserialize(record.topic(), record.value())));
    lines.removeIf(
        line -> line.getOperationId() == null || !line.getOperationId().startsWith(prefix));
    return List.copyOf(lines);
  }

  /**
   * For how long the outcome of one operation was unknown.
   *
   * @param since when it became so for the first time
   * @param until when it was first settled after that; empty: it is not
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
    tail.close();
    deserializer.close();
  }
}
