package dev.ichido.executor.mcp;

import org.jspecify.annotations.Nullable;

/** A message that was not answered, or not sent. */
public final class McpConnectionException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String reason;
  private final boolean sent;

  private McpConnectionException(String reason, boolean sent, @Nullable Throwable cause) {
    super(reason, cause);
    this.reason = reason;
    this.sent = sent;
  }

  /** Proven: the server has not got the message. */
  static McpConnectionException notSent(String reason, @Nullable Throwable cause) {
    return new McpConnectionException(reason, false, cause);
  }

  /** The server may have got the message. */
  static McpConnectionException lost(String reason, @Nullable Throwable cause) {
    return new McpConnectionException(reason, true, cause);
  }

  /** A stable word. */
  public String reason() {
    return reason;
  }

  /** Whether the server may have got the message. */
  public boolean mayBeSent() {
    return sent;
  }
}
