package dev.ichido.executor.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.executor.ExecutorException;
import dev.ichido.executor.http.AnswerPath;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How an action is a tool of an MCP server: the member {@code mcp} of an action.
 *
 * <pre>
 * mcp:
 *   server: payments           # the name that ./ichido mcp --name gives
 *   tool: create_payment
 *   identity: [invoice_id]     # arguments that tell one operation from every other; read by the door
 *   key_argument: request_id   # an argument that takes our key, where the tool dedupes on one
 *   tool_error: terminal       # what isError means: terminal (default), unknown, not_accepted
 *   reference: $.structuredContent.id
 * </pre>
 *
 * @param keyArgument null where the tool has no such argument
 * @param reference into the result; null where it names no effect
 */
public record McpContract(
    String server,
    String tool,
    List<String> identity,
    @Nullable String keyArgument,
    ToolError toolError,
    @Nullable AnswerPath reference) {

  private static final Set<String> MEMBERS =
      Set.of("server", "tool", "identity", "key_argument", "tool_error", "reference");

  /** What a result with {@code isError} says about the effect. */
  public enum ToolError {
    /** It is the tool's last word: it is told again, and nothing runs again under the id. */
    TERMINAL,
    /** There may be an effect. */
    UNKNOWN,
    /** There is none, and another attempt may follow. */
    NOT_ACCEPTED
  }

  public McpContract {
    identity = List.copyOf(identity);
  }

  /**
   * The contracts of the actions that have one, by action.
   *
   * @param actions the policy's {@code actions}
   * @throws ExecutorException CONTRACT_INVALID with the action and the member
   */
  public static Map<String, McpContract> parse(JsonNode actions) {
    Map<String, McpContract> contracts = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> action : actions.properties()) {
      JsonNode mcp = action.getValue().path("mcp");
      if (!mcp.isMissingNode() && !mcp.isNull()) {
        if (action.getValue().hasNonNull("http")) {
          throw invalid("actions." + action.getKey(), "one of http and mcp");
        }
        contracts.put(action.getKey(), contract("actions." + action.getKey() + ".mcp", mcp));
      }
    }
    return contracts;
  }

  private static McpContract contract(String path, JsonNode mcp) {
    if (!mcp.isObject()) {
      throw invalid(path, "an object");
    }
    mcp.fieldNames()
        .forEachRemaining(
            name -> {
              if (!MEMBERS.contains(name)) {
                throw invalid(path + "." + name, "one of " + MEMBERS.stream().sorted().toList());
              }
            });
    JsonNode names = mcp.path("identity");
    if (!names.isMissingNode() && !names.isNull() && !names.isArray()) {
      throw invalid(path + ".identity", "a list of names of arguments");
    }
    List<String> identity = new ArrayList<>();
    for (JsonNode name : names) {
      if (!name.isTextual()) {
        throw invalid(path + ".identity", "a list of names of arguments");
      }
      identity.add(name.textValue());
    }
    String server = text(path, mcp, "server");
    String tool = text(path, mcp, "tool");
    if (server == null || tool == null) {
      throw invalid(path, "a server and a tool");
    }
    return new McpContract(
        server,
        tool,
        identity,
        text(path, mcp, "key_argument"),
        toolError(path, text(path, mcp, "tool_error")),
        reference(path, text(path, mcp, "reference")));
  }

  private static ToolError toolError(String path, @Nullable String word) {
    try {
      return word == null ? ToolError.TERMINAL : ToolError.valueOf(word.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw invalid(path + ".tool_error", "terminal, unknown or not_accepted");
    }
  }

  private static @Nullable AnswerPath reference(String path, @Nullable String text) {
    try {
      return text == null ? null : AnswerPath.compile(text);
    } catch (IllegalArgumentException e) {
      throw invalid(path + ".reference", "a JSONPath such as $.structuredContent.id");
    }
  }

  private static @Nullable String text(String path, JsonNode mcp, String name) {
    JsonNode node = mcp.path(name);
    if (node.isMissingNode() || node.isNull()) {
      return null;
    }
    if (!node.isTextual() || node.textValue().isBlank()) {
      throw invalid(path + "." + name, "a text");
    }
    return node.textValue();
  }

  private static ExecutorException invalid(String path, String expected) {
    return ExecutorException.contractInvalid(
        path, "Expected " + expected + ", but there is something else. Check the contract.");
  }
}
