package dev.ichido.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** Under a clock that moves on demand, at a broker that answers when it is told to. */
class ResultsHearingTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  /** The log of a partition and the position in it are what a test sets. */
  private static final class Broker implements ResultsHearing.Log {
    final Map<TopicPartition, Long> ends = new HashMap<>();
    final Map<TopicPartition, Long> positions = new HashMap<>();
    final List<CompletableFuture<Map<TopicPartition, Long>>> unanswered = new ArrayList<>();
    boolean answers = true;
    int asked;

    @Override
    public TopicPartition results(int partition) {
      return new TopicPartition("results", partition);
    }

    @Override
    public CompletionStage<Map<TopicPartition, Long>> ends(Set<Integer> partitions) {
      asked++;
      CompletableFuture<Map<TopicPartition, Long>> answer = new CompletableFuture<>();
      if (answers) {
        answer.complete(of(partitions, ends));
      } else {
        unanswered.add(answer);
      }
      return answer;
    }

    @Override
    public CompletionStage<Map<TopicPartition, Long>> positions(Set<Integer> partitions) {
      return CompletableFuture.completedStage(of(partitions, positions));
    }

    private static Map<TopicPartition, Long> of(
        Set<Integer> partitions, Map<TopicPartition, Long> offsets) {
      return offsets.entrySet().stream()
          .filter(it -> partitions.contains(it.getKey().partition()))
          .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    void isBack() {
      answers = true;
      unanswered.forEach(it -> it.complete(Map.copyOf(ends)));
      unanswered.clear();
    }

    void fails() {
      unanswered.forEach(it -> it.completeExceptionally(new IllegalStateException("away")));
      unanswered.clear();
    }

    @Override
    public void close() {
      // It holds nothing.
    }
  }

  private final Broker broker = new Broker();
  private Instant now = START;
  private final ResultsHearing hearing =
      new ResultsHearing(broker, () -> now, Duration.ofMillis(100));

  /** Time passes, and tasks sweep as they do while something is held back: every 100 ms. */
  private void pass(Duration time, int... listening) {
    Instant until = now.plus(time);
    while (now.isBefore(until)) {
      for (int partition : listening) {
        hearing.listen(partition, now);
      }
      now = now.plusMillis(100);
    }
  }

  private void log(int partition, long end, long position) {
    log("results", partition, end, position);
  }

  private void log(String topic, int partition, long end, long position) {
    broker.ends.put(new TopicPartition(topic, partition), end);
    broker.positions.put(new TopicPartition(topic, partition), position);
  }

  @Test
  void aPartitionIsHeardUntilItsEndWasAskedForAndReached() {
    log(0, 7, 5);
    pass(Duration.ofSeconds(1), 0);
    assertThat(hearing.heardUntil(0, now)).isEqualTo(Instant.EPOCH);
    // What comes later need not be read for it.
    log(0, 9, 7);
    Instant asked = START.plusMillis(100);
    pass(Duration.ofMillis(200), 0);
    assertThat(hearing.heardUntil(0, now)).isBetween(START, asked);
  }

  @Test
  void onePartitionThatIsBehindDoesNotHoldAnother() {
    log(0, 7, 5);
    log(1, 3, 3);
    pass(Duration.ofSeconds(1), 0, 1);
    assertThat(hearing.heardUntil(0, now)).isEqualTo(Instant.EPOCH);
    assertThat(hearing.heardUntil(1, now)).isAfter(START.plusMillis(500));
  }

  @Test
  void nobodyIsAskedWhileNothingWaits() {
    log(0, 3, 3);
    for (int i = 0; i < 100; i++) {
      now = now.plusSeconds(1);
      assertThat(hearing.heardUntil(0, now)).isEqualTo(Instant.EPOCH);
    }
    assertThat(broker.asked).isZero();
  }

  /** The broker is back: nothing more is heard for a while, and then what was asked after it. */
  private void passSettling(Instant heard, Duration further) {
    Instant back = now;
    pass(ResultsHearing.SETTLING, 0);
    assertThat(hearing.heardUntil(0, now)).isEqualTo(heard);
    pass(further, 0);
    assertThat(hearing.heardUntil(0, now)).isAfterOrEqualTo(back.plus(ResultsHearing.SETTLING));
  }

  @Test
  void anEndCountsOnlySomeTimeAfterTheBrokerIsBack() {
    log(0, 3, 3);
    broker.answers = false;
    pass(Duration.ofSeconds(5), 0);
    broker.isBack();
    passSettling(Instant.EPOCH, Duration.ofMillis(300));
  }

  @Test
  void soItIsAfterAnAskThatFailed() {
    log(0, 3, 3);
    broker.answers = false;
    pass(Duration.ofMillis(100), 0);
    broker.fails();
    broker.answers = true;
    passSettling(Instant.EPOCH, Duration.ofMillis(500));
  }

  /** A commit that waits for a broker holds the task up, and nothing is asked meanwhile. */
  @Test
  void soItIsAfterTheTaskWasHeldUp() {
    log(0, 3, 3);
    pass(Duration.ofSeconds(1), 0);
    Instant before = hearing.heardUntil(0, now);
    now = now.plusSeconds(30);
    passSettling(before, Duration.ofMillis(500));
  }

  @Test
  void nothingIsHeldLongerThanTheLimitWhenNobodyAnswers() {
    log(0, 3, 3);
    broker.answers = false;
    pass(ResultsHearing.LIMIT.minusMillis(100), 0);
    assertThat(hearing.heardUntil(0, now)).isEqualTo(Instant.EPOCH);
    pass(Duration.ofMillis(100), 0);
    assertThat(hearing.heardUntil(0, now)).isEqualTo(now);
    Instant first = now;
    pass(ResultsHearing.LIMIT.minusMillis(100), 0);
    assertThat(hearing.heardUntil(0, now)).isEqualTo(first);
    pass(Duration.ofMillis(100), 0);
    assertThat(hearing.heardUntil(0, now)).isEqualTo(now);
  }

  /** The reports on a lease that is called over would have to queue up as well. */
  @Test
  void aBacklogIsWaitedForAsLongAsItGetsShorter() {
    log(0, 1_000, 0);
    for (int position = 0; position < 60; position++) {
      log(0, 1_000, position);
      pass(Duration.ofSeconds(1), 0);
      assertThat(hearing.heardUntil(0, now)).isEqualTo(Instant.EPOCH);
    }
    pass(ResultsHearing.LIMIT.plusSeconds(1), 0);
    assertThat(hearing.heardUntil(0, now)).isAfter(START);
  }

  /** A task reads in order of time: reports lie unread until it has got through older intents. */
  @Test
  void reportsAreWaitedForAsLongAsWhatLiesBeforeThemGetsLess() {
    passWhileReadingIntents(0);
    log(0, 7, 7);
    pass(Duration.ofMillis(200), 0);
    assertThat(hearing.heardUntil(0, now)).isAfter(START);
  }

  /** A thread gets on with one task at a time, whether anything is due in that one or not. */
  @Test
  void reportsAreWaitedForWhileAnotherTaskOfTheProcessGetsOn() {
    passWhileReadingIntents(1);
  }

  private void passWhileReadingIntents(int partition) {
    log(0, 7, 0);
    log(1, 3, 0);
    for (int position = 0; position < 60; position++) {
      log("intents", partition, 1_000, position);
      pass(Duration.ofSeconds(1), 0);
      assertThat(hearing.heardUntil(1, now)).isEqualTo(Instant.EPOCH);
      assertThat(hearing.heardUntil(0, now)).isEqualTo(Instant.EPOCH);
    }
  }

  /** Or who is never without work would listen for ever to a log that does not reach its end. */
  @Test
  void whatCameLaterDoesNotLieBeforeThem() {
    log(0, 7, 0);
    log("intents", 0, 20, 0);
    pass(Duration.ofSeconds(1), 0);
    for (int position = 20; position < 34; position++) {
      log("intents", 0, 1_000, position);
      pass(Duration.ofSeconds(1), 0);
      assertThat(hearing.heardUntil(0, now)).isEqualTo(Instant.EPOCH);
    }
    log("intents", 0, 1_000, 40);
    pass(Duration.ofSeconds(2), 0);
    assertThat(hearing.heardUntil(0, now)).isAfter(START.plus(ResultsHearing.LIMIT));
  }

  /** Each commit takes three seconds, so no answer is of the time in which it is looked at. */
  @Test
  void whoIsHeldUpEachTimeDoesNotListenForEver() {
    log(0, 3, 3);
    for (int sweep = 0; sweep < 9; sweep++) {
      hearing.listen(0, now);
      now = now.plusSeconds(3);
    }
    assertThat(hearing.heardUntil(0, now)).isEqualTo(now);
  }

  @Test
  void whoSweepsRarelyIsNotHeldUp() {
    log(0, 3, 3);
    ResultsHearing rare = new ResultsHearing(broker, () -> now, Duration.ofSeconds(3));
    for (int sweep = 0; sweep < 2; sweep++) {
      rare.listen(0, now);
      now = now.plusSeconds(3);
    }
    assertThat(rare.heardUntil(0, now)).isAfterOrEqualTo(START);
  }

  @Test
  void aLogThatLostItsTailIsHeardAtItsNewEnd() {
    log(0, 1_000, 600);
    pass(Duration.ofSeconds(1), 0);
    log(0, 601, 601);
    pass(Duration.ofSeconds(1), 0);
    assertThat(hearing.heardUntil(0, now)).isAfter(START);
  }

  @Test
  void aPartitionThatNobodyLeadsHoldsUpNoOther() {
    log(1, 3, 3);
    pass(Duration.ofSeconds(1), 0, 1);
    assertThat(hearing.heardUntil(0, now)).isEqualTo(Instant.EPOCH);
    assertThat(hearing.heardUntil(1, now)).isAfter(START);
  }
}
