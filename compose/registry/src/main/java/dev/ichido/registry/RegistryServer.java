package dev.ichido.registry;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registry behind its REST interface. It asks nobody who they are, so it listens on loopback
 * unless told otherwise.
 */
public final class RegistryServer implements AutoCloseable {
  /** Larger than any schema, small enough not to fill the memory. */
  static final int BODY_BYTES = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(RegistryServer.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";

  private final HttpServer http;
  private final ExecutorService workers;
  private final RegistryRoutes routes;
  private final AtomicBoolean closed = new AtomicBoolean();

  private RegistryServer(HttpServer http, RegistryRoutes routes) {
    this.http = http;
    this.routes = routes;
    this.workers =
        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("registry-", 0).factory());
  }

  /**
   * Starts on loopback.
   *
   * @param port 0: a free one
   */
  public static RegistryServer start(RegistryLog log, int port) throws IOException {
    return start(log, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  /**
   * Starts, knowing all that the log holds.
   *
   * @throws IOException when the address is in use or not of this machine
   * @throws RegistryLogException when the log cannot be read
   */
  public static RegistryServer start(RegistryLog log, InetSocketAddress address)
      throws IOException {
    RegistryRoutes routes = new RegistryRoutes(new Subjects(log));
    HttpServer http;
    try {
      http = HttpServer.create(address, 0);
    } catch (IOException e) {
      throw new IOException(
          "Expected to listen on %s:%d for the schema registry, but that failed (%s). Check what else listens there."
              .formatted(address.getAddress().getHostAddress(), address.getPort(), e.getMessage()),
          e);
    }
    RegistryServer server = new RegistryServer(http, routes);
    http.setExecutor(server.workers);
    http.createContext("/", server::handle);
    http.start();
    LOG.info("Schema registry listens on {}", server.url());
    return server;
  }

  /** Value for {@code schema.registry.url}. */
  public String url() {
    InetSocketAddress address = http.getAddress();
    String host = address.getAddress().getHostAddress();
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port();
  }

  public int port() {
    return http.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      int status = 200;
      Object answer;
      try {
        answer = answer(exchange);
      } catch (RegistryError e) {
        status = e.status();
        answer = JSON.createObjectNode().put("error_code", e.code()).put("message", e.getMessage());
        if (status >= 500) {
          LOG.warn("The registry could not answer {}", exchange.getRequestMethod(), e.getCause());
        }
      }
      byte[] bytes = JSON.writeValueAsBytes(answer);
      exchange.getResponseHeaders().add("Content-Type", MEDIA_TYPE);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private Object answer(HttpExchange exchange) throws IOException {
    byte[] body = body(exchange);
    try {
      return routes.answer(
          exchange.getRequestMethod(),
          exchange.getRequestURI().getRawPath(),
          exchange.getRequestURI().getRawQuery(),
          body);
    } catch (RegistryError e) {
      throw e;
    } catch (RegistryLogException e) {
      throw RegistryError.store(e);
    } catch (RuntimeException e) {
      throw RegistryError.unexpected(e);
    }
  }

  private static byte[] body(HttpExchange exchange) throws IOException {
    byte[] body;
    try (InputStream in = exchange.getRequestBody()) {
      body = in.readNBytes(BODY_BYTES + 1);
    }
    if (body.length > BODY_BYTES) {
      throw RegistryError.tooLarge(BODY_BYTES);
    }
    // A page in a browser may send a form or plain text anywhere, but not these without asking.
    if (body.length > 0 && !json(exchange.getRequestHeaders().getFirst("Content-Type"))) {
      throw RegistryError.unsupportedMediaType();
    }
    return body;
  }

  private static boolean json(@Nullable String contentType) {
    if (contentType == null) {
      return false;
    }
    String type = contentType.toLowerCase(Locale.ROOT);
    return type.startsWith("application/")
        && (type.contains("json") || type.startsWith("application/octet-stream"));
  }

  /** Lets requests that are being answered end, within a second. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      http.stop(0);
      workers.shutdownNow();
    }
  }
}
