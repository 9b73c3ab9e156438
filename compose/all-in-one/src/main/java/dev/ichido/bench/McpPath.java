package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.app.LivePolicy;
import dev.ichido.app.McpProxy;
import dev.ichido.app.McpSettings;
import dev.ichido.app.Stack;
import dev.ichido.executor.mcp.McpServer;
import dev.ichido.gateway.McpConfig.Unidentified;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The whole path through the MCP door: a client over a pair of streams, one call of a tool,
 * answered when the operation is settled. The tool server is a process of its own, and its tool's
 * effect a request to the remote. One client is one tenant, so all calls are of the first.
 */
final class McpPath implements OncePath {
  static final String SERVER = "sink";
  private static final JsonMapper JSON = new JsonMapper();

  private final Stack stack;
  private final McpProxy proxy;
  private final OutputStream out;
  private final AtomicLong ids = new AtomicLong();
  private final Map<Long, CompletableFuture<JsonNode>> asked = new ConcurrentHashMap<>();

  McpPath(Stack stack) {
    this.stack = stack;
    String url =
        stack.config().policy().root().at("/actions/" + OutboxPath.ACTION + "/http/url").asText();
    int port = URI.create(url.substring(0, url.indexOf('{'))).getPort();
    try {
      // Pipes of the operating system: Java's own break when the thread that wrote last has ended.
      Pipe toDoor = Pipe.open();
      Pipe toClient = Pipe.open();
      this.out = Channels.newOutputStream(toDoor.sink());
      this.proxy =
          McpProxy.start(
              stack.config(),
              LivePolicy.fixed(stack.config()),
              new McpSettings(
                  SERVER,
                  new McpServer.Command(SinkTool.command(port)),
                  Calls.tenant(0),
                  OutboxPath.PRINCIPAL,
                  Unidentified.REFUSE,
                  Duration.ofMinutes(10),
                  Duration.ofSeconds(60)),
              false,
              new SimpleMeterRegistry());
      thread(
          "ichido-bench-door",
          () ->
              proxy.serve(
                  Channels.newInputStream(toDoor.source()),
                  Channels.newOutputStream(toClient.sink())));
      thread("ichido-bench-client", () -> read(Channels.newInputStream(toClient.source())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    ObjectNode hello = JSON.createObjectNode().put("protocolVersion", "2025-11-25");
    hello.putObject("capabilities");
    hello.putObject("clientInfo").put("name", "bench").put("version", "1");
    ask("initialize", hello).join();
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private static void thread(String name, Work work) {
    Thread.ofPlatform()
        .daemon()
        .name(name)
        .start(
            () -> {
              try {
                work.run();
              } catch (IOException | InterruptedException closed) {
                // The end.
              }
            });
  }

  private void read(InputStream in) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode message = JSON.readTree(line);
      CompletableFuture<JsonNode> answer = asked.remove(message.path("id").asLong());
      if (answer != null) {
        answer.complete(message);
      }
    }
  }

  private CompletableFuture<JsonNode> ask(String method, ObjectNode params) {
    long id = ids.incrementAndGet();
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    asked.put(id, answer);
    ObjectNode message = JSON.createObjectNode().put("jsonrpc", "2.0").put("id", id);
    message.put("method", method).set("params", params);
    byte[] line = (message + "\n").getBytes(UTF_8);
    synchronized (out) {
      try {
        out.write(line);
        out.flush();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return answer;
  }

  @Override
  public CompletableFuture<String> call(Call call) {
    ObjectNode params = JSON.createObjectNode().put("name", SinkTool.NAME);
    try {
      params.set("arguments", JSON.readTree(call.arguments()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    params
        .putObject("_meta")
        .put("dev.ichido/operation-id", call.operationId())
        .put("dev.ichido/issued-at", call.issuedAt().toString());
    return ask("tools/call", params)
        .thenApply(answer -> answer.at("/result/_meta/dev.ichido~1verdict").asText());
  }

  @Override
  public Iterable<Long> servers() {
    return stack.databasePid().stream().toList();
  }

  @Override
  public void close() {
    proxy.close();
  }
}
