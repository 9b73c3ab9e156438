package dev.ichido.app;

import dev.ichido.config.IchidoConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** One role of a process of its own, with its endpoint of health and metrics. */
public final class LoneRole implements AutoCloseable {
  /** A processor may have to restore its stores. */
  private static final Duration READY = Duration.ofMinutes(10);

  /** Kafka may just be starting. */
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final RoleGroup role;
  private final HealthEndpoint health;
  private final PrometheusMeterRegistry meters;

  /** Which role. */
  public enum Kind {
    RELAY,
    PROCESSOR,
    EXECUTOR,
    INBOX,
    GATEWAY;

    /** As it is typed. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private LoneRole(RoleGroup role, HealthEndpoint health, PrometheusMeterRegistry meters) {
    this.role = role;
    this.health = health;
    this.meters = meters;
  }

  /** Starts it and returns when it does its work. */
  public static LoneRole start(Kind kind, IchidoConfig config) throws InterruptedException {
    return start(kind, config, LivePolicy.fixed(config));
  }

  /**
   * Starts it with a policy that may change.
   *
   * @param policy closed by the caller, after the role
   */
  public static LoneRole start(Kind kind, IchidoConfig config, LivePolicy policy)
      throws InterruptedException {
    return start(kind, config, policy, Clocks.SYSTEM);
  }

  /** Starts it by other clocks than the machine's; executor and processor take their time there. */
  public static LoneRole start(Kind kind, IchidoConfig config, LivePolicy policy, Clocks clocks)
      throws InterruptedException {
    PrometheusMeterRegistry meters = Meters.create();
    policy.bindTo(meters);
    Roles roles = new Roles(config, policy, meters, true, clocks);
    RunningRole made =
        switch (kind) {
          case RELAY -> roles.relay();
          case PROCESSOR -> roles.processor();
          case EXECUTOR -> roles.executor();
          case INBOX -> roles.inbox();
          case GATEWAY -> roles.gateway().role();
        };
    RoleGroup group = new RoleGroup(List.of(made));
    HealthEndpoint health;
    try {
      new Preflight(config, PATIENCE).require(kind);
      health =
          HealthEndpoint.start(config.http().host(), config.http().port(), List.of(made), meters);
    } catch (RuntimeException e) {
      group.close();
      throw e;
    }
    LoneRole role = new LoneRole(group, health, meters);
    try {
      group.start();
      group.awaitReady(READY);
      return role;
    } catch (RuntimeException | InterruptedException e) {
      role.close();
      throw e;
    }
  }

  public String httpUrl() {
    return health.url();
  }

  /** Returns only by an interrupt or because the role stopped by itself. */
  public void awaitFailure() throws InterruptedException {
    role.awaitFailure(Optional::empty);
  }

  @Override
  public void close() {
    role.close();
    health.close();
    meters.close();
  }
}
