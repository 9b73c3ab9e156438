package dev.ichido.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.debezium.pipeline.DataChangeEvent;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;

class ChangeQueueTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  @Test
  void waitingEndsWithTheFirstChangeAndTakesNone() throws Exception {
    ChangeQueue queue = new ChangeQueue();
    DataChangeEvent first = change();
    DataChangeEvent second = change();
    Thread writer =
        Thread.ofPlatform()
            .start(
                () -> {
                  queue.enqueue(first);
                  queue.enqueue(second);
                });

    queue.await(LONG);
    writer.join();
    queue.await(LONG);

    assertThat(queue.size()).isEqualTo(2);
    assertThat(queue.poll()).isSameAs(first);
    assertThat(queue.poll()).isSameAs(second);
    assertThat(queue.poll()).isNull();
  }

  @Test
  void aQuietLogIsWaitedForNoLongerThanAsked() throws Exception {
    ChangeQueue queue = new ChangeQueue();

    queue.await(Duration.ofMillis(1));

    assertThat(queue.size()).isZero();
  }

  @Test
  void eachRunTakesItsOwnQueueOnce() {
    ChangeQueue one = new ChangeQueue();
    ChangeQueue other = new ChangeQueue();
    one.configure(Map.of(ChangeQueue.RUN, "queue-test-1"));
    other.configure(Map.of(ChangeQueue.RUN, "queue-test-2"));

    assertThat(ChangeQueue.take("queue-test-2")).isSameAs(other);
    assertThat(ChangeQueue.take("queue-test-1")).isSameAs(one);
    assertThatIllegalStateException()
        .isThrownBy(() -> ChangeQueue.take("queue-test-1"))
        .withMessageContaining("queue.provider.type");
  }

  private static DataChangeEvent change() {
    return new DataChangeEvent(
        new SourceRecord(Map.of(), Map.of(), "topic", Schema.STRING_SCHEMA, "row"));
  }
}
