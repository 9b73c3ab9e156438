package dev.ichido.relay;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Registers whatever comes, and gives it back. */
final class TestRegistry implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpServer server;
  private final List<String> schemas = new ArrayList<>();

  TestRegistry() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
  }

  String url() {
    return "http://localhost:" + server.getAddress().getPort();
  }

  private synchronized void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    Map<String, Object> body;
    if (path.startsWith("/schemas/ids/")) {
      int id = Integer.parseInt(path.substring("/schemas/ids/".length()));
      body = Map.of("schema", schemas.get(id - 1));
    } else {
      String schema = JSON.readTree(exchange.getRequestBody()).path("schema").asText();
      if (!schemas.contains(schema)) {
        schemas.add(schema);
      }
      body = Map.of("id", schemas.indexOf(schema) + 1);
    }
    byte[] bytes = JSON.writeValueAsString(body).getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
