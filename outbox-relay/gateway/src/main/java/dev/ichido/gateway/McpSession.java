package dev.ichido.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client and its own session with the tool server. Messages pass in both directions as they
 * are, but for the list of tools, calls of tools, and the cancellation of those that the door
 * holds. A session with the server that was lost is begun anew, with the client's own handshake.
 */
final class McpSession implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(McpSession.class);
  private static final Duration OWN_REQUEST = Duration.ofSeconds(30);

  /** How long a client that closed its side is still answered. */
  private static final Duration GRACE = Duration.ofSeconds(30);

  private final Caller caller;
  private final McpUpstream upstream;
  private final McpDoor door;
  private final Consumer<ObjectNode> client;
  private final ReentrantLock lock = new ReentrantLock();
  private final Set<JsonNode> unanswered = new HashSet<>();
  private final ConcurrentMap<JsonNode, Boolean> listings = new ConcurrentHashMap<>();

  /** Calls that the door holds, by the id of their request. */
  private final ConcurrentMap<JsonNode, Held> held = new ConcurrentHashMap<>();

  /** Operations that this client asked for and that are not settled, with the {@code _meta}. */
  private final ConcurrentMap<String, JsonNode> open = new ConcurrentHashMap<>();

  private McpUpstream.@Nullable Session server;
  private @Nullable JsonNode initialize;
  private boolean closed;
  private volatile @Nullable Map<String, JsonNode> tools;

  /** A call whose operation is not known yet. */
  private static final Held TAKEN = new Held("", "");

  /** An operation that a request waits for. */
  record Held(String scope, String operationId) {}

  /**
   * @param client takes what is for the client; called by several threads
   */
  McpSession(Caller caller, McpUpstream upstream, McpDoor door, Consumer<ObjectNode> client) {
    this.caller = caller;
    this.upstream = upstream;
    this.door = door;
    this.client = client;
  }

  Caller caller() {
    return caller;
  }

  /** A message of the client; returns soon. */
  void fromClient(ObjectNode message) {
    if (McpJson.isRequest(message)) {
      synchronized (unanswered) {
        unanswered.add(message.get("id"));
      }
    }
    switch (McpJson.method(message)) {
      case "initialize" -> {
        initialize = message.path("params").deepCopy();
        forward(message);
      }
      case "tools/list" -> {
        if (message.has("id")) {
          listings.put(message.get("id"), true);
        }
        forward(message);
      }
      case "tools/call" -> {
        Map<String, JsonNode> known = tools;
        if (!message.has("id")) {
          LOG.debug("A call without an id is left out, since nobody can be told of it");
        } else if (known != null && door.passes(message, known)) {
          forward(message);
        } else {
          held.put(message.get("id"), TAKEN);
          Thread.ofVirtual().name("ichido-mcp-call").start(() -> call(message));
        }
      }
      case "notifications/cancelled" -> {
        JsonNode id = message.path("params").path("requestId");
        answered(id);
        Held call = held.remove(id);
        if (call == null) {
          forward(message);
        } else if (!call.equals(TAKEN)) {
          Thread.ofVirtual().name("ichido-mcp-cancel").start(() -> door.cancel(caller, call));
        }
      }
      default -> forward(message);
    }
  }

  private void call(ObjectNode message) {
    try {
      Map<String, JsonNode> known = tools();
      if (door.passes(message, known)) {
        if (held.remove(message.get("id")) != null) {
          forward(message);
        }
      } else {
        door.call(this, message, known);
      }
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      LOG.error("A tool call failed in the door", e);
      release(
          McpJson.error(
              message.path("id"),
              McpJson.INTERNAL,
              "Expected the door to take the call, but it failed: "
                  + e.getMessage()
                  + " Whether the call was taken on, its operation's status tells."));
    }
  }

  /**
   * Holds a call; its answer is sent only while it is held.
   *
   * @return false where it was cancelled before; then it must not begin
   */
  boolean hold(JsonNode id, Held call, JsonNode meta) {
    boolean holds = held.replace(id, TAKEN, call);
    if (holds) {
      open.put(call.operationId(), meta);
    }
    return holds;
  }

  /** No further attempt of it will ask this client anything. */
  void settle(String operationId) {
    open.remove(operationId);
  }

  /** Answers a call that is held, unless it was cancelled. */
  void release(ObjectNode response) {
    if (held.remove(response.path("id")) != null) {
      answer(response);
    }
  }

  private void answer(ObjectNode response) {
    client.accept(response);
    answered(response.path("id"));
  }

  private void answered(JsonNode id) {
    synchronized (unanswered) {
      unanswered.remove(id);
      unanswered.notifyAll();
    }
  }

  /** Waits until what was asked is answered, but not for ever. */
  void awaitAnswers() throws InterruptedException {
    long until = System.nanoTime() + GRACE.toNanos();
    synchronized (unanswered) {
      while (!unanswered.isEmpty() && System.nanoTime() < until) {
        TimeUnit.NANOSECONDS.timedWait(unanswered, until - System.nanoTime());
      }
    }
  }

  /** The {@code _meta} of the call that asked for an operation of this client, if one did. */
  Optional<JsonNode> findMeta(String operationId) {
    return Optional.ofNullable(open.get(operationId));
  }

  /** Asks the server in this client's session. */
  CompletableFuture<ObjectNode> request(String method, ObjectNode params) throws Exception {
    return connected(false).request(method, params);
  }

  private void forward(ObjectNode message) {
    try {
      connected(McpJson.method(message).equals("initialize")).send(message);
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      LOG.warn("The tool server can't be reached: {}", e.getMessage());
      if (McpJson.isRequest(message)) {
        listings.remove(message.get("id"));
        answer(
            McpJson.error(
                message.get("id"),
                McpJson.INTERNAL,
                "Expected the tool server to be there, but it can't be reached. Check its command"
                    + " or address."));
      }
    }
  }

  /** The session with the server, begun anew where it is lost. */
  private McpUpstream.Session connected(boolean first) throws Exception {
    lock.lockInterruptibly();
    try {
      if (closed) {
        throw new IllegalStateException("Expected an open session, but the client is gone.");
      }
      if (server != null && server.isOpen()) {
        return server;
      }
      if (server != null) {
        server.close();
      }
      server = null;
      McpUpstream.Session begun = upstream.open(this::fromServer);
      try {
        if (!first && initialize != null) {
          begun
              .request("initialize", (ObjectNode) initialize.deepCopy())
              .get(OWN_REQUEST.toSeconds(), TimeUnit.SECONDS);
          begun.send(McpJson.notification("notifications/initialized"));
        }
        server = begun;
        return begun;
      } finally {
        if (server == null) {
          begun.close();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void fromServer(ObjectNode message) {
    if (McpJson.isResponse(message) && listings.remove(message.get("id")) != null) {
      list(message.path("result"));
    } else if (McpJson.method(message).equals("notifications/tools/list_changed")) {
      tools = null;
    }
    if (McpJson.isResponse(message)) {
      answer(message);
    } else {
      client.accept(message);
    }
  }

  /** Changes a page of the list of tools; the last one gets the door's own tool. */
  private void list(JsonNode result) {
    if (!(result.path("tools") instanceof ArrayNode page)) {
      return;
    }
    for (JsonNode tool : page) {
      if (tool instanceof ObjectNode described) {
        door.describe(described);
      }
    }
    if (!result.path("nextCursor").isTextual()) {
      door.addOwn(page);
    }
  }

  /** All tools by name, as the server describes them; empty where it does not say. */
  private Map<String, JsonNode> tools() throws Exception {
    Map<String, JsonNode> known = tools;
    if (known != null) {
      return known;
    }
    Map<String, JsonNode> found = new HashMap<>();
    ObjectNode params = McpJson.object();
    while (true) {
      JsonNode result;
      try {
        result =
            request("tools/list", params.deepCopy())
                .get(OWN_REQUEST.toSeconds(), TimeUnit.SECONDS)
                .path("result");
      } catch (ExecutionException | TimeoutException e) {
        LOG.debug("The tools can't be listed", e);
        return found;
      }
      for (JsonNode tool : result.path("tools")) {
        found.put(tool.path("name").asText(), tool);
      }
      if (!result.path("nextCursor").isTextual()) {
        tools = found;
        return found;
      }
      params.set("cursor", result.get("nextCursor"));
    }
  }

  /** The client is gone. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      if (server != null) {
        server.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
