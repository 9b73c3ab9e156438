package dev.ichido.app;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.config.DatabaseSection;
import dev.ichido.config.IchidoConfig;
import dev.ichido.executor.ExecutorRole;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.mcp.McpConnection;
import dev.ichido.executor.mcp.McpConnectionException;
import dev.ichido.executor.mcp.McpContract;
import dev.ichido.executor.mcp.McpServer;
import dev.ichido.executor.mcp.McpToolHandler;
import dev.ichido.executor.mcp.OwnSession;
import dev.ichido.gateway.GatewayConfig;
import dev.ichido.gateway.McpConfig;
import dev.ichido.gateway.McpRole;
import dev.ichido.gateway.McpTool;
import dev.ichido.gateway.McpUpstream;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The MCP door of one tool server, and the executor that calls its tools: in the session of the
 * client that asked where that is there, else in one of its own. The executors of a server are a
 * group of their own, so that the others leave its commands to them.
 */
public final class McpProxy implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(McpProxy.class);
  private static final Duration READY = Duration.ofSeconds(90);
  private static final int DOOR_CONNECTIONS = 8;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final McpRole door;
  private final RoleGroup roles;

  /**
   * Starts both.
   *
   * @param config with the servers
   * @param policy with the tools as actions; closed by the caller, after the door
   * @param migrate whether the tables are brought up to date
   */
  public static McpProxy start(
      IchidoConfig config,
      LivePolicy policy,
      McpSettings settings,
      boolean migrate,
      MeterRegistry meters)
      throws InterruptedException {
    McpProxy proxy = new McpProxy(config, policy, settings, migrate, meters);
    try {
      proxy.roles.start();
      proxy.roles.awaitReady(READY);
      return proxy;
    } catch (RuntimeException | InterruptedException e) {
      proxy.close();
      throw e;
    }
  }

  private McpProxy(
      IchidoConfig config,
      LivePolicy policy,
      McpSettings settings,
      boolean migrate,
      MeterRegistry meters) {
    HikariDataSource writing =
        pool(config, config.outbox().database(), "outbox", "mcp-outbox", DOOR_CONNECTIONS);
    HikariDataSource reading =
        pool(config, config.inbox().database(), "inbox.database", "mcp-inbox", DOOR_CONNECTIONS);
    HikariDataSource claims =
        pool(config, config.executor().database(), "executor.database", "mcp-executor", 16);
    OwnSession own = new OwnSession(settings.server());
    opened.push(own);
    AtomicReference<IchidoConfig> rules = new AtomicReference<>(policy.config());
    AtomicReference<Map<String, McpTool>> tools = new AtomicReference<>(Map.of());
    policy.take(
        loaded -> {
          rules.set(loaded.config());
          tools.set(McpPolicy.tools(loaded, settings.name()));
        });
    door =
        new McpRole(
            new McpConfig(
                settings.tenant(),
                settings.principal(),
                tenant -> McpPolicy.key(rules.get(), tenant),
                settings.name(),
                tools::get,
                settings.unidentified(),
                settings.window(),
                settings.answerWithin()),
            received -> session(settings.server(), received),
            writing,
            reading,
            Roles.bodies(claims),
            migrate);
    opened.push(door);
    ExecutorRole executor = executor(config, policy, settings, own, claims, migrate, meters);
    opened.push(executor);
    roles =
        new RoleGroup(
            List.of(
                new RunningRole("MCP door", door::start, door::ready, door::failure, door::close),
                new RunningRole(
                    "executor of tools",
                    executor::start,
                    executor::ready,
                    executor::failure,
                    executor::close)));
  }

  private HikariDataSource pool(
      IchidoConfig config, DatabaseSection section, String path, String name, int size) {
    HikariDataSource pool = Roles.pool(config, section, path, name, size);
    opened.push(pool);
    return pool;
  }

  private ExecutorRole executor(
      IchidoConfig config,
      LivePolicy policy,
      McpSettings settings,
      OwnSession own,
      DataSource claims,
      boolean migrate,
      MeterRegistry meters) {
    Map<String, ToolHandler> handlers = new ConcurrentHashMap<>();
    policy.take(
        loaded -> {
          Map<String, McpContract> contracts =
              McpPolicy.contracts(loaded.config(), settings.name());
          contracts.forEach(
              (action, contract) ->
                  handlers.put(
                      action,
                      new McpToolHandler(
                          contract, (command, params) -> call(own, command, params))));
          handlers.keySet().retainAll(contracts.keySet());
        });
    // Mostly the group's only member, and nothing is called until a killed one is given up on.
    Map<String, String> kafka = new HashMap<>(config.kafka().values());
    kafka.putIfAbsent("session.timeout.ms", "6000");
    return new ExecutorRole(
        Roles.executorConfig(
            config,
            "mcp-" + settings.name(),
            kafka,
            config.topics().prefix() + "-executor-mcp-" + settings.name(),
            policy.claimRetention(),
            migrate),
        claims,
        handlers,
        meters,
        Clock.systemUTC(),
        handlers::containsKey);
  }

  private CompletableFuture<ObjectNode> call(OwnSession own, ToolCommand command, ObjectNode params)
      throws McpConnectionException, InterruptedException {
    String operationId = command.operationId();
    Optional<CompletableFuture<ObjectNode>> asked =
        operationId == null
            ? Optional.empty()
            : door.call(command.tenant(), command.principal(), operationId, params);
    return asked.isPresent() ? asked.get() : own.call(command, params);
  }

  private static McpUpstream.Session session(McpServer server, Consumer<ObjectNode> received)
      throws McpConnectionException {
    McpConnection connection =
        server.open(
            new McpConnection.Listener() {
              @Override
              public void received(ObjectNode message) {
                received.accept(message);
              }

              @Override
              public void closed() {
                LOG.warn("The session with the tool server ended");
              }
            });
    return new McpUpstream.Session() {
      @Override
      public void send(ObjectNode message) {
        connection.send(message);
      }

      @Override
      public CompletableFuture<ObjectNode> request(String method, ObjectNode params) {
        return connection.request(method, params);
      }

      @Override
      public boolean isOpen() {
        return connection.isOpen();
      }

      @Override
      public void close() {
        connection.close();
      }
    };
  }

  /** Serves one client and returns when it has closed its side. */
  public void serve(InputStream in, OutputStream out) throws IOException, InterruptedException {
    door.serve(in, out);
  }

  /** Serves clients over Streamable HTTP; returns the address. */
  public String listen(GatewayConfig http, boolean anyHost) {
    return door.listen(http, anyHost);
  }

  /** Says what stopped by itself, if something did. */
  public void requireAlive() {
    roles.requireAlive();
  }

  /** The executor first: what it calls needs the sessions to be answered. */
  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        LOG.warn("A part of the MCP door did not close cleanly", e);
      }
    }
  }
}
