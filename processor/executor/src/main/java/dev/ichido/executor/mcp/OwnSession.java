package dev.ichido.executor.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.executor.ToolCommand;
import io.modelcontextprotocol.spec.ProtocolVersions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A session of the executor's own, begun when it is first needed and anew when it is lost. It has
 * no model and no person to ask, so it offers neither sampling nor elicitation.
 */
public final class OwnSession implements ToolServer, AutoCloseable {
  private static final Duration HANDSHAKE = Duration.ofSeconds(60);
  private static final int METHOD_NOT_FOUND = -32601;

  private final McpServer server;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable McpConnection connection;

  public OwnSession(McpServer server) {
    this.server = server;
  }

  @Override
  public CompletableFuture<ObjectNode> call(ToolCommand command, ObjectNode params)
      throws McpConnectionException, InterruptedException {
    return connected().request("tools/call", params);
  }

  /**
   * All tools, as the server describes them.
   *
   * @throws McpConnectionException when it does not answer
   */
  public List<JsonNode> tools() throws McpConnectionException, InterruptedException {
    List<JsonNode> tools = new ArrayList<>();
    ObjectNode params = JsonRpc.JSON.createObjectNode();
    while (true) {
      JsonNode result = await(connected().request("tools/list", params.deepCopy())).path("result");
      result.path("tools").forEach(tools::add);
      if (!result.path("nextCursor").isTextual()) {
        return tools;
      }
      params.set("cursor", result.get("nextCursor"));
    }
  }

  private McpConnection connected() throws McpConnectionException, InterruptedException {
    lock.lockInterruptibly();
    try {
      if (connection != null && connection.isOpen()) {
        return connection;
      }
      if (connection != null) {
        connection.close();
        connection = null;
      }
      Polite listener = new Polite();
      McpConnection begun = server.open(listener);
      listener.connection.set(begun);
      try {
        ObjectNode params =
            JsonRpc.JSON.createObjectNode().put("protocolVersion", ProtocolVersions.MCP_2025_11_25);
        params.putObject("capabilities");
        params.putObject("clientInfo").put("name", "ichido").put("version", "1");
        await(begun.request("initialize", params));
        begun.send(JsonRpc.notification("notifications/initialized"));
        connection = begun;
      } finally {
        if (connection == null) {
          begun.close();
        }
      }
      return begun;
    } finally {
      lock.unlock();
    }
  }

  /** Whatever goes wrong here, no tool was called. */
  private static ObjectNode await(CompletableFuture<ObjectNode> answer)
      throws McpConnectionException, InterruptedException {
    try {
      ObjectNode message = answer.get(HANDSHAKE.toSeconds(), TimeUnit.SECONDS);
      if (message.has("error")) {
        throw McpConnectionException.notSent("SESSION_REFUSED", null);
      }
      return message;
    } catch (ExecutionException | TimeoutException e) {
      throw McpConnectionException.notSent("SESSION_REFUSED", e);
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (connection != null) {
        connection.close();
        connection = null;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Answers what a server may ask of any client, and refuses the rest. */
  private static final class Polite implements McpConnection.Listener {
    private final AtomicReference<@Nullable McpConnection> connection = new AtomicReference<>();

    @Override
    public void received(ObjectNode message) {
      McpConnection to = connection.get();
      if (to == null || !JsonRpc.isRequest(message)) {
        return;
      }
      ObjectNode answer = JsonRpc.JSON.createObjectNode().put("jsonrpc", "2.0");
      answer.set("id", message.get("id"));
      if (message.path("method").asText().equals("ping")) {
        answer.putObject("result");
      } else {
        answer
            .putObject("error")
            .put("code", METHOD_NOT_FOUND)
            .put(
                "message",
                "Expected a method of a client without capabilities, but it is another.");
      }
      to.send(answer);
    }

    @Override
    public void closed() {
      // The next call finds it closed.
    }
  }
}
