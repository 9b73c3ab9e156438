package dev.ichido.decision;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The attempts of an operation so far.
 *
 * @param number of the latest attempt, from 1; it fences
 * @param base attempts that no longer count against {@code max_attempts}, since a person granted a
 *     new row of them
 * @param firstStartedAt start of the first attempt: anchor of the retry horizon and of a dedupe
 *     window that counts from the first request
 * @param startedAt start of the latest attempt
 * @param downstreamKey the remote's idempotency key. It is kept, not derived again, so that a
 *     changed policy cannot give the next attempt another key
 * @param keyed every attempt so far was started by us under a contract of deduping on that key
 * @param unproven numbers of the attempts that may have taken effect, growing. The latest is among
 *     them until there is proof that it did not; an earlier one only where the remote's dedupe
 *     covered the next
 * @param noFurther a cancel arrived while an attempt could act: no attempt is started any more
 */
public record Attempts(
    int number,
    int base,
    Instant firstStartedAt,
    Instant startedAt,
    String downstreamKey,
    boolean keyed,
    List<Integer> unproven,
    boolean noFurther) {
  public Attempts {
    Objects.requireNonNull(firstStartedAt, "firstStartedAt");
    Objects.requireNonNull(startedAt, "startedAt");
    Objects.requireNonNull(downstreamKey, "downstreamKey");
    unproven = List.copyOf(unproven);
    if (number < 1 || base < 0 || base > number) {
      throw new IllegalArgumentException(
          "Expected an attempt number from 1 and a base up to it, but they were %d and %d. Check where the state was read."
              .formatted(number, base));
    }
  }

  static Attempts first(Instant at, String downstreamKey, boolean keyed) {
    return new Attempts(1, 0, at, at, downstreamKey, keyed, List.of(1), false);
  }

  /** An attempt that was not started by us and counts as the only one. */
  static Attempts foreign(int number, Instant at, String downstreamKey) {
    return new Attempts(number, number - 1, at, at, downstreamKey, false, List.of(number), false);
  }

  Attempts next(Instant at, boolean keyedNow) {
    List<Integer> more = new ArrayList<>(unproven);
    more.add(number + 1);
    return new Attempts(
        number + 1, base, firstStartedAt, at, downstreamKey, keyed && keyedNow, more, noFurther);
  }

  Attempts withoutFurther() {
    return new Attempts(
        number, base, firstStartedAt, startedAt, downstreamKey, keyed, unproven, true);
  }

  /** After proof that this one did not take effect. */
  Attempts proven(int attempt) {
    List<Integer> left = new ArrayList<>(unproven);
    left.removeIf(it -> it == attempt);
    return withUnproven(left);
  }

  /** After word that contradicts the proof about the latest. */
  Attempts latestUnproven() {
    List<Integer> more = new ArrayList<>(proven(number).unproven());
    more.add(number);
    return withUnproven(more);
  }

  /** The attempt that is asked about: the latest of those that may have taken effect. */
  int asked() {
    return unproven.isEmpty() ? number : unproven.get(unproven.size() - 1);
  }

  /** After proof that none took effect. */
  Attempts allProven() {
    return withUnproven(List.of());
  }

  /** After a person's word that no attempt took effect: a new row of attempts is granted. */
  Attempts granted() {
    return new Attempts(
        number, number, firstStartedAt, startedAt, downstreamKey, keyed, List.of(), noFurther);
  }

  private Attempts withUnproven(List<Integer> next) {
    return new Attempts(
        number, base, firstStartedAt, startedAt, downstreamKey, keyed, next, noFurther);
  }
}
