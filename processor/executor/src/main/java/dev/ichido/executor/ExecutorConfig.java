package dev.ichido.executor;

import dev.ichido.schemas.Topics;
import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Settings of an executor; a member that is null takes its default.
 *
 * @param name how this executor signs claims and results; default {@code executor}
 * @param kafka client properties, passed through
 * @param registry settings of the records' serializers, passed through
 * @param topicPrefix default {@code ichido}
 * @param groupId consumer group; default {@code <prefix>-executor}
 * @param maxInFlight commands that are held at most, running or waiting; default 1000
 * @param concurrencyPerRemote calls that run at a time against one remote; default 32
 * @param drainTimeout how long running calls may go on after close; default 20 s
 * @param inlineBodyLimit bytes of a body that travels in the record; a larger one is stored and
 *     sent as a handle; default 65536
 * @param handlerTimeout after which a handler is interrupted and its outcome unknown; default 10
 *     min
 * @param breakerFailureRate percent of failed calls that opens a remote's circuit breaker; default
 *     50
 * @param breakerWait how long it stays open; default 10 s
 * @param claimRetention age at which claims with a certain result are deleted, with the bodies that
 *     only they name; longer than any operation may still start an attempt, is replayed or is
 *     remembered. Default: never
 * @param migrate whether the tables are brought up to date at start; default true
 */
public record ExecutorConfig(
    @Nullable String name,
    Map<String, String> kafka,
    Map<String, String> registry,
    @Nullable String topicPrefix,
    @Nullable String groupId,
    @Nullable Integer maxInFlight,
    @Nullable Integer concurrencyPerRemote,
    @Nullable Duration drainTimeout,
    @Nullable Integer inlineBodyLimit,
    @Nullable Duration handlerTimeout,
    @Nullable Integer breakerFailureRate,
    @Nullable Duration breakerWait,
    @Nullable Duration claimRetention,
    @Nullable Boolean migrate) {

  public ExecutorConfig {
    kafka = Map.copyOf(kafka);
    registry = Map.copyOf(registry);
  }

  /** All defaults. */
  public static ExecutorConfig of(Map<String, String> kafka, Map<String, String> registry) {
    return new ExecutorConfig(
        null, kafka, registry, null, null, null, null, null, null, null, null, null, null, null);
  }

  String nameOrDefault() {
    return name == null ? "executor" : name;
  }

  Topics topics() {
    return topicPrefix == null ? Topics.withDefaultPrefix() : new Topics(topicPrefix);
  }

  String groupIdOrDefault() {
    return groupId == null ? topics().prefix() + "-executor" : groupId;
  }

  int maxInFlightOrDefault() {
    return positive("max_in_flight", maxInFlight, 1000);
  }

  int concurrencyOrDefault() {
    return positive("concurrency_per_remote", concurrencyPerRemote, 32);
  }

  Duration drainTimeoutOrDefault() {
    return drainTimeout == null ? Duration.ofSeconds(20) : drainTimeout;
  }

  int inlineBodyLimitOrDefault() {
    return inlineBodyLimit == null ? 65_536 : inlineBodyLimit;
  }

  Duration handlerTimeoutOrDefault() {
    return handlerTimeout == null ? Duration.ofMinutes(10) : handlerTimeout;
  }

  int breakerFailureRateOrDefault() {
    int rate = positive("breaker_failure_rate", breakerFailureRate, 50);
    if (rate > 100) {
      throw ExecutorException.configInvalid("breaker_failure_rate", "1 to 100");
    }
    return rate;
  }

  Duration breakerWaitOrDefault() {
    return breakerWait == null ? Duration.ofSeconds(10) : breakerWait;
  }

  boolean migrateOrDefault() {
    return migrate == null || migrate;
  }

  private static int positive(String member, @Nullable Integer value, int byDefault) {
    if (value != null && value < 1) {
      throw ExecutorException.configInvalid(member, "above zero");
    }
    return value == null ? byDefault : value;
  }

  /** Names of the passed-through settings only: their values may be passwords. */
  @Override
  public String toString() {
    return "ExecutorConfig[name="
        + nameOrDefault()
        + ", kafka="
        + new TreeSet<>(kafka.keySet())
        + ", registry="
        + new TreeSet<>(registry.keySet())
        + ", groupId="
        + groupIdOrDefault()
        + "]";
  }
}
