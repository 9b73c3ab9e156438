package dev.ichido.remotes;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.concurrent.atomic.AtomicReference;

/** Another clock's time, set forward (or back) by what it was told. */
public final class MovableClock extends Clock {
  private final Clock base;
  private final AtomicReference<Duration> offset = new AtomicReference<>(Duration.ZERO);

  public MovableClock(Clock base) {
    this.base = base;
  }

  public void advance(Duration by) {
    offset.updateAndGet(now -> now.plus(by));
  }

  @Override
  public Instant instant() {
    return base.instant().plus(offset.get());
  }

  @Override
  public ZoneId getZone() {
    return base.getZone();
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return new MovableClock(base.withZone(zone));
  }
}
