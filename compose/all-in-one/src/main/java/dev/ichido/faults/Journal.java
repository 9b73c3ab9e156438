package dev.ichido.faults;

import dev.ichido.config.IchidoConfig;
import dev.ichido.executor.AttemptProtocol;
import dev.ichido.replay.TopicTail;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
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

  /** Lines of operations with such an id, up to now, in the order of each operation. */
  List<JournalEntry> read(Predicate<String> id) {
    tail.read(record -> lines.add(deserializer.deserialize(record.topic(), record.value())));
    lines.removeIf(line -> line.getOperationId() == null || !id.test(line.getOperationId()));
    return List.copyOf(lines);
  }

  /**
   * For how long the outcome of one operation was unknown.
   *
   * @param since when it became so for the first time
   * @param until when it was known again for good; empty: it is not
   * @param afterCall whether a call may have been made; otherwise the lease ended every time while
   *     no executor had begun, as the claims proved
   */
  record Unknown(Instant since, Optional<Instant> until, boolean afterCall) {
    /** The states in which it is known what the attempts so far did. */
    private static final Set<String> KNOWN =
        Set.of("SUCCEEDED", "FAILED_RETRYABLE", "FAILED_TERMINAL", "CANCELLED", "EXPIRED");

    /** Empty when it was known all the time. */
    static Optional<Unknown> of(List<JournalEntry> operation) {
      Optional<Instant> since = Optional.empty();
      Optional<Instant> until = Optional.empty();
      boolean unknown = false;
      boolean afterCall = false;
      for (JournalEntry line : operation) {
        String state = line.getStateAfter();
        if (state.equals("UNKNOWN_RECONCILIATION")) {
          since = since.or(() -> Optional.of(line.getAt()));
          until = Optional.empty();
          unknown = true;
        } else if (unknown && KNOWN.contains(state)) {
          until = Optional.of(line.getAt());
          unknown = false;
          afterCall |=
              line.getReason() == null || !AttemptProtocol.NEVER_BEGUN.contains(line.getReason());
        }
      }
      boolean called = afterCall || unknown;
      Optional<Instant> last = until;
      return since.map(it -> new Unknown(it, last, called));
    }
  }

  @Override
  public void close() {
    tail.close();
    deserializer.close();
  }
}
