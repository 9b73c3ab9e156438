package dev.ichido.app;

import java.time.Clock;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * What a role takes the time from.
 *
 * @param clock of the executor
 * @param time of the processor
 */
public record Clocks(Clock clock, Time time) {
  /** The machine's. */
  public static final Clocks SYSTEM = new Clocks(Clock.systemUTC(), Time.SYSTEM);

  /** The machine's, moved forward, or back when the duration is negative. */
  public static Clocks moved(Duration by) {
    return new Clocks(Clock.offset(Clock.systemUTC(), by), new MovedTime(by.toMillis()));
  }

  private record MovedTime(long millis) implements Time {
    @Override
    public long milliseconds() {
      return SYSTEM.milliseconds() + millis;
    }

    @Override
    public long nanoseconds() {
      return SYSTEM.nanoseconds();
    }

    @Override
    public void sleep(long forMillis) {
      SYSTEM.sleep(forMillis);
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMillis)
        throws InterruptedException {
      SYSTEM.waitObject(object, condition, deadlineMillis - millis);
    }
  }
}
