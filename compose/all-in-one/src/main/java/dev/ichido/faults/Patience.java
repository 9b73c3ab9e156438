package dev.ichido.faults;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Looks again and again until something holds, or until the patience is over. */
final class Patience {
  private static final long LOOK_NANOS = 30_000_000;

  /** What is looked at. */
  interface Look {
    boolean holds() throws InterruptedException;
  }

  private Patience() {}

  static boolean until(Duration limit, Look look) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (!look.holds()) {
      if (System.nanoTime() - end > 0) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    return true;
  }

  /** Lets time pass, for what is about time itself. */
  static void pass(Duration time) throws InterruptedException {
    long end = System.nanoTime() + time.toNanos();
    until(time.plusSeconds(1), () -> System.nanoTime() - end >= 0);
  }
}
