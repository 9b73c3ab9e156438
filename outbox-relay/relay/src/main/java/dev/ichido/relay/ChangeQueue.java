package dev.ichido.relay;

import io.debezium.connector.base.QueueProvider;
import io.debezium.pipeline.DataChangeEvent;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What Debezium keeps its changes in between reading and handing on. Its own can't be waited for;
 * this one can. Debezium makes it by its name.
 */
public final class ChangeQueue implements QueueProvider<DataChangeEvent> {
  static final String NAME = "ichido";

  /** The setting that is another in each run of an engine. */
  static final String RUN = "topic.prefix";

  private static final Map<String, ChangeQueue> MADE = new ConcurrentHashMap<>();

  private final BlockingDeque<DataChangeEvent> changes = new LinkedBlockingDeque<>();

  /** The queue that was made for a run, to the one who asks first. */
  static ChangeQueue take(String run) {
    ChangeQueue made = MADE.remove(run);
    if (made == null) {
      throw new IllegalStateException(
          "Expected Debezium to keep changes in queue \"%s\", but it made none. Check queue.provider.type."
              .formatted(NAME));
    }
    return made;
  }

  /** Waits until a change is there. By the one thread that takes them. */
  void await(Duration atMost) throws InterruptedException {
    DataChangeEvent first = changes.pollFirst(atMost.toNanos(), TimeUnit.NANOSECONDS);
    if (first != null) {
      changes.addFirst(first);
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void configure(Map<String, ?> settings) {
    MADE.put(String.valueOf(settings.get(RUN)), this);
  }

  @Override
  public void enqueue(DataChangeEvent change) {
    changes.add(change);
  }

  @Override
  public @Nullable DataChangeEvent poll() {
    return changes.poll();
  }

  @Override
  public int size() {
    return changes.size();
  }
}
