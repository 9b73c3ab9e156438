package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.ichido.cli.CommandException;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * {@code GET /health}: 200 when every role is ready, else 503, with the state of each, the code of
 * what it is waiting out and the id of the process; {@code GET /metrics}: Prometheus text.
 */
public final class HealthEndpoint implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<RunningRole> roles;
  private final PrometheusMeterRegistry meters;

  private HealthEndpoint(
      HttpServer server, List<RunningRole> roles, PrometheusMeterRegistry meters) {
    this.server = server;
    this.roles = List.copyOf(roles);
    this.meters = meters;
  }

  /**
   * Listens.
   *
   * @param port 0 for a free one
   * @throws CommandException PORT_IN_USE, ADDRESS_UNUSABLE
   */
  public static HealthEndpoint start(
      String host, int port, List<RunningRole> roles, PrometheusMeterRegistry meters) {
    HttpServer server;
    try {
      server = HttpServer.create(new InetSocketAddress(host, port), 16);
    } catch (BindException e) {
      throw CommandException.usage(
          "PORT_IN_USE",
          "Expected port "
              + port
              + " of "
              + host
              + " to be free for health and metrics, but it is not. Stop what listens there, or"
              + " leave http.port out to get a free one.",
          e);
    } catch (IOException e) {
      throw CommandException.usage(
          "ADDRESS_UNUSABLE",
          "Expected an address of this machine in http.host, but listening failed. Check it.",
          e);
    }
    HealthEndpoint endpoint = new HealthEndpoint(server, roles, meters);
    server.setExecutor(endpoint.threads);
    server.createContext("/health", endpoint::health);
    server.createContext("/metrics", endpoint::metrics);
    server.start();
    return endpoint;
  }

  /** {@code http://host:port}. */
  public String url() {
    InetSocketAddress address = server.getAddress();
    return "http://" + address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void health(HttpExchange exchange) throws IOException {
    ObjectNode states = JSON.createObjectNode();
    ObjectNode problems = JSON.createObjectNode();
    boolean healthy = true;
    for (RunningRole role : roles) {
      boolean failed = role.failure().get().isPresent();
      boolean ready = !failed && role.ready().getAsBoolean();
      states.put(role.name(), failed ? "failed" : ready ? "ready" : "starting");
      role.problem().get().ifPresent(code -> problems.put(role.name(), code));
      healthy &= ready;
    }
    ObjectNode document =
        JSON.createObjectNode().put("healthy", healthy).put("pid", ProcessHandle.current().pid());
    document.set("roles", states);
    document.set("problems", problems);
    answer(exchange, healthy ? 200 : 503, "application/json", document.toString());
  }

  private void metrics(HttpExchange exchange) throws IOException {
    answer(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", meters.scrape());
  }

  private static void answer(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    try (exchange) {
      byte[] bytes = text.getBytes(UTF_8);
      exchange.getResponseHeaders().set("Content-Type", type);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }
}
