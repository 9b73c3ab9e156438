package dev.ichido.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Mostly with status reads, which need no claim, so that nothing but the order is looked at. */
class DispatcherTest {
  private static final TopicPartition PARTITION = new TopicPartition("commands", 0);

  /** When the claims were asked for. */
  private final Deque<Long> asked = new ConcurrentLinkedDeque<>();

  /** Empty: the request is not answered. */
  private final BlockingQueue<Optional<ClaimAnswer>> answers = new LinkedBlockingQueue<>();

  private final Map<String, ToolHandler> handlers = new ConcurrentHashMap<>();
  private final BlockingQueue<Work> started = new LinkedBlockingQueue<>();
  private final Dispatcher dispatcher =
      new Dispatcher(
          this::take,
          "a/1",
          Clock.systemUTC(),
          new Meters(new SimpleMeterRegistry()),
          handlers,
          2,
          null,
          started::add);
  private final Thread thread = Thread.ofVirtual().start(dispatcher);

  @AfterEach
  void stop() throws InterruptedException {
    dispatcher.stop();
    thread.join();
    assertThat(started).isEmpty();
  }

  @Test
  void ofOneKeyTheNextStartsWhenTheOneBeforeIsDone() throws InterruptedException {
    handlers.put("pay.transfer", remote("ledger"));
    Work first = work("a", 1);
    Work second = work("a", 2);
    Work other = work("b", 1);
    dispatcher.add(List.of(first, second, other));
    assertThat(next()).isSameAs(first);
    assertThat(next()).isSameAs(other);
    finish(first);
    assertThat(next()).isSameAs(second);
    finish(second);
    finish(other);
    assertThat(dispatcher.held()).isZero();
  }

  @Test
  void noMoreStartAtOneRemoteThanHavePlaces() throws InterruptedException {
    handlers.put("pay.transfer", remote("ledger"));
    handlers.put("mail.send", remote("mail"));
    Work first = work("a", 1);
    Work mail = new Work(Commands.of("mail.send", work("d", 1).command), PARTITION, 4, List.of());
    dispatcher.add(List.of(first, work("b", 1), work("c", 1), mail));
    assertThat(next()).isSameAs(first);
    assertThat(next().command.operationId()).isEqualTo("b");
    assertThat(next()).isSameAs(mail);
    finish(first);
    assertThat(next().command.operationId()).isEqualTo("c");
  }

  /** A changed policy sends an action elsewhere while its calls run. */
  @Test
  void aPlaceIsGivenBackWhereItWasTaken() throws InterruptedException {
    handlers.put("pay.transfer", remote("old"));
    Work first = work("a", 1);
    Work second = work("b", 1);
    dispatcher.add(List.of(first, second));
    assertThat(List.of(next(), next())).containsExactly(first, second);
    handlers.put("pay.transfer", remote("new"));
    finish(first);
    finish(second);
    for (String operation : List.of("c", "d", "e")) {
      dispatcher.add(List.of(work(operation, 1)));
    }
    assertThat(next().command.operationId()).isEqualTo("c");
    Work fourth = next();
    assertThat(fourth.command.operationId()).isEqualTo("d");
    handlers.put("pay.transfer", remote("old"));
    dispatcher.add(List.of(work("f", 1)));
    assertThat(List.of(next().command.operationId(), next().command.operationId()))
        .containsExactly("e", "f");
  }

  @Test
  void whatWaitsWhenItStopsIsForgottenAndNothingIsClaimed() throws InterruptedException {
    handlers.put("pay.transfer", remote("ledger"));
    Work first = work("a", 1);
    dispatcher.add(List.of(first, work("a", 2), work("b", 1), work("c", 1)));
    assertThat(next()).isSameAs(first);
    assertThat(next().command.operationId()).isEqualTo("b");
    dispatcher.stop();
    assertThat(dispatcher.held()).isEqualTo(2);
    dispatcher.add(List.of(execute("new")));
    finish(first);
    thread.join();
    assertThat(started).isEmpty();
    assertThat(asked).isEmpty();
  }

  @Test
  void whatWaitsOnPartitionsThatWereGivenAwayIsForgotten() throws InterruptedException {
    handlers.put("pay.transfer", remote("ledger"));
    Work first = work("a", 1);
    Work gone = new Work(work("a", 2).command, new TopicPartition("commands", 1), 0, List.of());
    Work third = work("a", 3);
    dispatcher.add(List.of(first, gone, third));
    assertThat(next()).isSameAs(first);
    dispatcher.drop(List.of(gone.partition));
    finish(first);
    assertThat(next()).isSameAs(third);
    finish(third);
    assertThat(dispatcher.held()).isZero();
  }

  /** An open row may be of the first, and one that is won is of the last. */
  @Test
  void aClaimIsAsOldAsTheFirstRequestThatMayHaveWonIt() throws InterruptedException {
    handlers.put("pay.transfer", remote("ledger"));
    for (ClaimAnswer answer : List.of(new ClaimAnswer.Open("a/1"), new ClaimAnswer.Won())) {
      asked.clear();
      answers.addAll(List.of(Optional.empty(), Optional.empty(), Optional.of(answer)));
      dispatcher.add(List.of(execute("a")));
      Work work = next();
      assertThat(work.claim).isEqualTo(new ClaimAnswer.Won());
      assertThat(asked).hasSize(3);
      long since = Objects.requireNonNull(work.claimAskedAt);
      if (answer instanceof ClaimAnswer.Open) {
        assertThat(since).isLessThanOrEqualTo(asked.getFirst());
      } else {
        assertThat(since).isGreaterThan(asked.getFirst()).isLessThanOrEqualTo(asked.getLast());
      }
      finish(work);
    }
  }

  /** Another delivery's, whose call may run. */
  @Test
  void whoeverAsksForTheFirstTimeHasNotWonWhatIsOpen() throws InterruptedException {
    handlers.put("pay.transfer", remote("ledger"));
    ClaimAnswer open = new ClaimAnswer.Open("a/1");
    answers.add(Optional.of(open));
    dispatcher.add(List.of(execute("a")));
    assertThat(next().claim).isEqualTo(open);
  }

  private List<ClaimAnswer> take(List<ClaimRequest> requests, Instant now) throws SQLException {
    asked.add(System.nanoTime());
    return List.of(answers.remove().orElseThrow(() -> new SQLException("unreachable", "08001")));
  }

  private Work next() throws InterruptedException {
    return Objects.requireNonNull(started.poll(30, TimeUnit.SECONDS), "nothing starts");
  }

  private void finish(Work work) {
    dispatcher.leave(work);
    dispatcher.done(work);
  }

  private static Work execute(String operation) {
    return new Work(Commands.execute(operation, "{}"), PARTITION, 9, List.of());
  }

  private static Work work(String operation, int attempt) {
    return new Work(Commands.reconcile(operation, attempt, false), PARTITION, attempt, List.of());
  }

  private static ToolHandler remote(String name) {
    return new ToolHandler() {
      @Override
      public ToolOutcome execute(ToolCommand command) {
        throw new UnsupportedOperationException();
      }

      @Override
      public String remote() {
        return name;
      }
    };
  }
}
