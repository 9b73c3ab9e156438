package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** A role's process that does nothing, and a listener of this process that answers for it. */
final class StandIn implements AutoCloseable {
  private final HttpClient http = HttpClient.newHttpClient();
  private final Guard guard;
  private final Jvm jvm;
  private final HttpServer listener;

  /**
   * Listens; the process is not started yet.
   *
   * @param body of the answer; an empty one is a connection that breaks
   */
  StandIn(Path folder, String name, String path, Supplier<String> body) throws IOException {
    guard = new Guard(folder.resolve("no-database"));
    jvm =
        new Jvm(
            guard, name, 32, folder.resolve("log"), Map.of(), Waiting.class.getName(), List.of());
    listener = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    listener.createContext(
        path,
        exchange -> {
          try (exchange) {
            byte[] bytes = body.get().getBytes(UTF_8);
            if (bytes.length > 0) {
              exchange.sendResponseHeaders(200, bytes.length);
              exchange.getResponseBody().write(bytes);
            }
          }
        });
    listener.start();
  }

  HttpClient http() {
    return http;
  }

  Jvm jvm() {
    return jvm;
  }

  Rig.Instance instance() {
    return new Rig.Instance(jvm, listener.getAddress().getPort());
  }

  @Override
  public void close() {
    listener.stop(0);
    jvm.close();
    guard.close();
    http.close();
  }

  /** A process that does nothing. */
  static final class Waiting {
    public static void main(String[] arguments) throws InterruptedException {
      Thread.currentThread().join();
    }
  }
}
