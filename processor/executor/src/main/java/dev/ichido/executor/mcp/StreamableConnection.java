package dev.ichido.executor.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.McpHttpClientTransportAuthorizationException;
import io.modelcontextprotocol.json.jackson2.JacksonMcpJsonMapper;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpTransportSessionNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** A tool server over Streamable HTTP, by the SDK's transport. */
final class StreamableConnection extends CorrelatedConnection {
  private static final Logger LOG = LoggerFactory.getLogger(StreamableConnection.class);
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ALIVE = Duration.ofSeconds(5);
  private static final Duration GRACE = Duration.ofSeconds(2);

  private final McpClientTransport transport;
  private volatile @Nullable String version;
  private volatile boolean stale;
  private volatile boolean closing;

  private StreamableConnection(URI url, Map<String, String> headers, Listener listener) {
    super(listener);
    String path = url.getRawPath() + (url.getRawQuery() == null ? "" : "?" + url.getRawQuery());
    this.transport =
        HttpClientStreamableHttpTransport.builder(url.getScheme() + "://" + url.getRawAuthority())
            .endpoint(path)
            .jsonMapper(new JacksonMcpJsonMapper(JsonRpc.JSON))
            .connectTimeout(CONNECT)
            .addAsyncHttpRequestCustomizer(
                (request, method, endpoint, body, context) -> {
                  headers.forEach(request::setHeader);
                  return isOfALostSession(method) ? Mono.never() : Mono.just(request);
                })
            .build();
  }

  /**
   * Where the server does not know the session, the transport ends it too. Once that is answered it
   * drops whatever is in flight in the session and reports it as delivered: answers are lost, and
   * the message that was refused is sometimes reported as delivered before it is reported as
   * refused. What the server does not know needs no end.
   */
  private boolean isOfALostSession(String method) {
    return method.equals("DELETE") && !closing;
  }

  /**
   * Connects to nothing yet.
   *
   * @param headers sent with every request, such as a credential for the server
   */
  static StreamableConnection open(URI url, Map<String, String> headers, Listener listener) {
    StreamableConnection connection = new StreamableConnection(url, headers, listener);
    connection.transport.setExceptionHandler(connection::troubled);
    connection
        .transport
        .connect(messages -> messages.doOnNext(connection::take).then(Mono.empty()))
        .block();
    return connection;
  }

  private void take(JSONRPCMessage message) {
    ObjectNode node = JsonRpc.JSON.valueToTree(message);
    if (node.path("result").path("protocolVersion").isTextual()) {
      version = node.path("result").path("protocolVersion").asText();
    }
    received(node);
  }

  @Override
  void transmit(ObjectNode message) throws McpConnectionException {
    JSONRPCMessage typed;
    try {
      typed =
          McpSchema.deserializeJsonRpcMessage(
              new JacksonMcpJsonMapper(JsonRpc.JSON), message.toString());
    } catch (IOException | IllegalArgumentException e) {
      throw McpConnectionException.notSent("MESSAGE_MALFORMED", e);
    }
    String negotiated = version;
    Mono<Void> sending = transport.sendMessage(typed);
    if (negotiated != null) {
      sending =
          sending.contextWrite(
              context -> context.put(McpAsyncClient.NEGOTIATED_PROTOCOL_VERSION, negotiated));
    }
    sending.subscribe(done -> {}, cause -> failed(message, told(cause)));
  }

  /**
   * Told of every failure, but not of which message's. Where it may be that of a stream on which an
   * answer was to come, the server is asked whether it is there; if not, no answer comes.
   */
  private void troubled(Throwable cause) {
    LOG.debug("Trouble with the tool server", cause);
    McpConnectionException told = told(cause);
    if (!told.mayBeSent()) {
      stale = true;
      return;
    }
    var unused =
        request("ping", JsonRpc.JSON.createObjectNode())
            .orTimeout(ALIVE.toMillis(), TimeUnit.MILLISECONDS)
            .whenComplete(
                (pong, gone) -> {
                  if (gone != null) {
                    ended(told);
                  }
                });
  }

  @Override
  public boolean isOpen() {
    return !stale && super.isOpen();
  }

  private static McpConnectionException told(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ConnectException
          || cause instanceof HttpConnectTimeoutException
          || cause instanceof UnresolvedAddressException) {
        return McpConnectionException.notSent("NOT_CONNECTED", failure);
      }
    }
    // Refused by the server's HTTP side, which had not looked at the message yet.
    return switch (failure) {
      case McpTransportSessionNotFoundException unknown ->
          McpConnectionException.notSent("SESSION_LOST", failure);
      case McpHttpClientTransportAuthorizationException refused ->
          McpConnectionException.notSent("CREDENTIAL_REFUSED", failure);
      default -> McpConnectionException.lost("CONNECTION_LOST", failure);
    };
  }

  @Override
  public void close() {
    closing = true;
    try {
      transport.closeGracefully().block(GRACE);
    } catch (RuntimeException e) {
      LOG.debug("The session of the tool server can't be ended", e);
    }
    ended(McpConnectionException.lost("CONNECTION_CLOSED", null));
  }
}
