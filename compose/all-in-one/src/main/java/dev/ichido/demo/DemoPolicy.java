package dev.ichido.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.cli.CommandException;
import dev.ichido.config.IchidoConfig;
import dev.ichido.topology.policy.LocatedTree;
import java.net.URLEncoder;
import java.util.List;

/** Tenants and actions of the demo, laid under those of a configuration. */
final class DemoPolicy {
  private static final JsonMapper JSON = new JsonMapper();

  private DemoPolicy() {}

  /**
   * Adds what the calls need and the configuration does not have.
   *
   * @param strict whether a tool that the configuration does not have is refused
   * @param port where the demo's remote listens
   * @param tenantKey secret text under which the demo's tenants fingerprint
   * @throws CommandException TOOL_UNKNOWN, TOOL_EFFECT
   */
  static IchidoConfig under(
      IchidoConfig config,
      String source,
      List<ToolCall> calls,
      boolean strict,
      int port,
      String tenantKey) {
    JsonNode given = config.policy().root();
    ObjectNode tenants = copy(given.path("tenants"));
    ObjectNode actions = copy(given.path("actions"));
    for (ToolCall call : calls) {
      String tenant = call.tenant() == null ? DemoPlan.TENANT : call.tenant();
      if (!tenants.has(tenant)) {
        tenants
            .putObject(tenant)
            .put("key", tenantKey)
            .putArray("principals")
            .add(DemoPlan.PRINCIPAL);
      }
      JsonNode known = actions.path(call.tool());
      if (known.isMissingNode() && strict) {
        throw CommandException.usage(
            "TOOL_UNKNOWN",
            "Expected the tool of line "
                + call.line()
                + " of "
                + source
                + " among the actions of "
                + config.source()
                + ", but "
                + call.tool()
                + " is not there. Add it, or leave --strict out. Nothing was sent.");
      }
      String effect = call.isWrite() ? "write" : "read";
      if (known.isMissingNode()) {
        actions.set(call.tool(), action(call, port));
      } else if (!known.path("effect").asText("write").equals(effect)) {
        throw CommandException.usage(
            "TOOL_EFFECT",
            "Expected one effect for the tool "
                + call.tool()
                + ", but line "
                + call.line()
                + " of "
                + source
                + " says "
                + effect
                + " and another place says the other. Check both. Nothing was sent.");
      }
    }
    ObjectNode policy = JSON.createObjectNode();
    policy.set("tenants", tenants);
    policy.set("actions", actions);
    return config.withPolicy(new LocatedTree(policy, config.policy().lines()));
  }

  /** Short times, so that a run that was killed is settled while one looks on. */
  private static ObjectNode action(ToolCall call, int port) {
    String tool = URLEncoder.encode(call.tool(), UTF_8).replace("+", "%20");
    String remote = "http://127.0.0.1:" + port;
    ObjectNode action = JSON.createObjectNode().put("effect", call.isWrite() ? "write" : "read");
    ObjectNode http = JSON.createObjectNode().put("remote", "demo").put("method", "POST");
    if (!call.isWrite()) {
      http.put("url", remote + "/reads/" + tool);
      action.set("http", http);
      return action;
    }
    action.put("lease", "5s").put("retention", "24h").put("tombstone", "3650d");
    ObjectNode retry = action.putObject("retry").put("max_attempts", 5);
    retry.put("initial", "200ms").put("max", "2s");
    retry.putObject("budget").put("tokens", 1000).put("refill", "100/s");
    ObjectNode contract = action.putObject("remote").put("status_read", true);
    contract.putObject("absent_after").put("reads", 2).put("over", "1s");
    http.put("url", remote + "/effects/" + tool);
    http.putObject("headers")
        .put("Demo-Tenant", "{tenant}")
        .put("Demo-Operation", "{operation_id}");
    http.putObject("key").put("header", "Idempotency-Key");
    http.put("reference", "$.effect");
    ObjectNode status =
        http.putObject("status")
            .put("url", remote + "/effects?tenant={tenant}&operation={operation_id}")
            .put("found", "$.effect")
            .put("reference", "$.effect");
    status.putArray("expected").add("200");
    status.putArray("absent").add("404");
    action.set("http", http);
    return action;
  }

  private static ObjectNode copy(JsonNode node) {
    return node instanceof ObjectNode object ? object.deepCopy() : JSON.createObjectNode();
  }
}
