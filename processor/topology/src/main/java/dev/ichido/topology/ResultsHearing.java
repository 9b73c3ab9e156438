package dev.ichido.topology;

import dev.ichido.topology.operation.Hearing;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens at the broker. A partition is heard until an instant when the end that its log had, asked
 * for at that instant, lies behind the position that the application has committed. It is asked
 * only while something waits for it, and never waited for.
 *
 * <p>Reports that were made while the broker was away are still with their executors when it is
 * back, so an end counts only from {@link #SETTLING} after. And nothing is held for ever: what was
 * listened for in vain for {@link #LIMIT} counts as heard. It is not in vain while the process gets
 * on with what it had to read by then: a task reads its topics in order of time and a thread its
 * tasks by turns, so that reports lie behind other work.
 */
final class ResultsHearing implements Hearing, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ResultsHearing.class);

  /** A broker that takes longer to answer was away. */
  static final Duration PROMPT = Duration.ofSeconds(1);

  /** Producers try again after a second at most. */
  static final Duration SETTLING = Duration.ofSeconds(2);

  /** A dead broker is noticed after nine seconds by default; then others lead its partitions. */
  static final Duration LIMIT = Duration.ofSeconds(15);

  /** What is asked of the broker about the results, and about all that is read with them. */
  interface Log extends AutoCloseable {
    /** The results of that number. */
    TopicPartition results(int partition);

    /** The offsets that follow the last records. */
    CompletionStage<Map<TopicPartition, Long>> ends(Set<Integer> partitions);

    /** The offsets that the application reads next. */
    CompletionStage<Map<TopicPartition, Long>> positions(Set<Integer> partitions);

    @Override
    void close();
  }

  private record Answer(
      Map<TopicPartition, Long> ends, Map<TopicPartition, Long> positions, Instant at) {}

  private record Question(
      Instant askedAt, Set<Integer> partitions, CompletableFuture<Answer> answer) {}

  /**
   * The latest end of a log that was asked for and counts.
   *
   * @param backlog the ends of all that the process had to read by then; of a task that was not
   *     seen yet, as of when it was
   */
  private record End(Instant askedAt, long offset, Map<TopicPartition, Long> backlog) {
    End with(Map<TopicPartition, Long> ends) {
      Map<TopicPartition, Long> all = new HashMap<>(ends);
      all.putAll(backlog);
      return new End(askedAt, offset, all);
    }
  }

  private static final class Ear {
    private Instant heardUntil = Instant.EPOCH;
    private Instant seenAt;
    private @Nullable Instant inVainSince;
    private @Nullable End end;

    Ear(Instant now) {
      this.seenAt = now;
    }
  }

  private final Log log;
  private final Supplier<Instant> clock;
  private final Duration heldUp;
  private final Map<Integer, Ear> ears = new HashMap<>();
  private final Map<TopicPartition, Long> positions = new HashMap<>();
  private @Nullable Question question;
  private boolean brokerWasAway;
  private Instant countsFrom = Instant.EPOCH;
  private boolean toldOfSilence;

  /**
   * Listens to a log.
   *
   * @param clock the one that the tasks go by
   * @param sweepEvery how often a task looks while something is due; one that is not seen for
   *     longer than two seconds and two sweeps was held up by the broker
   */
  ResultsHearing(Log log, Supplier<Instant> clock, Duration sweepEvery) {
    this.log = log;
    this.clock = clock;
    this.heldUp = SETTLING.plus(sweepEvery.multipliedBy(2));
  }

  @Override
  public synchronized Instant heardUntil(int partition, Instant now) {
    Ear ear = ear(partition, now);
    takeAnswer(now);
    Instant since = ear.inVainSince;
    if (since != null && !now.isBefore(since.plus(LIMIT))) {
      giveUp(ear, now);
    }
    return ear.heardUntil.isBefore(now) ? ear.heardUntil : now;
  }

  @Override
  public synchronized void listen(int partition, Instant now) {
    Ear ear = ear(partition, now);
    takeAnswer(now);
    if (ear.inVainSince == null) {
      ear.inVainSince = now;
    }
    if (question == null && !now.isBefore(countsFrom)) {
      question = ask(now);
    }
  }

  @Override
  public void close() {
    log.close();
  }

  private Ear ear(int partition, Instant now) {
    Ear ear = ears.computeIfAbsent(partition, unused -> new Ear(now));
    Instant since = ear.inVainSince;
    if (now.isAfter(ear.seenAt.plus(heldUp))) {
      brokerWasAway = true;
      // Its answer may be of before.
      question = null;
      // Nobody could listen meanwhile. Some of the time counts, or who is held up each time would
      // listen for ever.
      ear.inVainSince =
          since == null ? null : since.plus(Duration.between(ear.seenAt.plus(SETTLING), now));
    }
    ear.seenAt = now;
    return ear;
  }

  private Question ask(Instant now) {
    Set<Integer> here =
        Set.copyOf(
            ears.entrySet().stream()
                .filter(it -> isHere(it.getValue(), now))
                .map(Map.Entry::getKey)
                .toList());
    CompletableFuture<Answer> answer =
        log.ends(here)
            .thenCompose(
                ends -> log.positions(here).thenApply(at -> new Answer(ends, at, clock.get())))
            .toCompletableFuture();
    return new Question(now, here, answer);
  }

  /** A partition that is not looked at any more has gone to another process. */
  private boolean isHere(Ear ear, Instant now) {
    return !now.isAfter(ear.seenAt.plus(heldUp));
  }

  private void takeAnswer(Instant now) {
    Question asked = question;
    if (asked == null || !asked.answer().isDone()) {
      return;
    }
    question = null;
    if (asked.answer().isCompletedExceptionally()) {
      brokerWasAway = true;
      return;
    }
    Answer answer = asked.answer().join();
    boolean prompt = !answer.at().isAfter(asked.askedAt().plus(PROMPT));
    boolean counts = prompt && !brokerWasAway;
    if (!counts) {
      brokerWasAway = false;
      countsFrom = answer.at().plus(SETTLING);
    }
    for (int partition : asked.partitions()) {
      Ear ear = ears.get(partition);
      Long end = answer.ends().get(log.results(partition));
      Long position = answer.positions().get(log.results(partition));
      if (ear != null && ear.inVainSince != null && end != null && position != null) {
        hear(
            ear,
            counts ? new End(asked.askedAt(), end, answer.ends()) : null,
            position,
            answer,
            now);
      }
    }
    positions.putAll(answer.positions());
  }

  /** An end that is not reached yet is waited for, however often a later one is asked for. */
  private void hear(Ear ear, @Nullable End latest, long position, Answer answer, Instant now) {
    End end = isNearer(latest, ear.end) ? latest : ear.end;
    if (end == null) {
      return;
    }
    if (position >= end.offset()) {
      ear.heardUntil = end.askedAt().isAfter(ear.heardUntil) ? end.askedAt() : ear.heardUntil;
      ear.end = null;
      ear.inVainSince = null;
      toldOfSilence = false;
    } else {
      ear.end = end.with(answer.ends());
      ear.inVainSince = isLess(ear.end.backlog(), answer.positions()) ? now : ear.inVainSince;
    }
  }

  /** A log that has lost its tail may never get to an end that it once had. */
  private static boolean isNearer(@Nullable End latest, @Nullable End end) {
    return end == null || (latest != null && latest.offset() < end.offset());
  }

  /** Whether some of it was read since the last answer; what came after it is no part of it. */
  private boolean isLess(Map<TopicPartition, Long> backlog, Map<TopicPartition, Long> read) {
    return backlog.entrySet().stream()
        .anyMatch(
            end -> {
              long before = positions.getOrDefault(end.getKey(), 0L);
              return before < Math.min(end.getValue(), read.getOrDefault(end.getKey(), 0L));
            });
  }

  private void giveUp(Ear ear, Instant now) {
    ear.heardUntil = now;
    ear.end = null;
    ear.inVainSince = null;
    if (!toldOfSilence) {
      toldOfSilence = true;
      LOG.warn(
          "Expected to learn within {} s whether all results are read, but did not. Leases that "
              + "are over are called over without. Check that the broker is there, that the processor "
              + "gets on, and that it may describe its group and the topics that it reads.",
          LIMIT.toSeconds());
    }
  }
}
