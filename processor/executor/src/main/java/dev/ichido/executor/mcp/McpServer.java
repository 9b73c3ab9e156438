package dev.ichido.executor.mcp;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Where a tool server is. */
public sealed interface McpServer {

  /**
   * Begins a session.
   *
   * @throws McpConnectionException when the server can't be started
   */
  McpConnection open(McpConnection.Listener listener) throws McpConnectionException;

  /** A program that speaks over its standard input and output; each session has its own process. */
  record Command(List<String> words) implements McpServer {
    public Command {
      words = List.copyOf(words);
    }

    @Override
    public McpConnection open(McpConnection.Listener listener) throws McpConnectionException {
      return StdioConnection.start(words, listener);
    }

    /** The program alone: its arguments may hold a credential. */
    @Override
    public String toString() {
      return "Command[" + words.getFirst() + "]";
    }
  }

  /**
   * A server over Streamable HTTP.
   *
   * @param headers sent with every request
   */
  record Url(URI url, Map<String, String> headers) implements McpServer {
    public Url {
      headers = Map.copyOf(headers);
    }

    @Override
    public McpConnection open(McpConnection.Listener listener) {
      return StreamableConnection.open(url, headers, listener);
    }

    @Override
    public String toString() {
      return "Url[" + url.getHost() + " " + new TreeSet<>(headers.keySet()) + "]";
    }
  }
}
