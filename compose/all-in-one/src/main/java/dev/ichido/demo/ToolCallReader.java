package dev.ichido.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.ichido.cli.CommandException;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads tool calls, one JSON object a line. A line is either of the plain shape (tool, arguments,
 * run, step, tool_call_id, effect, target, tenant, operation_id) or of a runtime's own:
 *
 * <ul>
 *   <li>LangGraph: {@code {"type":"tool_call","name":…,"args":{…},"id":…}}
 *   <li>OpenAI Agents: {@code {"type":"function_call","name":…,"arguments":"…","call_id":…}}
 *   <li>MCP: {@code
 *       {"jsonrpc":"2.0","id":…,"method":"tools/call","params":{"name":…,"arguments":{…}}}}
 * </ul>
 *
 * with the plain members beside it. Members that are none of these are the runtime's own business
 * and are passed over. Arguments keep their text: numbers are not read as doubles, and a member
 * that is named twice is left for the processor to refuse.
 */
public final class ToolCallReader {
  /** A line that says nothing about the effect may have one. */
  private static final ToolCall.Effect UNSTATED = ToolCall.Effect.WRITE;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNumberLength(100_000)
                  .maxStringLength(20_000_000)
                  .build())
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .build();

  private ToolCallReader() {}

  /**
   * Reads a whole file before anything is done with it.
   *
   * @throws CommandException INPUT_UNREADABLE, INPUT_EMPTY, INPUT_LINE
   */
  public static List<ToolCall> read(Path file) {
    try (InputStream stream = Files.newInputStream(file)) {
      return read(file.toString(), stream);
    } catch (NoSuchFileException e) {
      throw unreadable(file.toString(), "there is no such file", e);
    } catch (IOException e) {
      throw unreadable(file.toString(), "it can't be read (" + e.getMessage() + ")", e);
    }
  }

  static List<ToolCall> read(String source, byte[] bytes) {
    try {
      return read(source, new ByteArrayInputStream(bytes));
    } catch (IOException e) {
      throw unreadable(source, "it can't be read", e);
    }
  }

  static List<ToolCall> read(String source, InputStream stream) throws IOException {
    List<ToolCall> calls = new ArrayList<>();
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                stream,
                UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)))) {
      int number = 0;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        number++;
        if (!line.isBlank()) {
          calls.add(parse(source, number, line));
        }
      }
    } catch (CharacterCodingException e) {
      throw unreadable(source, "it is not UTF-8", e);
    }
    if (calls.isEmpty()) {
      throw CommandException.usage(
          "INPUT_EMPTY",
          "Expected at least one tool call in " + source + ", but it has none. Check the file.");
    }
    return calls;
  }

  private static ToolCall parse(String source, int number, String line) {
    Map<String, String> members = new HashMap<>();
    try (JsonParser parser = JSON.createParser(line)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw bad(source, number, "a JSON object", "it is something else");
      }
      readMembers(parser, line, "", members);
      if (parser.nextToken() != null) {
        throw bad(source, number, "one JSON object", "something follows it");
      }
    } catch (JsonProcessingException e) {
      throw bad(source, number, "a JSON object", "it is not: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw unreadable(source, "it can't be read", e);
    }
    return call(source, number, members);
  }

  private static void readMembers(
      JsonParser parser, String line, String prefix, Map<String, String> members)
      throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = prefix + parser.currentName();
      JsonToken token = parser.nextToken();
      boolean opened = name.equals("params") || name.equals("params._meta");
      if (opened && token == JsonToken.START_OBJECT) {
        readMembers(parser, line, name + ".", members);
      } else if (token.isStructStart()) {
        int from = Math.toIntExact(parser.currentTokenLocation().getCharOffset());
        parser.skipChildren();
        int to = Math.toIntExact(parser.currentLocation().getCharOffset());
        members.put(name, line.substring(from, to));
      } else if (token != JsonToken.VALUE_NULL) {
        members.put(name, parser.getText());
      }
    }
  }

  private static ToolCall call(String source, int number, Map<String, String> members) {
    String type = members.getOrDefault("type", "");
    boolean mcp = "tools/call".equals(members.get("method"));
    String tool =
        mcp ? members.get("params.name") : first(members, "tool", type.isEmpty() ? "tool" : "name");
    if (tool == null || tool.isBlank()) {
      throw bad(source, number, "the name of a tool", "there is none");
    }
    String arguments = mcp ? members.get("params.arguments") : first(members, "arguments", "args");
    String callId =
        first(members, "tool_call_id", mcp || type.equals("tool_call") ? "id" : "call_id");
    return new ToolCall(
        number,
        tool,
        arguments == null ? "{}" : arguments,
        members.get("tenant"),
        members.get("operation_id"),
        first(members, "run", "params._meta.run"),
        first(members, "step", "params._meta.step"),
        callId,
        effect(source, number, members.get("effect")),
        members.get("target"));
  }

  private static ToolCall.Effect effect(String source, int number, @Nullable String word) {
    if (word == null) {
      return UNSTATED;
    }
    return switch (word) {
      case "read" -> ToolCall.Effect.READ;
      case "write" -> ToolCall.Effect.WRITE;
      default -> throw bad(source, number, "effect to be read or write", "it is another word");
    };
  }

  private static @Nullable String first(Map<String, String> members, String one, String other) {
    String value = members.get(one);
    return value == null ? members.get(other) : value;
  }

  private static CommandException bad(String source, int number, String expected, String found) {
    return CommandException.usage(
        "INPUT_LINE",
        "Expected "
            + expected
            + " in line "
            + number
            + " of "
            + source
            + ", but "
            + found
            + ". Check that line; nothing was sent.");
  }

  private static CommandException unreadable(String source, String found, Throwable cause) {
    return CommandException.usage(
        "INPUT_UNREADABLE",
        "Expected a file of tool calls at " + source + ", but " + found + ". Check the path.",
        cause);
  }
}
