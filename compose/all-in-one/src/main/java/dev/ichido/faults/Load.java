package dev.ichido.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Agents that publish while faults strike, each operation in a transaction of its own. Not all of
 * it at once: whoever waits for a share of the load lets it go on to a little more than that, so
 * that every strike meets agents at work and some are left for the next one.
 */
final class Load {
  private static final int AGENTS = 8;
  private static final double AHEAD = 0.1;

  /** Of one agent, so that some 500 operations a second are published. */
  private static final Duration BETWEEN = Duration.ofMillis(13);

  private final int size;
  private final Duration patience;
  private final AtomicInteger published = new AtomicInteger();
  private final AtomicInteger limit = new AtomicInteger();
  private final ExecutorService agents = Executors.newFixedThreadPool(AGENTS);
  private final List<Future<?>> running = new ArrayList<>();

  /** Delivers one operation of the load, as often as it is to be. */
  interface Publisher {
    void publish(int operation) throws InterruptedException;
  }

  /**
   * Begins at once.
   *
   * @param patience how long a part of it may take
   */
  Load(int size, Duration patience, Publisher publisher) {
    this.size = size;
    this.patience = patience;
    limit.set((int) (size * AHEAD));
    for (int agent = 0; agent < AGENTS; agent++) {
      int first = agent;
      running.add(
          agents.submit(
              () -> {
                for (int i = first; i < size; i += AGENTS) {
                  int next = i;
                  if (!Patience.until(patience, () -> next < limit.get())) {
                    throw new BrokeOff(
                        "the load was left waiting after " + published + " operations");
                  }
                  publisher.publish(i);
                  published.incrementAndGet();
                  Thread.sleep(BETWEEN);
                }
                return null;
              }));
    }
    agents.shutdown();
  }

  int size() {
    return size;
  }

  /**
   * Waits until that share of the load is published, of 0 to 1.
   *
   * @throws BrokeOff when it is not
   */
  int awaitShare(double share) throws InterruptedException {
    int count = (int) (size * share);
    limit.accumulateAndGet((int) (size * (share + AHEAD)), Math::max);
    if (!Patience.until(patience, () -> published.get() >= count || hasFailed())) {
      throw new BrokeOff(
          "the load did not get to %.0f %%, but to %d of %d operations"
              .formatted(100 * share, published.get(), size));
    }
    if (hasFailed()) {
      await();
    }
    return published.get();
  }

  private boolean hasFailed() {
    return running.stream().anyMatch(it -> it.state() == Future.State.FAILED);
  }

  /**
   * Waits until all of it is published.
   *
   * @throws BrokeOff when an agent gave up
   */
  void await() throws InterruptedException {
    limit.set(size);
    try {
      for (Future<?> agent : running) {
        agent.get();
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof BrokeOff finding) {
        throw finding;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /** The agents stop where they are; for a scenario that broke off. */
  void stop() {
    agents.shutdownNow();
  }
}
