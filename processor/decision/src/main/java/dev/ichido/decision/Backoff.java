package dev.ichido.decision;

import dev.ichido.operation.OperationKey;
import java.time.Duration;

/**
 * Delays between attempts and between status reads. Whole milliseconds, at least one. Equal input
 * gives equal delay on every machine, since an aborted task is processed again.
 */
final class Backoff {
  private static final Duration FIRST_READ = Duration.ofSeconds(1);
  private static final Duration LONGEST_READ = Duration.ofMinutes(5);
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private Backoff() {}

  /**
   * Exponential with full jitter: in (0, min(max, initial * 2^(n-1))].
   *
   * @param n attempts made since the last grant, from 1
   * @param attempt number of the latest attempt, which the jitter is drawn from together with the
   *     key
   */
  static Duration beforeAttempt(ActionPolicy.Retry retry, OperationKey key, int attempt, int n) {
    long ceiling = doubled(retry.initial(), retry.max(), n);
    long drawn = Long.remainderUnsigned(hash(key, attempt), ceiling);
    return Duration.ofMillis(1 + drawn);
  }

  /** One second, doubled with each read, at most five minutes. */
  static Duration betweenReads(int reads) {
    return Duration.ofMillis(doubled(FIRST_READ, LONGEST_READ, reads));
  }

  private static long doubled(Duration initial, Duration max, int n) {
    long first = Math.max(1, initial.toMillis());
    long ceiling = Math.max(1, max.toMillis());
    int doublings = n - 1;
    boolean fits = doublings < Long.numberOfLeadingZeros(first) - 1;
    return fits ? Math.min(ceiling, first << doublings) : ceiling;
  }

  private static long hash(OperationKey key, int attempt) {
    long hash = mix(mix(mix(FNV_OFFSET, key.tenant()), key.scope()), key.operationId());
    hash = (hash ^ attempt) * FNV_PRIME;
    // FNV's low bits are weak; this is the finaliser of MurmurHash3.
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return hash ^ (hash >>> 33);
  }

  private static long mix(long hash, String part) {
    long mixed = hash;
    for (int i = 0; i < part.length(); i++) {
      mixed = (mixed ^ part.charAt(i)) * FNV_PRIME;
    }
    return (mixed ^ 0x1ffff) * FNV_PRIME;
  }
}
