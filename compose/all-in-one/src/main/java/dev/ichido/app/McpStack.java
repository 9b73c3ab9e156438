package dev.ichido.app;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.cli.CommandException;
import dev.ichido.config.IchidoConfig;
import dev.ichido.demo.DemoSetup;
import dev.ichido.embedded.DataFolder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** The MCP door with what it stands on: a stack of this process, or one that runs elsewhere. */
public final class McpStack implements AutoCloseable {
  /** Calls that still run this long after the wish to end are reported as unknown. */
  public static final Duration DRAIN = Duration.ofSeconds(4);

  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final Deque<AutoCloseable> opened;
  private final McpProxy proxy;
  private final LivePolicy policy;
  private final @Nullable Stack stack;

  private McpStack(
      Deque<AutoCloseable> opened, McpProxy proxy, LivePolicy policy, @Nullable Stack stack) {
    this.opened = opened;
    this.proxy = proxy;
    this.policy = policy;
    this.stack = stack;
  }

  /**
   * Beside roles that run elsewhere, under a policy that names the tools.
   *
   * @param config with the servers
   * @param policy closed with the rest
   * @throws CommandException TOOLS_UNNAMED
   */
  public static McpStack beside(
      IchidoConfig config, LivePolicy policy, McpSettings settings, boolean migrate)
      throws InterruptedException {
    if (McpPolicy.contracts(policy.config(), settings.name()).isEmpty()) {
      throw CommandException.usage(
          "TOOLS_UNNAMED",
          "Expected actions with mcp.server "
              + settings.name()
              + " in "
              + config.source()
              + ", under which the stack runs, but there is none. Add them, or give a --data folder"
              + " on which no stack runs.");
    }
    Deque<AutoCloseable> opened = new ArrayDeque<>();
    opened.push(policy);
    try {
      new Preflight(config, PATIENCE).require(LoneRole.Kind.EXECUTOR);
      McpProxy proxy = McpProxy.start(config, policy, settings, migrate, new SimpleMeterRegistry());
      opened.push(proxy);
      return new McpStack(opened, proxy, policy, null);
    } catch (RuntimeException | InterruptedException e) {
      close(opened);
      throw e;
    }
  }

  /**
   * With a stack of its own in a data folder, and an action for each tool that is not read-only.
   *
   * @param given tenants, actions and tuning
   */
  public static McpStack alone(
      Path data,
      IchidoConfig given,
      McpSettings settings,
      List<JsonNode> tools,
      Consumer<String> progress)
      throws InterruptedException {
    Deque<AutoCloseable> opened = new ArrayDeque<>();
    try {
      DataFolder folder = DataFolder.open(data);
      opened.push(folder);
      String key = DemoSetup.readOrMintKey(folder);
      LivePolicy policy = LivePolicy.fixed(McpPolicy.under(given, settings, tools, key));
      opened.push(policy);
      Stack stack = Stack.start(folder, Stack.Ports.FREE, policy, progress);
      opened.push(stack);
      McpProxy proxy =
          McpProxy.start(stack.config(), policy, settings, false, new SimpleMeterRegistry());
      opened.push(proxy);
      return new McpStack(opened, proxy, policy, stack);
    } catch (RuntimeException | InterruptedException e) {
      close(opened);
      throw e;
    }
  }

  public McpProxy proxy() {
    return proxy;
  }

  /** As it was given: whose clients are let in over HTTP. */
  public IchidoConfig given() {
    return policy.config();
  }

  /**
   * The stack of this process.
   *
   * @throws IllegalStateException when it is another's
   */
  Stack stack() {
    if (stack == null) {
      throw new IllegalStateException("Expected a stack of this process, but it is another's.");
    }
    return stack;
  }

  /** Says what stopped by itself, if something did. */
  public void requireAlive() {
    proxy.requireAlive();
    if (stack != null) {
      stack.requireAlive();
    }
  }

  @Override
  public void close() {
    close(opened);
  }

  private static void close(Deque<AutoCloseable> opened) {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        LoggerFactory.getLogger(McpStack.class).warn("A part did not close cleanly", e);
      }
    }
  }
}
