package dev.ichido.topology.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One counter for each verdict, by tenant and action: {@code ichido.verdicts}; those on records
 * that an operator sent again: {@code ichido.replay.verdicts}; alarms: {@code ichido.alarms};
 * refused records: {@code ichido.dead.letters} by code.
 *
 * <p>Only tenants and actions of the policy become tags, so a stranger cannot make series.
 */
public final class VerdictMeters {
  private static final String UNKNOWN = "unknown";

  private record Labels(String name, String verdict, String tenant, String action) {}

  private final MeterRegistry registry;
  private final Map<Labels, Counter> counters = new ConcurrentHashMap<>();

  public VerdictMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Counts a verdict; a tenant or action that the policy does not know is null. */
  public void count(
      String verdict, @Nullable String tenant, @Nullable String action, boolean replay) {
    Counter counted =
        replay
            ? counter("ichido.replay.verdicts", verdict, tenant, action)
            : counter("ichido.verdicts", verdict, tenant, action);
    counted.increment();
  }

  public void alarm(String verdict, @Nullable String tenant, @Nullable String action) {
    counter("ichido.alarms", verdict, tenant, action).increment();
  }

  public void deadLetter(String code, String reasonClass) {
    registry.counter("ichido.dead.letters", "code", code, "reason", reasonClass).increment();
  }

  private Counter counter(
      String name, String verdict, @Nullable String tenant, @Nullable String action) {
    Labels labels =
        new Labels(
            name, verdict, tenant == null ? UNKNOWN : tenant, action == null ? UNKNOWN : action);
    return counters.computeIfAbsent(
        labels,
        it ->
            registry.counter(
                it.name(), "verdict", it.verdict(), "tenant", it.tenant(), "action", it.action()));
  }
}
