package dev.ichido.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Agents that publish while faults strike, each operation in a transaction of its own. */
final class Load {
  private static final int AGENTS = 8;
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** So that a load of 2,000 lasts for some kills. */
  private static final long NANOS_BETWEEN = Duration.ofMillis(2).toNanos();

  private final int size;
  private final AtomicInteger published = new AtomicInteger();
  private final ExecutorService agents = Executors.newFixedThreadPool(AGENTS);
  private final List<Future<?>> running = new ArrayList<>();

  Load(Act act, int size, String... actions) {
    this.size = size;
    List<Operation> operations = new ArrayList<>();
    List<Integer> deliveries = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      operations.add(act.operation(actions[i % actions.length]));
      int chance = act.random().nextInt(10);
      deliveries.add(chance < 7 ? 1 : chance < 9 ? 2 : 3);
    }
    long start = System.nanoTime();
    for (int agent = 0; agent < AGENTS; agent++) {
      int first = agent;
      running.add(
          agents.submit(
              () -> {
                for (int i = first; i < size; i += AGENTS) {
                  long due = start + i * NANOS_BETWEEN - System.nanoTime();
                  if (due > 0) {
                    Patience.pass(Duration.ofNanos(due));
                  }
                  for (int n = 0; n < deliveries.get(i); n++) {
                    act.deliver(operations.get(i));
                  }
                  published.incrementAndGet();
                }
                return null;
              }));
    }
    agents.shutdown();
  }

  /** Waits until that share of the load is published, of 0 to 1. */
  int awaitShare(double share) throws InterruptedException {
    int count = (int) (size * share);
    Patience.until(PATIENCE, () -> published.get() >= count);
    return published.get();
  }

  /** Waits until all of it is published. */
  void await() throws InterruptedException {
    try {
      for (Future<?> agent : running) {
        agent.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
