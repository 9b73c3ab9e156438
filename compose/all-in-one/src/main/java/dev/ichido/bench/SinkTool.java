package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;

/** The remote as a tool server: one tool, whose effect is a request to the remote's address. */
final class SinkTool {
  static final String NAME = "charge";
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  private final String effects;

  private SinkTool(String effects) {
    this.effects = effects;
  }

  /** The command line that starts one. */
  static List<String> command(int port) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx128m",
        "-XX:+UseSerialGC",
        "-cp",
        System.getProperty("java.class.path"),
        SinkTool.class.getName(),
        "http://127.0.0.1:" + port + "/effects/");
  }

  public static void main(String[] arguments) throws IOException {
    SinkTool tool = new SinkTool(arguments[0]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonNode message = JSON.readTree(line);
      if (message.has("id")) {
        Thread.ofVirtual().start(() -> tool.answer(message));
      }
    }
  }

  private void answer(JsonNode request) {
    ObjectNode answer = JSON.createObjectNode().put("jsonrpc", "2.0");
    answer.set("id", request.get("id"));
    ObjectNode result = answer.putObject("result");
    switch (request.path("method").asText()) {
      case "initialize" -> {
        result.set("protocolVersion", request.path("params").get("protocolVersion"));
        result.putObject("capabilities").putObject("tools");
        result.putObject("serverInfo").put("name", "sink").put("version", "1");
      }
      case "tools/list" ->
          result
              .putArray("tools")
              .addObject()
              .put("name", NAME)
              .putObject("inputSchema")
              .put("type", "object");
      default -> {
        String key = request.at("/params/_meta/dev.ichido~1operation-id").asText();
        HttpRequest effect =
            HttpRequest.newBuilder(URI.create(effects + key))
                .POST(BodyPublishers.ofString(request.at("/params/arguments").toString()))
                .build();
        String said = http.sendAsync(effect, BodyHandlers.ofString()).join().body();
        result.putArray("content").addObject().put("type", "text").put("text", said);
      }
    }
    synchronized (System.out) {
      System.out.println(answer);
      System.out.flush();
    }
  }
}
