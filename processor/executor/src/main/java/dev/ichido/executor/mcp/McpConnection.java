package dev.ichido.executor.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.CompletableFuture;

/**
 * One session with a tool server, as messages of JSON-RPC. Messages of another's pass as they are;
 * requests of its own carry ids that no other has.
 */
public interface McpConnection extends AutoCloseable {

  /** Told of everything that is no answer to {@link McpConnection#request}. */
  interface Listener {
    /** In the order of arrival. */
    void received(ObjectNode message);

    /** The connection ended: nothing more is received, and nothing is sent. */
    void closed();
  }

  /**
   * Passes a message on. A request that could not be sent, or whose answer is lost, is answered to
   * the listener with an error of JSON-RPC.
   */
  void send(ObjectNode message);

  /**
   * Asks by itself.
   *
   * @return the whole answer, with {@code result} or {@code error}; or an {@link
   *     McpConnectionException}
   */
  CompletableFuture<ObjectNode> request(String method, ObjectNode params);

  boolean isOpen();

  @Override
  void close();
}
