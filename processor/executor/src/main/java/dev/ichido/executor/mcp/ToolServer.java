package dev.ichido.executor.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.executor.ToolCommand;
import java.util.concurrent.CompletableFuture;

/** Calls tools, over whichever session fits the command. */
@FunctionalInterface
public interface ToolServer {
  /**
   * Sends {@code tools/call}, once.
   *
   * @param params name, arguments and {@code _meta}; a session of the caller's may add to the last
   * @return the whole answer, with {@code result} or {@code error}; or an {@link
   *     McpConnectionException}
   * @throws McpConnectionException when there is no session
   * @throws InterruptedException when nobody waits for it any more; then nothing was sent
   */
  CompletableFuture<ObjectNode> call(ToolCommand command, ObjectNode params)
      throws McpConnectionException, InterruptedException;
}
