package dev.ichido.topology.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/** The next deadline of every operation that has one, in order of time. */
public final class DeadlineStore {
  /** How far a look for what is due also looks ahead. */
  private static final Duration AHEAD = Duration.ofSeconds(1);

  /** How long an empty store is known to be empty. */
  private static final Duration EMPTY = Duration.ofHours(1);

  private static final byte[] END = new DeadlineKey(Long.MAX_VALUE, "").bytes();
  private static final byte[] PRESENT = {1};

  private final KeyValueStore<byte[], byte[]> store;

  /** No entry is due before this; at most a second after the last look. */
  private long noneBefore;

  /**
   * The first entry is not due before this, however far ahead it lies. A read steps over all
   * deleted entries up to the first that is there: those of every attempt that ended within its
   * lease, and that were not compacted away yet.
   */
  private long first;

  public DeadlineStore(KeyValueStore<byte[], byte[]> store) {
    this.store = store;
  }

  void arm(String recordKey, Instant due) {
    DeadlineKey key = new DeadlineKey(due.toEpochMilli(), recordKey);
    noneBefore = Math.min(noneBefore, key.dueMillis());
    first = Math.min(first, key.dueMillis());
    store.put(key.bytes(), PRESENT);
  }

  /** No entry is due before; at most a second after the last look. */
  public Instant noneBefore() {
    return Instant.ofEpochMilli(noneBefore);
  }

  // A delete would read the entry before it is gone.
  void disarm(String recordKey, Instant due) {
    store.put(new DeadlineKey(due.toEpochMilli(), recordKey).bytes(), null);
  }

  /**
   * What a look found.
   *
   * @param due entries that are due; they stay where they are
   * @param another whether the next one is due as well but held back, or will be within a second
   */
  public record Look(List<DeadlineKey> due, boolean another) {}

  /**
   * The first entries that were due at an earlier time or now, at most so many.
   *
   * @param until what became due later is held back
   */
  public Look look(Instant at, Instant until, int most) {
    long now = at.toEpochMilli();
    if (noneBefore > now) {
      return new Look(List.of(), false);
    }
    noneBefore = now + AHEAD.toMillis();
    if (first > noneBefore) {
      return new Look(List.of(), false);
    }
    List<DeadlineKey> due = new ArrayList<>();
    try (KeyValueIterator<byte[], byte[]> entries =
        store.range(new DeadlineKey(first, "").bytes(), END)) {
      first = now + EMPTY.toMillis();
      while (entries.hasNext() && due.size() < most) {
        KeyValue<byte[], byte[]> entry = entries.next();
        DeadlineKey key = DeadlineKey.of(entry.key);
        first = Math.min(first, key.dueMillis());
        if (key.dueMillis() > now + AHEAD.toMillis()) {
          break;
        }
        noneBefore = Math.min(noneBefore, key.dueMillis());
        if (key.dueMillis() > until.toEpochMilli()) {
          return new Look(due, true);
        }
        due.add(key);
      }
    }
    return new Look(due, false);
  }

  /** Removes an entry that fits no operation any more. */
  public void drop(DeadlineKey stale) {
    store.put(stale.bytes(), null);
  }
}
