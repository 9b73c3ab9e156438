package dev.ichido.topology.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.time.Instant;

/**
 * A key of the deadline store: eight big-endian bytes of the due time, then the record key, so that
 * the byte order of the store is the order of time.
 *
 * @param dueMillis due time in milliseconds since the epoch, not negative
 * @param recordKey record key of the operation; empty for a bound of a range
 */
public record DeadlineKey(long dueMillis, String recordKey) {
  public DeadlineKey {
    if (dueMillis < 0) {
      throw new IllegalArgumentException(
          "Expected a due time after 1970, but it is %d ms. Check the clock.".formatted(dueMillis));
    }
  }

  public byte[] bytes() {
    byte[] key = recordKey.getBytes(UTF_8);
    return ByteBuffer.allocate(Long.BYTES + key.length).putLong(dueMillis).put(key).array();
  }

  public static DeadlineKey of(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    long due = buffer.getLong();
    return new DeadlineKey(due, UTF_8.decode(buffer).toString());
  }

  public Instant due() {
    return Instant.ofEpochMilli(dueMillis);
  }
}
