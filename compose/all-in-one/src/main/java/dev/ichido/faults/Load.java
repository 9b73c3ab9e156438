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
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** Of one agent, so that some 500 operations a second are published. */
  private static final Duration BETWEEN = Duration.ofMillis(13);

  private final int size;
  private final AtomicInteger published = new AtomicInteger();
  private final AtomicInteger limit = new AtomicInteger();
  private final ExecutorService agents = Executors.newFixedThreadPool(AGENTS);
  private final List<Future<?>> running = new ArrayList<>();

  Load(Act act, int size, String... actions) {
    this.size = size;
    List<Operation> operations = new ArrayList<>();
    List<Integer> deliveries = act.schedule().deliveries(size);
    for (int i = 0; i < size; i++) {
      operations.add(act.operation(actions[i % actions.length]));
    }
    limit.set((int) (size * AHEAD));
    for (int agent = 0; agent < AGENTS; agent++) {
      int first = agent;
      running.add(
          agents.submit(
              () -> {
                for (int i = first; i < size; i += AGENTS) {
                  int next = i;
                  Patience.until(PATIENCE, () -> next < limit.get());
                  for (int n = 0; n < deliveries.get(i); n++) {
                    act.deliver(operations.get(i));
                  }
                  published.incrementAndGet();
                  Thread.sleep(BETWEEN);
                }
                return null;
              }));
    }
    agents.shutdown();
  }

  /** Waits until that share of the load is published, of 0 to 1. */
  int awaitShare(double share) throws InterruptedException {
    int count = (int) (size * share);
    limit.accumulateAndGet((int) (size * (share + AHEAD)), Math::max);
    Patience.until(PATIENCE, () -> published.get() >= count);
    return published.get();
  }

  /** Waits until all of it is published. */
  void await() throws InterruptedException {
    limit.set(size);
    try {
      for (Future<?> agent : running) {
        agent.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  /** The agents stop where they are; for a scenario that broke off. */
  void stop() {
    agents.shutdownNow();
  }
}
