package dev.ichido.remotes;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Where requests wait that are slow or held. */
final class Releases {
  enum Signal {
    ELAPSED,
    RELEASED,
    CLOSED
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private long generation;
  private int waiting;
  private boolean closed;

  /** Waits until released; zero waits without a limit. Interruption counts as the close. */
  Signal await(Duration limit) {
    lock.lock();
    try {
      long mine = generation;
      long nanos = limit.isZero() ? Long.MAX_VALUE : limit.toNanos();
      waiting++;
      changed.signalAll();
      try {
        while (generation == mine && !closed && nanos > 0) {
          nanos = changed.awaitNanos(nanos);
        }
      } finally {
        waiting--;
      }
      if (closed) {
        return Signal.CLOSED;
      }
      return generation == mine ? Signal.ELAPSED : Signal.RELEASED;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Signal.CLOSED;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until that many requests wait here at once. */
  boolean awaitWaiting(int count, Duration limit) throws InterruptedException {
    lock.lock();
    try {
      long nanos = limit.toNanos();
      while (waiting < count && nanos > 0) {
        nanos = changed.awaitNanos(nanos);
      }
      return waiting >= count;
    } finally {
      lock.unlock();
    }
  }

  int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  void releaseAll() {
    lock.lock();
    try {
      generation++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
