package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A client of MCP that writes the lines it is told to, and keeps what comes back. */
public final class McpTalk implements AutoCloseable {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();
  private static final long LIMIT = 90;

  private final OutputStream out;
  private final AtomicInteger id = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> asked = new ConcurrentHashMap<>();

  /** What is no answer to a request of ours. */
  final BlockingQueue<JsonNode> others = new LinkedBlockingQueue<>();

  public McpTalk(InputStream in, OutputStream out) {
    this.out = out;
    Thread.ofVirtual().start(() -> read(in));
  }

  /** With the handshake behind it. */
  public McpTalk initialized() {
    ask(
        "initialize",
        "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"sampling\":{}},\"clientInfo\":"
            + "{\"name\":\"test\",\"version\":\"1\"}}");
    write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    return this;
  }

  /** The whole answer. */
  JsonNode ask(String method, String params) {
    return send(method, params).orTimeout(LIMIT, TimeUnit.SECONDS).join();
  }

  /** The result of a call of a tool, under an operation id where one is given. */
  public JsonNode call(String tool, String operationId, String arguments) {
    return ask("tools/call", params(tool, operationId, arguments)).path("result");
  }

  static String params(String tool, String operationId, String arguments) {
    String meta =
        operationId.isEmpty()
            ? ""
            : ",\"_meta\":{\"dev.ichido/operation-id\":\"" + operationId + "\"}";
    return "{\"name\":\"" + tool + "\",\"arguments\":" + arguments + meta + "}";
  }

  CompletableFuture<JsonNode> send(String method, String params) {
    int number = id.incrementAndGet();
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    asked.put(number, answer);
    write(
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}"
            .formatted(number, method, params));
    return answer;
  }

  int lastId() {
    return id.get();
  }

  JsonNode awaitOther(String method) throws InterruptedException {
    while (true) {
      JsonNode next = others.poll(LIMIT, TimeUnit.SECONDS);
      if (next == null) {
        throw new AssertionError("Nothing came of " + method);
      }
      if (next.path("method").asText().equals(method)) {
        return next;
      }
    }
  }

  synchronized void write(String line) {
    try {
      out.write((line + "\n").getBytes(UTF_8));
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(InputStream in) {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(in, UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        ObjectNode message = (ObjectNode) JSON.readTree(line);
        CompletableFuture<JsonNode> answer =
            message.has("method") ? null : asked.remove(message.path("id").asInt());
        if (answer == null) {
          others.add(message);
        } else {
          answer.complete(message);
        }
      }
    } catch (IOException e) {
      others.add(JSON.createObjectNode().put("ended", String.valueOf(e.getMessage())));
    }
  }

  @Override
  public void close() throws IOException {
    out.close();
  }
}
