package dev.ichido.topology.store;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;

/**
 * What is left of a retry budget.
 *
 * @param tokens whole tokens at {@code since}
 * @param since when the last whole token came, in microseconds since the epoch
 * @param promised when the last token comes that somebody waits for, in microseconds since the
 *     epoch
 */
record TokenBucket(long tokens, long since, long promised) {
  /** A hundred years, for a bucket that is never refilled. */
  private static final long NEVER = Duration.ofDays(36_525).toMillis() * 1_000L;

  /** A bucket that was never drawn from. */
  static TokenBucket full(long capacity, Instant at) {
    return new TokenBucket(capacity, micros(at), 0);
  }

  /** The bucket at a time, with the tokens that came since. */
  TokenBucket at(Instant at, long capacity, long microsPerToken) {
    long now = micros(at);
    if (tokens >= capacity) {
      return new TokenBucket(capacity, now, promised);
    }
    long came = Math.max(0, now - since) / microsPerToken;
    return tokens + came >= capacity
        ? new TokenBucket(capacity, now, promised)
        : new TokenBucket(tokens + came, since + came * microsPerToken, promised);
  }

  TokenBucket drawn() {
    return new TokenBucket(Math.max(0, tokens - 1), since, promised);
  }

  /** The bucket whose next token is waited for. */
  TokenBucket promised(Instant comesAt) {
    return new TokenBucket(tokens, since, micros(comesAt));
  }

  /** When the next token comes that nobody waits for, rounded up to the millisecond. */
  Instant nextAt(long microsPerToken) {
    return Instant.ofEpochMilli(Math.ceilDiv(Math.max(since, promised) + microsPerToken, 1_000L));
  }

  /** Time between tokens, rounded up, so that a budget is never more generous than stated. */
  static long microsPerToken(long tokens, Duration per) {
    return tokens == 0 ? NEVER : Math.max(1, Math.ceilDiv(per.toMillis() * 1_000L, tokens));
  }

  byte[] bytes() {
    return ByteBuffer.allocate(3 * Long.BYTES)
        .putLong(tokens)
        .putLong(since)
        .putLong(promised)
        .array();
  }

  /** Also of one that was written before anything was promised. */
  static TokenBucket of(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new TokenBucket(
        buffer.getLong(), buffer.getLong(), buffer.hasRemaining() ? buffer.getLong() : 0);
  }

  private static long micros(Instant at) {
    return at.toEpochMilli() * 1_000L;
  }
}
