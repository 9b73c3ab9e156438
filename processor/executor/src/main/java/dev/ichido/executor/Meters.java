package dev.ichido.executor;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the executor counts. Amplification is deliveries : attempts : remote calls. */
final class Meters {
  private final MeterRegistry registry;

  Meters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** A command was handed to us. */
  void delivery(ToolCommand.Kind kind, String action) {
    registry
        .counter("ichido.executor.deliveries", "kind", lower(kind), "action", action)
        .increment();
  }

  /** An attempt was claimed by us. */
  void attempt(String action) {
    registry.counter("ichido.executor.attempts", "action", action).increment();
  }

  /**
   * How the request for a claim ended.
   *
   * @param answer won, revoked, deadline_passed, recorded, running or left
   */
  void claim(String answer) {
    registry.counter("ichido.executor.claims", "answer", answer).increment();
  }

  void remoteCalls(ToolCommand.Kind kind, String remote, int calls) {
    registry
        .counter("ichido.executor.remote.calls", "kind", lower(kind), "remote", remote)
        .increment(calls);
  }

  void report(Report report) {
    registry
        .counter(
            "ichido.executor.reports",
            "kind",
            lower(report.kind()),
            "finding",
            lower(report.finding()),
            "reason",
            report.reason() == null ? "none" : report.reason())
        .increment();
  }

  void deadLetter(String code) {
    registry.counter("ichido.executor.dead.letters", "code", code).increment();
  }

  void purged(int rows) {
    registry.counter("ichido.executor.purged").increment(rows);
  }

  /** The database or the broker did not answer, and it is tried again. */
  void trouble(String where) {
    registry.counter("ichido.executor.trouble", "where", where).increment();
  }

  Timer claimTimer() {
    return registry.timer("ichido.executor.claim.latency");
  }

  Timer callTimer(String remote) {
    return registry.timer("ichido.executor.call", "remote", remote);
  }

  void gauge(String name, Supplier<Number> value) {
    io.micrometer.core.instrument.Gauge.builder(name, value)
        .strongReference(true)
        .register(registry);
  }

  private static String lower(@Nullable Object name) {
    return String.valueOf(name).toLowerCase(Locale.ROOT);
  }
}
