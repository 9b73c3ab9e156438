package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A tool server over standard input and output with a book of effects: a file to which each effect
 * is a line, with the tool and the arguments that arrived. Plain Java without a library of the
 * protocol, so that it shares nothing with what it judges. {@code slow} has its effect at once and
 * answers when the file that its argument {@code gate} names is there; {@code die} has its effect
 * and ends the process. {@code look} says the messages of its argument {@code say} first; after its
 * argument {@code grow} there is one tool more.
 */
public final class BookedTools {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private final Path folder;
  private boolean grown;

  private BookedTools(Path folder) {
    this.folder = folder;
  }

  /** The command line that starts one with its book in a folder. */
  public static List<String> command(Path folder) {
    List<String> command = new ArrayList<>(java(48));
    command.addAll(List.of(BookedTools.class.getName(), folder.toString()));
    return command;
  }

  /** A JVM with the classes of this one, up to the name of the class. */
  static List<String> java(int heapMb) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx" + heapMb + "m",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        System.getProperty("java.class.path"));
  }

  /** The effects in the book of a folder, oldest first. */
  public static List<String> book(Path folder) throws IOException {
    Path book = folder.resolve("book");
    return Files.exists(book) ? Files.readAllLines(book) : List.of();
  }

  public static void main(String[] arguments) throws Exception {
    new BookedTools(Path.of(arguments[0])).run();
  }

  private void run() throws Exception {
    Files.writeString(folder.resolve("pid"), Long.toString(ProcessHandle.current().pid()));
    System.out.println("a banner that is no message");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    Map<String, String> asked = new HashMap<>();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonNode message = JSON.readTree(line);
      if (!message.has("method")) {
        // The answer to a question of ours ends the call that asked it.
        String call = asked.remove(message.path("id").asText());
        if (call == null) {
          note("seen", message.toString());
        } else {
          answer(JSON.readTree(call), text(message.path("result").toString()));
        }
        continue;
      }
      switch (message.path("method").asText()) {
        case "initialize" -> {
          ObjectNode result = JSON.createObjectNode();
          result.set("protocolVersion", message.path("params").path("protocolVersion"));
          result.putObject("capabilities").putObject("tools");
          result.putObject("serverInfo").put("name", "booked").put("version", "1");
          result.put("instructions", "unknown members pass").put("x-more", 1);
          answer(message.get("id"), result);
        }
        case "tools/list" -> answer(message.get("id"), tools());
        case "tools/call" -> call(message, asked);
        case "ping" -> answer(message.get("id"), JSON.createObjectNode());
        default -> {
          note("seen", message.path("method").asText() + " " + message.path("params"));
          if (message.has("id")) {
            ObjectNode result = JSON.createObjectNode();
            result.set("method", message.get("method"));
            result.set("params", message.path("params"));
            answer(message.get("id"), result);
          }
        }
      }
    }
  }

  private void call(JsonNode message, Map<String, String> asked) throws Exception {
    JsonNode params = message.path("params");
    JsonNode id = message.get("id");
    String name = params.path("name").asText();
    switch (name) {
      case "look", "late" -> {
        params.path("arguments").path("say").forEach(BookedTools::say);
        grown |= params.path("arguments").path("grow").asBoolean();
        answer(id, text("looked at " + params.path("arguments")));
      }
      case "pay", "send", "own", "peek" -> {
        note("book", name + " " + params.path("arguments"));
        ObjectNode result = text("paid");
        result.putObject("structuredContent").put("effect", BookedTools.book(folder).size());
        result.putObject("_meta").put("tool/own", "kept");
        answer(id, result);
      }
      case "large" -> {
        note("book", name + " " + params.path("arguments"));
        answer(id, text("x".repeat(200_000)));
      }
      case "fail" -> {
        note("book", name + " " + params.path("arguments"));
        answer(id, text("no such account").put("isError", true));
      }
      case "slow" -> {
        note("book", name + " " + params.path("arguments"));
        Path gate = folder.resolve(params.path("arguments").path("gate").asText());
        JsonNode token = params.path("_meta").path("progressToken");
        if (!token.isMissingNode()) {
          ObjectNode progress = JSON.createObjectNode().put("progress", 1);
          progress.set("progressToken", token);
          say(
              JSON.createObjectNode()
                  .put("jsonrpc", "2.0")
                  .put("method", "notifications/progress")
                  .set("params", progress));
        }
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    while (!Files.exists(gate)) {
                      TimeUnit.MILLISECONDS.sleep(10);
                    }
                    answer(id, text("slowly done"));
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                });
      }
      case "ask" -> {
        note("book", name + " " + params.path("arguments"));
        asked.put("question-1", id.toString());
        say(
            JSON.createObjectNode()
                .put("jsonrpc", "2.0")
                .put("id", "question-1")
                .put("method", "sampling/createMessage")
                .set("params", JSON.createObjectNode().put("maxTokens", 7)));
      }
      case "die" -> {
        note("book", name + " " + params.path("arguments"));
        Runtime.getRuntime().halt(137);
      }
      default ->
          say(
              ((ObjectNode) JSON.createObjectNode().put("jsonrpc", "2.0").set("id", id))
                  .set(
                      "error",
                      JSON.createObjectNode().put("code", -32602).put("message", "unknown tool")));
    }
  }

  private ObjectNode tools() {
    ObjectNode result = JSON.createObjectNode();
    ArrayNode tools = result.putArray("tools");
    List<String> names =
        new ArrayList<>(
            List.of("look", "peek", "pay", "send", "own", "large", "fail", "slow", "ask", "die"));
    if (grown) {
      names.add("late");
    }
    for (String name : names) {
      ObjectNode tool = tools.addObject().put("name", name).put("x-vendor", "kept");
      ObjectNode schema = tool.putObject("inputSchema").put("type", "object");
      if (Set.of("look", "late", "peek").contains(name)) {
        tool.putObject("annotations").put("readOnlyHint", true);
      }
      if (name.equals("own")) {
        schema.putObject("properties").putObject("operation_id").put("type", "integer");
      }
    }
    return result;
  }

  private static ObjectNode text(String text) {
    ObjectNode result = JSON.createObjectNode();
    result.putArray("content").addObject().put("type", "text").put("text", text);
    return result;
  }

  private static void answer(JsonNode id, JsonNode result) {
    ObjectNode message = JSON.createObjectNode().put("jsonrpc", "2.0");
    message.set("id", id);
    message.set("result", result);
    say(message);
  }

  private static synchronized void say(JsonNode message) {
    System.out.println(message);
    System.out.flush();
  }

  private void note(String file, String line) throws IOException {
    Files.writeString(
        folder.resolve(file), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
