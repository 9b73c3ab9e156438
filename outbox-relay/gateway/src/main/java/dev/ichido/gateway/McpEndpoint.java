package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Clients over Streamable HTTP, at {@code /mcp}. Every request is answered by a stream of its own;
 * what the server sends by itself goes to the stream of the request it belongs to, else to the one
 * that the client opened for it.
 */
final class McpEndpoint implements AutoCloseable {
  private static final HeaderName SESSION = HeaderNames.create("Mcp-Session-Id");
  private static final HeaderName ORIGIN = HeaderNames.create("Origin");
  private static final String PATH = "/mcp";
  private static final int INVALID_REQUEST = -32600;
  private static final int SESSION_UNKNOWN = -32001;
  private static final Duration GRACE = Duration.ofSeconds(3);
  private static final Duration IDLE = Duration.ofMinutes(30);

  private final GatewayConfig http;
  private final boolean anyHost;
  private final McpConfig config;
  private final @Nullable Credentials credentials;
  private final Limits limits;
  private final Sessions sessions;
  private final Consumer<McpSession> ended;
  private final Map<String, HttpClients> clients = new ConcurrentHashMap<>();
  private final WebServer server;

  /** Begins a session of a client. */
  interface Sessions {
    McpSession begin(Caller caller, Consumer<ObjectNode> client);
  }

  private record HttpClients(McpSession session, McpStreams streams) {
    void close() {
      streams.close();
      session.close();
    }
  }

  McpEndpoint(
      GatewayConfig http,
      boolean anyHost,
      McpConfig config,
      Sessions sessions,
      Consumer<McpSession> ended) {
    this.http = http;
    this.anyHost = anyHost;
    this.config = config;
    this.limits = new Limits(http.ratePerTenant(), http.maxWaiting());
    this.sessions = sessions;
    this.ended = ended;
    boolean open = http.tokens() == null && http.jwt() == null && http.certificates().isEmpty();
    this.credentials = open ? null : Credentials.of(http);
    requireSafe(open);
    HttpRouting.Builder routing = HttpRouting.builder();
    routing.post(PATH, guarded(this::post));
    routing.get(PATH, guarded(this::get));
    routing.delete(PATH, guarded(this::delete));
    this.server =
        WebServer.builder()
            .host(http.host())
            .port(http.port())
            .shutdownGracePeriod(GRACE)
            .shutdownHook(false)
            .routing(routing)
            .build();
  }

  private void requireSafe(boolean open) {
    boolean loopback;
    try {
      loopback = InetAddress.getByName(http.host()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw GatewayException.of(
          "ADDRESS_UNUSABLE",
          "Expected an address of this machine for the MCP door, but it is not known. Check it.",
          e);
    }
    if (!loopback && (open || !http.plainHttp())) {
      throw GatewayException.of(
          "PLAIN_HTTP",
          "Expected credentials, and TLS that ends in front, on an address that other hosts reach,"
              + " but the MCP door has not both. Set gateway.tokens or gateway.jwt, and plain_http:"
              + " true where something in front ends TLS.",
          null);
    }
  }

  void start() {
    try {
      server.start();
    } catch (RuntimeException e) {
      throw GatewayException.of(
          "ADDRESS_UNUSABLE",
          "Expected to listen on port "
              + http.port()
              + " of "
              + http.host()
              + ", but that failed. Check that the address is this machine's and the port free.",
          e);
    }
  }

  String url() {
    return "http://" + http.host() + ":" + server.port() + PATH;
  }

  private interface Work {
    void run(ServerRequest request, ServerResponse response) throws Exception;
  }

  private Handler guarded(Work work) {
    return (request, response) -> {
      try {
        if (!anyHost && !isLocal(request)) {
          refuse(
              response, 403, INVALID_REQUEST, "Expected a local Host and Origin, but one is not.");
          return;
        }
        work.run(request, response);
      } catch (ProblemException e) {
        if (e.retryAfter() != null) {
          response.header("Retry-After", Long.toString(e.retryAfter().toSeconds()));
        }
        refuse(response, e.code().status(), INVALID_REQUEST, e.detail());
      } catch (IOException | UncheckedIOException e) {
        throw new CloseConnectionException("The client is gone", e);
      }
    };
  }

  /** A page of another site must not reach this machine's tools through the browser. */
  private boolean isLocal(ServerRequest request) {
    String origin = request.headers().first(ORIGIN).orElse(null);
    return isLocal(request.authority())
        && (origin == null || isLocal(origin.replaceFirst("^https?://", "")));
  }

  private boolean isLocal(String authority) {
    String host = authority.replaceFirst(":\\d+$", "");
    return List.of("localhost", "127.0.0.1", "[::1]", http.host()).contains(host);
  }

  private Caller caller(ServerRequest request) {
    return credentials == null
        ? new Caller(config.tenant(), config.principal())
        : credentials.require(request);
  }

  private void post(ServerRequest request, ServerResponse response) throws Exception {
    Caller caller = caller(request);
    limits.count(caller);
    List<ObjectNode> messages;
    try {
      messages = read(request);
    } catch (JsonProcessingException e) {
      refuse(
          response,
          400,
          McpJson.PARSE_ERROR,
          "Expected JSON without a member that stands twice, but it is none. Check the client.");
      return;
    }
    if (messages.stream().anyMatch(McpJson::isRequest)) {
      limits.takePlace();
      try {
        answer(request, response, caller, messages);
      } finally {
        limits.givePlaceBack();
      }
      return;
    }
    HttpClients client = find(request, response, caller);
    if (client != null) {
      for (ObjectNode message : messages) {
        client.session().fromClient(message);
        if (McpJson.method(message).equals("notifications/cancelled")) {
          client.streams().forget(message.path("params").path("requestId"));
        }
      }
      response.status(202).send();
    }
  }

  private void answer(
      ServerRequest request, ServerResponse response, Caller caller, List<ObjectNode> messages)
      throws Exception {
    boolean first = messages.stream().anyMatch(it -> McpJson.method(it).equals("initialize"));
    HttpClients client = first ? begin(caller, response) : find(request, response, caller);
    if (client == null) {
      return;
    }
    begin(response);
    try (OutputStream out = response.outputStream();
        McpStreams.Stream stream = client.streams().open(messages)) {
      messages.forEach(client.session()::fromClient);
      stream.writeTo(out);
    }
  }

  private List<ObjectNode> read(ServerRequest request) throws IOException {
    byte[] bytes;
    try (InputStream in = request.content().inputStream()) {
      bytes = in.readNBytes(4 * http.maxBodyBytes() + 1);
    }
    if (bytes.length > 4 * http.maxBodyBytes()) {
      throw ProblemCode.BODY_TOO_LARGE.because(
          "Expected a message within the limit, but it is larger. Pass a reference instead.");
    }
    JsonNode node = McpJson.JSON.readTree(bytes);
    List<ObjectNode> messages = new ArrayList<>();
    for (JsonNode each : node.isArray() ? node : List.of(node)) {
      if (!(each instanceof ObjectNode message)) {
        throw ProblemCode.REQUEST_MALFORMED.because(
            "Expected messages of JSON-RPC, but there is something else. Check the client.");
      }
      messages.add(message);
    }
    return messages;
  }

  private HttpClients begin(Caller caller, ServerResponse response) {
    clients
        .entrySet()
        .removeIf(
            it -> {
              boolean over = it.getValue().streams().isIdleFor(IDLE);
              if (over) {
                end(it.getValue());
              }
              return over;
            });
    if (clients.size() >= http.maxWaiting()) {
      throw ProblemCode.WAITING_FULL.because(
          "Expected fewer open sessions than gateway.max_waiting, but there are as many. End"
              + " sessions that are not used.");
    }
    McpStreams streams = new McpStreams();
    HttpClients client = new HttpClients(sessions.begin(caller, streams::accept), streams);
    String id = UUID.randomUUID().toString();
    clients.put(id, client);
    response.header("Mcp-Session-Id", id);
    return client;
  }

  private @Nullable HttpClients find(
      ServerRequest request, ServerResponse response, Caller caller) {
    String id = request.headers().first(SESSION).orElse(null);
    HttpClients client = id == null ? null : clients.get(id);
    if (client != null && client.session().caller().equals(caller)) {
      return client;
    }
    if (id == null) {
      refuse(
          response,
          400,
          INVALID_REQUEST,
          "Expected Mcp-Session-Id, but there is none. Initialize.");
    } else {
      refuse(
          response,
          404,
          SESSION_UNKNOWN,
          "Expected a session that is open, but it is not known. Initialize anew.");
    }
    return null;
  }

  private void get(ServerRequest request, ServerResponse response) throws Exception {
    HttpClients client = find(request, response, caller(request));
    if (client == null) {
      return;
    }
    limits.takePlace();
    try {
      begin(response);
      try (OutputStream out = response.outputStream();
          McpStreams.Stream stream = client.streams().open()) {
        out.write(":\n\n".getBytes(UTF_8));
        out.flush();
        stream.writeTo(out);
      }
    } finally {
      limits.givePlaceBack();
    }
  }

  private void delete(ServerRequest request, ServerResponse response) {
    HttpClients client = find(request, response, caller(request));
    if (client != null) {
      request.headers().first(SESSION).ifPresent(clients::remove);
      end(client);
      response.status(200).send();
    }
  }

  private void end(HttpClients client) {
    client.close();
    ended.accept(client.session());
  }

  private static void begin(ServerResponse response) {
    response.status(200);
    response.header("Content-Type", "text/event-stream");
    response.header("Cache-Control", "no-cache");
  }

  private static void refuse(ServerResponse response, int status, int code, String text) {
    response.status(status);
    response.header("Content-Type", "application/json");
    response.send(
        McpJson.error(McpJson.JSON.getNodeFactory().nullNode(), code, text)
            .toString()
            .getBytes(UTF_8));
  }

  @Override
  public void close() {
    clients.values().forEach(client -> client.streams().close());
    server.stop();
    clients.values().forEach(this::end);
    clients.clear();
  }
}
