package dev.ichido.app;

import dev.ichido.config.ConfigException;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.decision.ActionPolicy;
import dev.ichido.executor.ExecutorException;
import dev.ichido.executor.http.ExecutorContracts;
import dev.ichido.executor.http.HttpContract;
import dev.ichido.executor.mcp.McpContract;
import dev.ichido.schemas.Topics;
import dev.ichido.topology.policy.ActionRules;
import dev.ichido.topology.policy.Ages;
import dev.ichido.topology.policy.PolicyException;
import dev.ichido.topology.policy.PolicyLoader;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tenants, actions and contracts of a configuration, which may change while the roles run. All
 * other sections are read once. What cannot be loaded is refused whole: the policy before stays,
 * the refusal is logged and counted.
 */
public final class LivePolicy implements AutoCloseable, MeterBinder {
  private static final Logger LOG = LoggerFactory.getLogger(LivePolicy.class);
  private static final Duration EVERY = Duration.ofSeconds(1);

  private final IchidoConfig config;
  private final Duration claimRetention;
  private final List<Consumer<Loaded>> takers = new CopyOnWriteArrayList<>();
  private final ScheduledExecutorService watcher =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("ichido-policy").factory());
  private final AtomicLong reloads = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();
  private final ConfigLoader loader;
  private @Nullable String found;
  private @Nullable String seen;
  private volatile Loaded current;

  /**
   * A policy with what carries it out.
   *
   * @param rules tenants and actions
   * @param contracts of the actions that are performed by HTTP
   * @param tools those of the actions that are tools of an MCP server
   * @param config what all of it was read from
   */
  record Loaded(
      PolicySet rules,
      Map<String, HttpContract> contracts,
      Map<String, McpContract> tools,
      IchidoConfig config) {}

  private LivePolicy(ConfigLoader loader, IchidoConfig config, @Nullable String text) {
    this.loader = loader;
    this.config = config;
    this.found = text;
    this.seen = text;
    this.current = load(config);
    this.claimRetention = claimRetention(config, current.rules());
  }

  /**
   * The policy of this configuration, which stays.
   *
   * @throws ConfigException CLAIM_RETENTION_SHORT
   * @throws PolicyException when tenants or actions cannot be loaded
   * @throws ExecutorException when a contract cannot
   */
  public static LivePolicy fixed(IchidoConfig config) {
    return new LivePolicy(ConfigLoader.ofProcess(), config, null);
  }

  /**
   * The policy of this file, which is looked at once a second.
   *
   * @throws ConfigException when the file cannot be loaded, now
   * @throws PolicyException when tenants or actions cannot
   * @throws ExecutorException when a contract cannot
   */
  public static LivePolicy of(Path file) {
    String text = ConfigLoader.read(file);
    LivePolicy policy = of(ConfigLoader.ofProcess(), file.toString(), text);
    var unused =
        policy.watcher.scheduleWithFixedDelay(
            () -> policy.look(() -> ConfigLoader.read(file)),
            EVERY.toMillis(),
            EVERY.toMillis(),
            TimeUnit.MILLISECONDS);
    return policy;
  }

  /** The policy of this text; nothing looks for another by itself. */
  static LivePolicy of(ConfigLoader loader, String source, String text) {
    return new LivePolicy(loader, loader.load(source, text), text);
  }

  /** The configuration as it was read first. */
  public IchidoConfig config() {
    return config;
  }

  /** Tenants and actions as they were loaded last. */
  public PolicySet rules() {
    return current.rules();
  }

  /** Whether an action is a tool of an MCP server. */
  boolean isTool(String action) {
    return current.tools().containsKey(action);
  }

  /** How long an executor keeps claims; a policy that asks for longer is refused. */
  Duration claimRetention() {
    return claimRetention;
  }

  /**
   * Gives every policy, the present one first, before it counts.
   *
   * @param taker refuses a policy by an exception
   */
  void take(Consumer<Loaded> taker) {
    taker.accept(current);
    takers.add(taker);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    FunctionCounter.builder("ichido.policy.reloads", reloads, AtomicLong::get)
        .description("Changed policies that were taken.")
        .register(registry);
    FunctionCounter.builder("ichido.policy.refusals", refusals, AtomicLong::get)
        .description("Changed policies that were refused; the one before stays.")
        .register(registry);
  }

  /**
   * Takes the source's text, if it is another than the one that was looked at last, and the same at
   * two looks: a file may be read while it is written.
   */
  synchronized void look(Supplier<String> source) {
    try {
      String text = source.get();
      boolean settled = text.equals(found);
      found = text;
      if (!settled || text.equals(seen)) {
        return;
      }
      seen = text;
      IchidoConfig next = loader.load(config.source(), text);
      if (next.policy().root().isEmpty() && !current.config().policy().root().isEmpty()) {
        throw ConfigException.valueWrong(
            next.source(), OptionalInt.empty(), "the file", "tenants and actions");
      }
      Loaded loaded = load(next);
      Duration least = claimRetention(next, loaded.rules());
      if (least.compareTo(claimRetention) > 0) {
        throw ConfigException.restartNeeded(next.source(), claimRetention, least);
      }
      takers.forEach(taker -> taker.accept(loaded));
      current = loaded;
      reloads.incrementAndGet();
      LOG.info(
          "Policy loaded from {}: {} actions.", next.source(), loaded.rules().actions().size());
    } catch (ConfigException | PolicyException | ExecutorException e) {
      refusals.incrementAndGet();
      LOG.error("Policy refused, the one before stays: {}", e.getMessage());
    } catch (RuntimeException | StackOverflowError e) {
      // Thrown on, it would end the looking.
      refusals.incrementAndGet();
      LOG.error("Policy refused, the one before stays: it can't be worked through", e);
    }
  }

  @Override
  public void close() {
    watcher.shutdownNow();
  }

  /**
   * As long as an operation of any action may start an attempt, is replayed or is remembered, and
   * as long as its command may be read again.
   *
   * @throws ConfigException CLAIM_RETENTION_SHORT
   */
  private static Duration claimRetention(IchidoConfig config, PolicySet rules) {
    Duration least =
        rules.actions().values().stream()
            .map(ActionRules::policy)
            .flatMap(
                policy ->
                    Stream.of(policy.retryHorizon(), policy.horizon(), Topics.WORK_RETENTION)
                        .map(policy.clockSkew()::plus))
            .max(Comparator.naturalOrder())
            .orElse(Topics.WORK_RETENTION);
    Duration given = config.executor().claimRetention();
    if (given != null && given.compareTo(least) < 0) {
      throw ConfigException.claimRetentionShort(config.source(), least);
    }
    return given == null ? least : given;
  }

  private static Loaded load(IchidoConfig config) {
    PolicySet rules =
        PolicyLoader.released()
            .loadFrom(
                config.policy(),
                new Ages(
                    Optional.ofNullable(config.outbox().maxAge()),
                    Optional.ofNullable(config.deadLetter().maxAge())));
    Map<String, HttpContract> contracts =
        ExecutorContracts.parse(config.policy().root().path("actions"));
    ExecutorContracts.requireFit(
        contracts,
        rules.actions().values().stream()
            .map(ActionRules::policy)
            .filter(action -> action.effect() == ActionPolicy.ActionEffect.WRITE)
            .collect(Collectors.toMap(ActionPolicy::name, ActionPolicy::remote)));
    return new Loaded(
        rules, contracts, McpContract.parse(config.policy().root().path("actions")), config);
  }
}
