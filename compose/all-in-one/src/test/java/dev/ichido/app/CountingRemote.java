package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

/** A remote that does whatever it is asked, each time, and counts; GET only asks. */
final class CountingRemote implements AutoCloseable {
  private final AtomicInteger effects = new AtomicInteger();
  private final HttpServer server;

  private CountingRemote(HttpServer server) {
    this.server = server;
  }

  static CountingRemote start() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
    CountingRemote remote = new CountingRemote(server);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            exchange.getRequestBody().readAllBytes();
            byte[] body =
                (exchange.getRequestMethod().equals("GET")
                        ? "{\"count\":" + remote.effects + "}"
                        : "{\"id\":\"effect-" + remote.effects.incrementAndGet() + "\"}")
                    .getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
          }
        });
    server.start();
    return remote;
  }

  int effects() {
    return effects.get();
  }

  int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
