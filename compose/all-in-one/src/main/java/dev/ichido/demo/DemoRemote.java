package dev.ichido.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The system that the tools act on: a plain HTTP server that knows nothing of Ichido and honours no
 * idempotency key.
 *
 * <pre>
 * POST /effects/TOOL               does it, and answers {"effect":"effect-7","tool":"TOOL"}
 * GET  /effects?tenant=T&amp;operation=O   200 with the first effect, or 404
 * POST /reads/TOOL                 answers {"tool":"TOOL","read":3}
 * </pre>
 *
 * The caller names itself in the headers Demo-Tenant and Demo-Operation.
 */
final class DemoRemote implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final EffectBook book;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong reads = new AtomicLong();

  private DemoRemote(EffectBook book, HttpServer server) {
    this.book = book;
    this.server = server;
  }

  /** Listens on a free port of the loopback interface. */
  static DemoRemote start(EffectBook book) {
    try {
      HttpServer server =
          HttpServer.create(
              new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0), 256);
      DemoRemote remote = new DemoRemote(book, server);
      server.setExecutor(remote.threads);
      server.createContext("/effects", remote::effects);
      server.createContext("/reads", remote::reads);
      server.start();
      return remote;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return server.getAddress().getPort();
  }

  /** Reads that were answered since the start. */
  long reads() {
    return reads.get();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void effects(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      if (exchange.getRequestMethod().equals("GET")) {
        find(exchange);
        return;
      }
      String tool = lastSegment(exchange);
      EffectBook.Effect effect =
          book.append(
              new EffectBook.Operation(
                  header(exchange, "Demo-Tenant"), header(exchange, "Demo-Operation")),
              tool);
      answer(exchange, 200, shown(effect));
    }
  }

  private void find(HttpExchange exchange) throws IOException {
    String tenant = "";
    String operation = "";
    String query = exchange.getRequestURI().getRawQuery();
    for (String part : query == null ? new String[0] : query.split("&", -1)) {
      int equals = part.indexOf('=');
      String value = URLDecoder.decode(part.substring(equals + 1), UTF_8);
      if (part.startsWith("tenant=")) {
        tenant = value;
      } else if (part.startsWith("operation=")) {
        operation = value;
      }
    }
    List<EffectBook.Effect> found = book.effectsOf(new EffectBook.Operation(tenant, operation));
    if (found.isEmpty()) {
      answer(exchange, 404, JSON.createObjectNode().put("effect", (String) null));
    } else {
      answer(exchange, 200, shown(found.getFirst()));
    }
  }

  private void reads(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      answer(
          exchange,
          200,
          JSON.createObjectNode()
              .put("tool", lastSegment(exchange))
              .put("read", reads.incrementAndGet()));
    }
  }

  private static ObjectNode shown(EffectBook.Effect effect) {
    return JSON.createObjectNode().put("effect", effect.reference()).put("tool", effect.tool());
  }

  private static String lastSegment(HttpExchange exchange) {
    String path = exchange.getRequestURI().getPath();
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private static String header(HttpExchange exchange, String name) {
    String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }

  private static void answer(HttpExchange exchange, int status, ObjectNode body)
      throws IOException {
    byte[] bytes = body.toString().getBytes(UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }
}
