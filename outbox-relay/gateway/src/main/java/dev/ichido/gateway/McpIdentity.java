package dev.ichido.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.outbox.IdentityException;
import dev.ichido.outbox.KeyPart;
import dev.ichido.outbox.Lineage;
import dev.ichido.outbox.OperationIds;
import dev.ichido.outbox.TenantKey;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The operation id of a call, of the first that applies: {@code _meta}, the argument that the door
 * adds, declared key fields, lineage of {@code _meta}, and, where it is allowed, a window of time.
 * The id of the request is never one: a client sends a broken call again under another.
 */
final class McpIdentity {
  static final String META = "dev.ichido/";
  static final String OPERATION_ID = META + "operation-id";
  static final String LINEAGE = META + "lineage";
  static final String ARGUMENT = "operation_id";

  private final McpConfig config;
  private final Intake intake;

  McpIdentity(McpConfig config, Intake intake) {
    this.config = config;
    this.intake = intake;
  }

  /**
   * The id, if the call has an identity.
   *
   * @param argument the value of the door's own argument, if it was given
   * @param arguments as the tool gets them
   * @throws IdentityException where what was given is no identity
   */
  Optional<String> find(
      Caller caller,
      String scope,
      String tool,
      JsonNode meta,
      @Nullable String argument,
      ObjectNode arguments,
      Instant now) {
    // What is no text is no id, and is refused as one: another way would be another identity.
    if (meta.has(OPERATION_ID)) {
      return Optional.of(meta.path(OPERATION_ID).asText());
    }
    if (argument != null) {
      return Optional.of(argument);
    }
    TenantKey key = config.keys().apply(caller.tenant());
    McpTool known = config.tool(tool);
    if (known != null && known.identity() != null) {
      return Optional.of(
          OperationIds.fromKeyFields(key, known.action(), known.identity(), values(arguments)));
    }
    if (meta.path(LINEAGE).isObject()) {
      return Optional.of(OperationIds.fromLineage(key, lineage(meta.path(LINEAGE))));
    }
    return switch (config.unidentified()) {
      case REFUSE -> Optional.empty();
      case LINEAGE_WINDOW -> Optional.of(windowed(key, caller, scope, tool, arguments, now));
    };
  }

  private static Lineage lineage(JsonNode it) {
    return new Lineage(
        it.path("runtime").asText(),
        it.path("thread").asText(),
        it.path("turn").asText(),
        it.path("call").isTextual() ? it.path("call").asText() : null,
        it.path("index").asInt(0));
  }

  /** The id of the window that began before this one, while a call of then is not older than it. */
  private String windowed(
      TenantKey key, Caller caller, String scope, String tool, ObjectNode arguments, Instant now) {
    String meaning = canonical(arguments).toString();
    long current = now.toEpochMilli() / config.window().toMillis();
    String before = windowId(key, caller, tool, meaning, current - 1);
    boolean goesOn =
        intake
            .find(caller, scope, before)
            .filter(asked -> now.isBefore(asked.issuedAt().plus(config.window())))
            .isPresent();
    return goesOn ? before : windowId(key, caller, tool, meaning, current);
  }

  private static String windowId(
      TenantKey key, Caller caller, String tool, String meaning, long window) {
    return OperationIds.derive(
        key,
        "lineage-window",
        KeyPart.text(caller.principal()),
        KeyPart.text(tool),
        KeyPart.text(meaning),
        KeyPart.number(window));
  }

  /** Members in order and numbers by value; what it takes for one, the fingerprint judges. */
  private static JsonNode canonical(JsonNode node) {
    if (node.isObject()) {
      Map<String, JsonNode> members = new TreeMap<>();
      node.properties().forEach(it -> members.put(it.getKey(), canonical(it.getValue())));
      return McpJson.object().setAll(members);
    }
    if (node.isArray()) {
      var array = McpJson.JSON.createArrayNode();
      node.forEach(each -> array.add(canonical(each)));
      return array;
    }
    if (node.isNumber()) {
      BigDecimal number = node.decimalValue().stripTrailingZeros();
      return McpJson.JSON.getNodeFactory().numberNode(number);
    }
    return node;
  }

  private static Map<String, Object> values(ObjectNode arguments) {
    Map<String, Object> values = new HashMap<>();
    arguments
        .properties()
        .forEach(
            it -> {
              JsonNode value = it.getValue();
              if (value.isTextual()) {
                values.put(it.getKey(), value.textValue());
              } else if (value.isBoolean()) {
                values.put(it.getKey(), value.booleanValue());
              } else if (value.isNumber()) {
                values.put(it.getKey(), value.decimalValue());
              } else if (!value.isNull()) {
                values.put(it.getKey(), value);
              }
            });
    return values;
  }
}
