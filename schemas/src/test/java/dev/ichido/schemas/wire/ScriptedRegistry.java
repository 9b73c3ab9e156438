package dev.ichido.schemas.wire;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A registry that knows what a test told it, fails when told to, and remembers who called. */
final class ScriptedRegistry implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  record Call(String request, @Nullable String authorization) {}

  private record Canned(int status, String body) {}

  private final HttpServer server;
  private final Map<String, Integer> ids = new LinkedHashMap<>();
  private final Set<String> subjects = new LinkedHashSet<>();
  private final List<Call> calls = new ArrayList<>();
  private final ArrayDeque<Canned> next = new ArrayDeque<>();

  ScriptedRegistry() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/", this::handle);
    server.start();
  }

  String url() {
    return "http://localhost:" + server.getAddress().getPort();
  }

  synchronized int knows(String subject, String schema) {
    subjects.add(subject);
    return ids.computeIfAbsent(schema, s -> ids.size() + 1);
  }

  synchronized void answerNext(int status, String body) {
    next.add(new Canned(status, body));
  }

  synchronized List<Call> calls() {
    return List.copyOf(calls);
  }

  synchronized Set<String> schemas() {
    return Set.copyOf(ids.keySet());
  }

  private void handle(HttpExchange exchange) throws IOException {
    byte[] in = exchange.getRequestBody().readAllBytes();
    Canned answer =
        answer(
            exchange.getRequestMethod() + " " + exchange.getRequestURI().getRawPath(),
            exchange.getRequestHeaders().getFirst("Authorization"),
            in);
    byte[] out = answer.body.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(answer.status, out.length);
    exchange.getResponseBody().write(out);
    exchange.close();
  }

  private synchronized Canned answer(String request, @Nullable String authorization, byte[] in)
      throws IOException {
    calls.add(new Call(request, authorization));
    Canned canned = next.poll();
    if (canned != null) {
      return canned;
    }
    ObjectNode body = JSON.createObjectNode();
    String[] part = request.split("/", -1);
    if (request.startsWith("GET /schemas/ids/")) {
      int id = Integer.parseInt(part[3]);
      for (var known : ids.entrySet()) {
        if (known.getValue() == id) {
          return new Canned(200, body.put("schema", known.getKey()).toString());
        }
      }
      return error(404, 40403);
    }
    if (request.startsWith("GET /subjects/")) {
      return subjects.contains(part[2]) ? new Canned(200, "{}") : error(404, 40401);
    }
    String schema = JSON.readTree(in).path("schema").asText();
    if (request.endsWith("/versions")) {
      return new Canned(200, body.put("id", knows(part[2], schema)).toString());
    }
    Integer id = ids.get(schema);
    return id == null ? error(404, 40403) : new Canned(200, body.put("id", id).toString());
  }

  private static Canned error(int status, int code) {
    return new Canned(status, "{\"error_code\":" + code + ",\"message\":\"no\"}");
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
