package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.config.IchidoConfig;
import dev.ichido.decision.ActionPolicy;
import dev.ichido.executor.mcp.McpContract;
import dev.ichido.gateway.McpTool;
import dev.ichido.outbox.KeyFields;
import dev.ichido.outbox.TenantKey;
import dev.ichido.topology.policy.LocatedTree;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** The tools of a server as actions of the policy. */
final class McpPolicy {
  private static final JsonMapper JSON = new JsonMapper();

  private McpPolicy() {}

  /** The contracts of one server's tools, by action. */
  static Map<String, McpContract> contracts(IchidoConfig config, String server) {
    Map<String, McpContract> own =
        new LinkedHashMap<>(McpContract.parse(config.policy().root().path("actions")));
    own.values().removeIf(contract -> !contract.server().equals(server));
    return own;
  }

  /**
   * Adds the tenant, and an action for each tool that has an effect and that the configuration does
   * not name. Their lease is long: a tool may take its time, and one that is killed is noticed.
   *
   * @param tools as the server describes them
   * @param key secret text of a tenant that is added
   */
  static IchidoConfig under(
      IchidoConfig config, McpSettings settings, Collection<JsonNode> tools, String key) {
    JsonNode given = config.policy().root();
    ObjectNode tenants = copy(given.path("tenants"));
    ObjectNode actions = copy(given.path("actions"));
    if (!tenants.has(settings.tenant())) {
      tenants
          .putObject(settings.tenant())
          .put("key", key)
          .putArray("principals")
          .add(settings.principal());
    }
    Collection<McpContract> named = contracts(config, settings.name()).values();
    for (JsonNode tool : tools) {
      String name = tool.path("name").asText();
      boolean read = tool.path("annotations").path("readOnlyHint").asBoolean(false);
      if (!read && named.stream().noneMatch(contract -> contract.tool().equals(name))) {
        ObjectNode action =
            actions
                .putObject(settings.name() + "." + name)
                .put("effect", "write")
                .put("lease", "10m")
                .put("retention", "24h")
                .put("tombstone", "30d");
        action.putObject("remote").put("status_read", false);
        action.putObject("mcp").put("server", settings.name()).put("tool", name);
      }
    }
    ObjectNode policy = JSON.createObjectNode();
    policy.set("tenants", tenants);
    policy.set("actions", actions);
    return config.withPolicy(new LocatedTree(policy, config.policy().lines()));
  }

  /** What the door needs to know of each tool that the policy names. */
  static Map<String, McpTool> tools(LivePolicy.Loaded loaded, String server) {
    Map<String, McpTool> tools = new LinkedHashMap<>();
    contracts(loaded.config(), server)
        .forEach(
            (action, contract) -> {
              ActionPolicy policy = loaded.rules().findAction(action).orElseThrow().policy();
              tools.put(
                  contract.tool(),
                  new McpTool(
                      action,
                      policy.effect() == ActionPolicy.ActionEffect.READ,
                      policy.retry().auto(),
                      contract.identity().isEmpty() ? null : new KeyFields(contract.identity())));
            });
    return tools;
  }

  /** The secret under which the door derives ids; of a tenant without one it protects nothing. */
  static TenantKey key(IchidoConfig config, String tenant) {
    String secret =
        config
            .policy()
            .root()
            .path("tenants")
            .path(tenant)
            .path("key")
            .asText("ichido development key of tenant " + tenant);
    return TenantKey.of(secret.getBytes(UTF_8));
  }

  private static ObjectNode copy(JsonNode node) {
    return node instanceof ObjectNode object ? object.deepCopy() : JSON.createObjectNode();
  }
}
