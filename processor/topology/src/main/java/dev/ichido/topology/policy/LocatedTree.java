package dev.ichido.topology.policy;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/**
 * A configuration tree that still knows on which line each member stood. What is written is what is
 * read: anchors, aliases and tags of YAML are refused, and a number that JSON would write
 * otherwise, such as 0123 or 1_000, is a text.
 *
 * @param root the tree
 * @param lines line by JSON pointer, from 1
 */
public record LocatedTree(JsonNode root, Map<String, Integer> lines) {
  private static final YAMLFactory YAML =
      YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?");

  public LocatedTree {
    lines = Map.copyOf(lines);
  }

  /** A tree that was read elsewhere, without lines. */
  public static LocatedTree of(JsonNode root) {
    return new LocatedTree(root, Map.of());
  }

  /**
   * Reads YAML or JSON. A member that is named twice is an error.
   *
   * @param source what to call the text in messages
   */
  public static LocatedTree read(String source, String text) {
    Map<String, Integer> lines = new HashMap<>();
    try (JsonParser parser = YAML.createParser(text)) {
      if (parser.nextToken() == null) {
        return new LocatedTree(MissingNode.getInstance(), lines);
      }
      JsonNode root = node(parser, text.codePoints().toArray(), "", lines);
      if (parser.nextToken() != null) {
        throw PolicyException.notReadable(source, "it holds a second document", null);
      }
      return new LocatedTree(root, lines);
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      // The parser's own message shows the line, which may hold a secret; its problem does not.
      String problem =
          e.getCause() instanceof MarkedYAMLException marked
              ? marked.getProblem()
              : e.getOriginalMessage();
      throw PolicyException.notReadable(source, "line " + line + " is not: " + problem, null);
    } catch (IOException e) {
      throw PolicyException.notReadable(source, "it could not be read", e);
    }
  }

  /** The line of the member at a JSON pointer, where it is known. */
  public OptionalInt findLine(String pointer) {
    Integer line = lines.get(pointer);
    return line == null ? OptionalInt.empty() : OptionalInt.of(line);
  }

  /** One step of a JSON pointer. */
  static String step(String pointer, String member) {
    return pointer + "/" + member.replace("~", "~0").replace("/", "~1");
  }

  private static JsonNode node(
      JsonParser parser, int[] text, String pointer, Map<String, Integer> lines)
      throws IOException {
    lines.putIfAbsent(pointer, parser.currentTokenLocation().getLineNr());
    requirePlain(parser, text);
    JsonToken token = parser.currentToken();
    return switch (token) {
      case START_OBJECT -> {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          requirePlain(parser, text);
          String name = parser.currentName();
          String child = step(pointer, name);
          lines.put(child, parser.currentTokenLocation().getLineNr());
          parser.nextToken();
          object.set(name, node(parser, text, child, lines));
        }
        yield object;
      }
      case START_ARRAY -> {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          array.add(node(parser, text, step(pointer, String.valueOf(array.size())), lines));
        }
        yield array;
      }
      case VALUE_STRING -> JsonNodeFactory.instance.textNode(parser.getText());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          !NUMBER.matcher(parser.getText()).matches()
              ? JsonNodeFactory.instance.textNode(parser.getText())
              : token == JsonToken.VALUE_NUMBER_INT
                  ? JsonNodeFactory.instance.numberNode(parser.getBigIntegerValue())
                  : JsonNodeFactory.instance.numberNode(parser.getDecimalValue());
      case VALUE_TRUE -> JsonNodeFactory.instance.booleanNode(true);
      case VALUE_FALSE -> JsonNodeFactory.instance.booleanNode(false);
      case VALUE_NULL, VALUE_EMBEDDED_OBJECT, NOT_AVAILABLE, END_OBJECT, END_ARRAY, FIELD_NAME ->
          NullNode.getInstance();
    };
  }

  /** The parser does not tell of every anchor, but where each node begins. */
  private static void requirePlain(JsonParser parser, int[] text) throws JsonParseException {
    long at = parser.currentTokenLocation().getCharOffset();
    if (at >= 0 && at < text.length && "&*!".indexOf(text[(int) at]) >= 0) {
      throw new JsonParseException(
          parser, "it has an anchor, an alias or a tag; write what is meant, in quotes if need be");
    }
  }
}
