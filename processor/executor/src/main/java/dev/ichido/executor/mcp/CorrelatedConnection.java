package dev.ichido.executor.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Tells the answers to its own requests from everything else that passes. */
abstract class CorrelatedConnection implements McpConnection {
  private static final String LOST =
      "Expected an answer of the tool server, but the connection to it ended. Check the server.";

  private final Listener listener;
  private final String own = "ichido-" + UUID.randomUUID() + "-";
  private final AtomicLong count = new AtomicLong();
  private final ConcurrentMap<JsonNode, CompletableFuture<ObjectNode>> asked =
      new ConcurrentHashMap<>();
  private final ConcurrentMap<JsonNode, Boolean> passed = new ConcurrentHashMap<>();
  private final AtomicBoolean ended = new AtomicBoolean();

  CorrelatedConnection(Listener listener) {
    this.listener = listener;
  }

  /** Sends, or says whether the server may have got it; may also tell {@link #failed} later. */
  abstract void transmit(ObjectNode message) throws McpConnectionException;

  @Override
  public final void send(ObjectNode message) {
    boolean request = JsonRpc.isRequest(message);
    if (request) {
      passed.put(message.get("id"), true);
    }
    try {
      if (ended.get()) {
        throw McpConnectionException.notSent("CONNECTION_CLOSED", null);
      }
      transmit(message);
    } catch (McpConnectionException e) {
      failed(message, e);
    }
  }

  @Override
  public final CompletableFuture<ObjectNode> request(String method, ObjectNode params) {
    ObjectNode message = JsonRpc.request(own + count.incrementAndGet(), method, params);
    JsonNode id = message.get("id");
    CompletableFuture<ObjectNode> answer = new CompletableFuture<>();
    asked.put(id, answer);
    // Who stops waiting cancels, and what is answered later is nobody's.
    var unused = answer.whenComplete((told, failure) -> asked.remove(id));
    try {
      if (ended.get()) {
        throw McpConnectionException.notSent("CONNECTION_CLOSED", null);
      }
      transmit(message);
    } catch (McpConnectionException e) {
      failed(message, e);
    }
    return answer;
  }

  @Override
  public boolean isOpen() {
    return !ended.get();
  }

  final void received(ObjectNode message) {
    if (JsonRpc.isResponse(message)) {
      CompletableFuture<ObjectNode> answer = asked.remove(message.get("id"));
      if (answer != null) {
        answer.complete(message);
        return;
      }
      passed.remove(message.get("id"));
    }
    listener.received(message);
  }

  final void failed(ObjectNode message, McpConnectionException cause) {
    if (!JsonRpc.isRequest(message)) {
      return;
    }
    JsonNode id = message.get("id");
    CompletableFuture<ObjectNode> answer = asked.remove(id);
    if (answer != null) {
      answer.completeExceptionally(cause);
    } else if (passed.remove(id) != null) {
      listener.received(JsonRpc.error(id, LOST));
    }
  }

  /** Everything that still waits is told; more than one call is one. */
  final void ended(McpConnectionException cause) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    asked.values().forEach(answer -> answer.completeExceptionally(cause));
    passed.forEach(
        (id, yes) -> {
          if (passed.remove(id) != null) {
            listener.received(JsonRpc.error(id, LOST));
          }
        });
    listener.closed();
  }
}
