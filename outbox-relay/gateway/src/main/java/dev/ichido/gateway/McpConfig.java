package dev.ichido.gateway;

import dev.ichido.outbox.TenantKey;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the MCP door.
 *
 * @param tenant of the callers, where no credential says another
 * @param principal of the callers, likewise
 * @param keys the secret of a tenant, under which ids are derived
 * @param prefix what the action of a tool that the policy does not name begins with
 * @param tools what the policy says by now, by the tool's name
 * @param unidentified what becomes of a call that has an effect and no identity
 * @param window within which equal calls are one, under {@link Unidentified#LINEAGE_WINDOW}
 * @param answerWithin how long a call is held before it is answered that it goes on; below the
 *     timeout of the clients
 */
public record McpConfig(
    String tenant,
    String principal,
    Function<String, TenantKey> keys,
    String prefix,
    Supplier<Map<String, McpTool>> tools,
    Unidentified unidentified,
    Duration window,
    Duration answerWithin) {

  /** What becomes of a call that has an effect and no identity. */
  public enum Unidentified {
    /** It is refused. */
    REFUSE,
    /**
     * Equal calls of one principal within a time are one operation. Two that are meant twice become
     * one, and a retry after that time is another.
     */
    LINEAGE_WINDOW
  }

  /** What the policy says of a tool; null where it does not name it. */
  @Nullable McpTool tool(String name) {
    return tools.get().get(name);
  }

  /** Whether the next attempt of an action begins by itself; so it does where nothing is said. */
  boolean retried(@Nullable String action) {
    return tools.get().values().stream()
        .filter(tool -> tool.action().equals(action))
        .allMatch(McpTool::retried);
  }

  /** The action of a tool, named in the policy or not. */
  String action(String tool) {
    McpTool known = tool(tool);
    return known == null ? prefix + "." + tool : known.action();
  }
}
