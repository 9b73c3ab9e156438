package dev.ichido.executor.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.executor.CallFacts;
import dev.ichido.executor.ResultBody;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.ToolOutcome;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Performs an action by one {@code tools/call}. It waits for the answer beyond the lease, since a
 * late result settles what is unknown by then; the executor ends the wait by an interruption. The
 * body of the outcome is the tool's result as it was answered, or {@code {"error": ...}} where the
 * server answered with an error of JSON-RPC. Whatever is neither a result nor an error that says
 * that no tool ran is unknown.
 */
public final class McpToolHandler implements ToolHandler {
  /** In {@code _meta}: the operation. */
  public static final String OPERATION_ID = "dev.ichido/operation-id";

  /** In {@code _meta}: a key that is equal for every attempt of the operation. */
  public static final String IDEMPOTENCY_KEY = "dev.ichido/idempotency-key";

  /** Parse error, invalid request, unknown method, invalid parameters: refused before any tool. */
  private static final Set<Integer> NOT_RUN = Set.of(-32700, -32600, -32601, -32602);

  private final McpContract contract;
  private final ToolServer server;

  public McpToolHandler(McpContract contract, ToolServer server) {
    this.contract = contract;
    this.server = server;
  }

  @Override
  public String remote() {
    return "mcp:" + contract.server();
  }

  @Override
  public ToolOutcome execute(ToolCommand command) throws InterruptedException {
    ObjectNode params;
    try {
      params = params(command);
    } catch (JsonProcessingException | ClassCastException e) {
      return new ToolOutcome.FailedTerminal("ARGUMENTS_NO_OBJECT", null, CallFacts.NONE);
    }
    CompletableFuture<ObjectNode> answer;
    try {
      answer = server.call(command, params);
    } catch (McpConnectionException e) {
      return notAnswered(e);
    }
    try {
      return judge(answer.get());
    } catch (InterruptedException e) {
      answer.cancel(false);
      throw e;
    } catch (ExecutionException e) {
      return e.getCause() instanceof McpConnectionException cause
          ? notAnswered(cause)
          : ToolOutcome.unknown("CALL_FAILED");
    }
  }

  private ObjectNode params(ToolCommand command) throws JsonProcessingException {
    ObjectNode params = JsonRpc.JSON.createObjectNode().put("name", contract.tool());
    ObjectNode arguments = (ObjectNode) JsonRpc.JSON.readTree(command.arguments());
    if (contract.keyArgument() != null && command.downstreamKey() != null) {
      arguments.put(contract.keyArgument(), command.downstreamKey());
    }
    params.set("arguments", arguments);
    ObjectNode meta = params.putObject("_meta");
    if (command.operationId() != null) {
      meta.put(OPERATION_ID, command.operationId());
    }
    if (command.downstreamKey() != null) {
      meta.put(IDEMPOTENCY_KEY, command.downstreamKey());
    }
    return params;
  }

  private static ToolOutcome notAnswered(McpConnectionException e) {
    return e.mayBeSent()
        ? new ToolOutcome.Unknown(e.reason(), null, CallFacts.ONE_CALL)
        : new ToolOutcome.FailedRetryable(e.reason(), null, CallFacts.NONE);
  }

  private ToolOutcome judge(ObjectNode answer) {
    JsonNode error = answer.get("error");
    if (error != null) {
      ObjectNode body = JsonRpc.JSON.createObjectNode();
      body.set("error", error);
      return NOT_RUN.contains(error.path("code").asInt())
          ? new ToolOutcome.FailedTerminal("REFUSED_BY_SERVER", text(body), CallFacts.ONE_CALL)
          : new ToolOutcome.Unknown("SERVER_ERROR", text(body), CallFacts.ONE_CALL);
    }
    JsonNode result = answer.path("result");
    if (!result.isObject()) {
      return ToolOutcome.unknown("ANSWER_MALFORMED");
    }
    if (!result.path("isError").asBoolean()) {
      return new ToolOutcome.Succeeded(reference(result), text(result), null, CallFacts.ONE_CALL);
    }
    return switch (contract.toolError()) {
      case TERMINAL ->
          new ToolOutcome.FailedTerminal("TOOL_ERROR", text(result), CallFacts.ONE_CALL);
      case UNKNOWN -> new ToolOutcome.Unknown("TOOL_ERROR", text(result), CallFacts.ONE_CALL);
      case NOT_ACCEPTED ->
          new ToolOutcome.FailedRetryable("TOOL_ERROR", text(result), CallFacts.ONE_CALL);
    };
  }

  /** A text or number that names something. */
  private @Nullable String reference(JsonNode result) {
    return contract.reference() == null
        ? null
        : contract
            .reference()
            .find(result)
            .filter(node -> node.isTextual() || node.isNumber())
            .map(JsonNode::asText)
            .filter(text -> !text.isBlank())
            .orElse(null);
  }

  private static ResultBody text(JsonNode node) {
    return ResultBody.text(node.toString());
  }
}
