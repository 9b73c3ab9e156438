package dev.ichido.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ctrl-C and SIGTERM become a wish to end: the command that waits for it closes what it opened, and
 * the process ends when it has, or after a limit.
 */
final class Shutdown {
  /** Longer than an executor's calls may go on; the all-in-one needs less than half of it. */
  private static final Duration LIMIT = Duration.ofSeconds(25);

  private static final CountDownLatch ASKED = new CountDownLatch(1);
  private static final CountDownLatch DONE = new CountDownLatch(1);
  private static final AtomicInteger HOOKED = new AtomicInteger();

  private Shutdown() {}

  /** From here on, a signal interrupts the calling thread's work and waits for its end. */
  static void guard(Thread worker) {
    if (HOOKED.getAndSet(1) == 0) {
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    ASKED.countDown();
                    if (DONE.getCount() > 0) {
                      worker.interrupt();
                    }
                    try {
                      var unused = DONE.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  },
                  "ichido-shutdown"));
    }
  }

  static boolean isAsked() {
    return ASKED.getCount() == 0;
  }

  /** Ends the process. Everything that has to be closed is closed by now. */
  static void end(int code) {
    DONE.countDown();
    if (!isAsked()) {
      System.exit(code);
    }
  }
}
