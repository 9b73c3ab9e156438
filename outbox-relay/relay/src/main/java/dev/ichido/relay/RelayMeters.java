package dev.ichido.relay;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** What the relay counts; every meter carries the slot. */
final class RelayMeters {
  private final MeterRegistry registry;
  private final String slot;
  private final AtomicLong lagBytes = new AtomicLong();
  private final AtomicLong retainedBytes = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private final Counter backfilled;
  private final Counter missing;
  private final Counter repaired;
  private final Counter records;
  private final Counter restarts;
  private final Timer delay;

  RelayMeters(MeterRegistry registry, String slot) {
    this.registry = registry;
    this.slot = slot;
    Gauge.builder("ichido.relay.slot.lag", lagBytes, AtomicLong::get)
        .description("Log written since the position that the relay confirmed")
        .baseUnit("bytes")
        .tag("slot", slot)
        .register(registry);
    Gauge.builder("ichido.relay.slot.retained", retainedBytes, AtomicLong::get)
        .description("Log that the server keeps for the slot")
        .baseUnit("bytes")
        .tag("slot", slot)
        .register(registry);
    Gauge.builder("ichido.relay.slot.lost", lost, AtomicLong::get)
        .description("1 while the slot is missing or the log that it needs is gone")
        .tag("slot", slot)
        .register(registry);
    backfilled =
        Counter.builder("ichido.relay.backfilled")
            .description("Rows sent from the table because a slot was lost")
            .tag("slot", slot)
            .register(registry);
    missing =
        Counter.builder("ichido.relay.audit.missing")
            .description(
                "Rows that were not acknowledged although the slot had passed them: an alarm")
            .tag("slot", slot)
            .register(registry);
    repaired =
        Counter.builder("ichido.relay.audit.repaired")
            .description("Missing rows that were sent again")
            .tag("slot", slot)
            .register(registry);
    records =
        Counter.builder("ichido.relay.records")
            .description("Records acknowledged by the broker")
            .tag("slot", slot)
            .register(registry);
    restarts =
        Counter.builder("ichido.relay.restarts")
            .description("Times that the relay stopped on a failure and started again")
            .tag("slot", slot)
            .register(registry);
    delay =
        Timer.builder("ichido.relay.delay")
            .description("From the commit of a row to the acknowledgement of its record")
            .tag("slot", slot)
            .publishPercentileHistogram()
            .register(registry);
  }

  void slot(long lag, long retained) {
    lagBytes.set(lag);
    retainedBytes.set(retained);
  }

  void slotLost(boolean gone) {
    lost.set(gone ? 1 : 0);
  }

  void backfilled(int count) {
    backfilled.increment(count);
  }

  void missing(int count) {
    missing.increment(count);
  }

  void repaired(int count) {
    repaired.increment(count);
  }

  void acknowledged(int count) {
    records.increment(count);
  }

  void delay(long millis) {
    delay.record(Duration.ofMillis(Math.max(0, millis)));
  }

  void refused(String code) {
    Counter.builder("ichido.relay.refused")
        .description("Rows sent to the dead letters")
        .tag("slot", slot)
        .tag("code", code)
        .register(registry)
        .increment();
  }

  void restarted() {
    restarts.increment();
  }
}
