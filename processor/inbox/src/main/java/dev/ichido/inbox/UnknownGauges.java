package dev.ichido.inbox;

import dev.ichido.inbox.OperationReader.Unknowns;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many operations nobody knows the outcome of, and how old the oldest is: {@code
 * ichido.unknown.operations} and {@code ichido.unknown.oldest.seconds}, by tenant and action. Every
 * inbox of one database tells the same, so that a panel takes the maximum and not the sum.
 */
final class UnknownGauges implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownGauges.class);
  private static final Duration EVERY = Duration.ofSeconds(5);

  private final OperationReader operations;
  private final Clock clock;
  private final MultiGauge count;
  private final MultiGauge oldest;
  private final ScheduledExecutorService looking =
      Executors.newSingleThreadScheduledExecutor(
          work -> Thread.ofPlatform().daemon().name("ichido-inbox-unknown").unstarted(work));

  UnknownGauges(OperationReader operations, Clock clock, MeterRegistry registry) {
    this.operations = operations;
    this.clock = clock;
    this.count =
        MultiGauge.builder("ichido.unknown.operations")
            .description("Operations in UNKNOWN_RECONCILIATION")
            .register(registry);
    this.oldest =
        MultiGauge.builder("ichido.unknown.oldest.seconds")
            .description("Age of the oldest of them")
            .baseUnit("seconds")
            .register(registry);
  }

  void start() {
    var unused =
        looking.scheduleWithFixedDelay(this::look, 0, EVERY.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Looks at the tables; while they cannot be read the last figures stay. */
  void look() {
    try {
      List<Unknowns> found = operations.unknowns();
      count.register(
          found.stream()
              .map(it -> MultiGauge.Row.of(tags(it), it.count()))
              .<MultiGauge.Row<?>>map(row -> row)
              .toList(),
          true);
      oldest.register(
          found.stream()
              .<MultiGauge.Row<?>>map(
                  it -> MultiGauge.Row.of(tags(it), it.since(), this::secondsSince))
              .toList(),
          true);
    } catch (InboxException e) {
      LOG.debug("Unknown operations can't be counted: {}", e.getMessage());
    }
  }

  private double secondsSince(Instant since) {
    return Duration.between(since, clock.instant()).toMillis() / 1_000.0;
  }

  private static Tags tags(Unknowns unknowns) {
    return Tags.of("tenant", unknowns.tenant(), "action", unknowns.action());
  }

  @Override
  public void close() {
    looking.shutdownNow();
  }
}
