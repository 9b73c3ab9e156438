package dev.ichido.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The tool server behind the MCP door: begins sessions with it. */
@FunctionalInterface
public interface McpUpstream {
  /**
   * Begins a session.
   *
   * @param received told of every message that is no answer to {@link Session#request}
   * @throws Exception when the server can't be reached or started
   */
  Session open(Consumer<ObjectNode> received) throws Exception;

  /** A session with the tool server, as messages of JSON-RPC. */
  interface Session extends AutoCloseable {
    /** Passes a message on; a request that gets no answer is answered with an error. */
    void send(ObjectNode message);

    /** Asks by itself; the answer has {@code result} or {@code error}. */
    CompletableFuture<ObjectNode> request(String method, ObjectNode params);

    boolean isOpen();

    @Override
    void close();
  }
}
