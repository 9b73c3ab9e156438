package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A remote with a book of its own. POST /pay does it; /slow and /held do it once they are let;
 * /wrapped does it and answers in several lines, /large with more than a record carries, /bytes
 * with what is no text; /lost does it and hangs up; /refuse does nothing and says so for good;
 * /read changes nothing.
 */
final class DoorRemote implements AutoCloseable {
  /** Calls that it can have open. */
  static final int AT_A_TIME = 500;

  /** More than a record carries. */
  static final String LARGE = "l".repeat(100_000);

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Effect> book = new CopyOnWriteArrayList<>();
  private final CountDownLatch slow = new CountDownLatch(1);
  private final CountDownLatch held = new CountDownLatch(1);

  /** What was done, for whom, and under which condition. */
  record Effect(String tenant, String operationId, String condition) {}

  private DoorRemote(HttpServer server) {
    this.server = server;
  }

  static DoorRemote start() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_024);
    DoorRemote remote = new DoorRemote(server);
    server.setExecutor(remote.threads);
    server.createContext("/", remote::handle);
    server.start();
    return remote;
  }

  /** Of a stack that acts on this remote. */
  String config() {
    return """
    topics: { prefix: door, partitions: 2 }
    executor: { concurrency_per_remote: %3$d }
    tenants:
      t1: { principals: ['agent:a', 'agent:b'] }
      t2: { principals: ['agent:a'] }
    actions:
      pay: { effect: write, http: %1$s/pay', precondition: { header: If-Match } } }
      shared: { effect: write, share: tenant, http: %1$s/pay' } }
      slow: { effect: write, lease: 120s, http: %1$s/slow', timeouts: { connect: 5s, first_byte: 100s, total: 110s } } }
      held: { effect: write, lease: 300s, http: %1$s/held', timeouts: { connect: 5s, first_byte: 280s, total: 290s } } }
      lost: { effect: write, lease: 60s, http: %1$s/lost' } }
      wrapped: { effect: write, http: %1$s/wrapped' } }
      large: { effect: write, http: %1$s/large' } }
      bytes: { effect: write, http: %1$s/bytes' } }
      look-at-all: { effect: read, http: { method: POST, url: 'http://127.0.0.1:%2$d/large' } }
      refuse: { effect: write, http: %1$s/refuse', answers: { expected: [2xx], terminal: [422] } } }
      asked: { effect: write, retry: { auto: false }, http: { method: POST, url: 'http://127.0.0.1:1/' } }
      stuck: { effect: write, retry: { max_attempts: 1 }, http: { method: POST, url: 'http://127.0.0.1:1/' } }
      look: { effect: read, http: { method: POST, url: 'http://127.0.0.1:%2$d/read' } }
    """
        .formatted(
            "{ method: POST, reference: $.id,"
                + " headers: { Tenant: '{tenant}', Operation: '{operation_id}' },"
                + " url: 'http://127.0.0.1:"
                + port(),
            port(),
            AT_A_TIME);
  }

  private int port() {
    return server.getAddress().getPort();
  }

  /** Effects on one operation of a tenant. */
  List<Effect> effects(String tenant, String operationId) {
    return book.stream()
        .filter(e -> e.tenant().equals(tenant) && e.operationId().equals(operationId))
        .toList();
  }

  List<Effect> book() {
    return List.copyOf(book);
  }

  /** Lets everything slow go on. */
  void open() {
    slow.countDown();
  }

  /** Lets everything that is held go on. */
  void release() {
    held.countDown();
  }

  @Override
  public void close() {
    open();
    release();
    server.stop(0);
    threads.shutdownNow();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      switch (exchange.getRequestURI().getPath()) {
        case "/refuse" -> answer(exchange, 422, "{\"error\":\"account closed\"}");
        case "/wrapped" ->
            answer(exchange, 200, "{\n  \"id\": \"" + record(exchange) + "\",\r\n  \"n\":\r1\n}");
        case "/large" ->
            answer(
                exchange, 200, "{\"id\":\"" + record(exchange) + "\",\"text\":\"" + LARGE + "\"}");
        case "/bytes" -> answer(exchange, 200, record(exchange) + "\0");
        case "/read" -> answer(exchange, 200, "{\"balance\":17}");
        case "/lost" -> record(exchange);
        case "/slow" -> answerAfter(slow, exchange);
        case "/held" -> answerAfter(held, exchange);
        default -> answer(exchange, 200, "{\"id\":\"" + record(exchange) + "\"}");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void answerAfter(CountDownLatch gate, HttpExchange exchange)
      throws IOException, InterruptedException {
    gate.await();
    answer(exchange, 200, "{\"id\":\"" + record(exchange) + "\"}");
  }

  private String record(HttpExchange exchange) {
    Effect effect =
        new Effect(
            header(exchange, "Tenant"),
            header(exchange, "Operation"),
            header(exchange, "If-Match"));
    book.add(effect);
    return effect.tenant()
        + "-"
        + effect.operationId()
        + "-"
        + effects(effect.tenant(), effect.operationId()).size();
  }

  private static String header(HttpExchange exchange, String name) {
    String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }
}
