package dev.ichido.bench;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Sends calls over a path and times them. */
final class Load {
  /** Without any answer for this long, what is missing counts as an error. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** As many as there are connections to the outbox: what a call waits for is one of these. */
  private static final int CALLERS = 32;

  private static final long LONGEST_MICROS = Duration.ofMinutes(10).toNanos() / 1_000;

  private final OncePath path;
  private final IntFunction<Call> calls;
  private final int operations;
  private final Histogram latency = new ConcurrentHistogram(LONGEST_MICROS, 3);
  private final Map<String, Integer> errors = new TreeMap<>();

  /**
   * What came of it.
   *
   * @param latencyMicros from the moment a call was due to its last reply
   * @param errors wrong or missing answers, by what was told instead
   */
  record Outcome(
      int operations, double seconds, Histogram latencyMicros, Map<String, Integer> errors) {
    double perSecond() {
      return operations / seconds;
    }
  }

  Load(OncePath path, IntFunction<Call> calls, int operations) {
    this.path = path;
    this.calls = calls;
    this.operations = operations;
  }

  /** The next call goes when one of those in flight is answered. */
  Outcome closed(int inFlight) throws InterruptedException {
    Semaphore places = new Semaphore(inFlight);
    try (ExecutorService threads = threads()) {
      long start = System.nanoTime();
      for (int i = 0; i < operations; i++) {
        Call call = calls.apply(i);
        if (!places.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
          break;
        }
        long due = System.nanoTime();
        threads.execute(() -> send(call, due, places));
      }
      return outcome(places, inFlight, start);
    }
  }

  /** Calls go at their times, whatever the answers do. */
  Outcome open(double rate) throws InterruptedException {
    Semaphore places = new Semaphore(operations);
    try (ExecutorService threads = threads()) {
      long start = System.nanoTime();
      for (int i = 0; i < operations; i++) {
        Call call = calls.apply(i);
        long due = start + (long) (i * 1e9 / rate);
        for (long early = due - System.nanoTime(); early > 0; early = due - System.nanoTime()) {
          LockSupport.parkNanos(early);
          if (Thread.interrupted()) {
            throw new InterruptedException();
          }
        }
        places.acquire();
        threads.execute(() -> send(call, due, places));
      }
      return outcome(places, operations, start);
    }
  }

  /** Threads of their own, so that their time is told from that of the stack's virtual threads. */
  private static ExecutorService threads() {
    return Executors.newFixedThreadPool(
        CALLERS, Thread.ofPlatform().name("ichido-bench-caller-", 0).factory());
  }

  private Outcome outcome(Semaphore places, int all, long start) throws InterruptedException {
    if (!places.tryAcquire(all, PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      int missing = operations - (int) latency.getTotalCount();
      synchronized (errors) {
        errors.merge("NO_ANSWER", missing, Integer::sum);
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    synchronized (errors) {
      return new Outcome(operations, seconds, latency, Map.copyOf(errors));
    }
  }

  private void send(Call call, long due, Semaphore places) {
    try {
      var unused =
          path.call(call)
              .whenComplete(
                  (verdict, failure) -> {
                    latency.recordValue(
                        Math.min(LONGEST_MICROS, (System.nanoTime() - due) / 1_000));
                    if (failure != null) {
                      error(failure.toString());
                    } else if (!call.isRight(verdict)) {
                      error(call.kind() + " told " + verdict);
                    }
                    places.release();
                  });
    } catch (Exception e) {
      error(e.toString());
      places.release();
    }
  }

  private void error(String what) {
    synchronized (errors) {
      errors.merge(what, 1, Integer::sum);
    }
  }
}
