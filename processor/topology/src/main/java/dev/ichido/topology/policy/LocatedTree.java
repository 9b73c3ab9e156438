package dev.ichido.topology.policy;

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

/**
 * A configuration tree that still knows on which line each member stood. Anchors and tags of YAML
 * are not followed: what is written is what is read.
 *
 * @param root the tree
 * @param lines line by JSON pointer, from 1
 */
public record LocatedTree(JsonNode root, Map<String, Integer> lines) {
  private static final YAMLFactory YAML =
      YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

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
      JsonNode root = node(parser, "", lines);
      if (parser.nextToken() != null) {
        throw PolicyException.notReadable(source, "it holds a second document", null);
      }
      return new LocatedTree(root, lines);
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      throw PolicyException.notReadable(
          source, "line " + line + " is not: " + e.getOriginalMessage(), e);
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

  private static JsonNode node(JsonParser parser, String pointer, Map<String, Integer> lines)
      throws IOException {
    lines.putIfAbsent(pointer, parser.currentTokenLocation().getLineNr());
    JsonToken token = parser.currentToken();
    return switch (token) {
      case START_OBJECT -> {
        ObjectNode object = JsonNodeFactory.instance.objectNode();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          String name = parser.currentName();
          String child = step(pointer, name);
          lines.put(child, parser.currentTokenLocation().getLineNr());
          parser.nextToken();
          object.set(name, node(parser, child, lines));
        }
        yield object;
      }
      case START_ARRAY -> {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          array.add(node(parser, step(pointer, String.valueOf(array.size())), lines));
        }
        yield array;
      }
      case VALUE_STRING -> JsonNodeFactory.instance.textNode(parser.getText());
      case VALUE_NUMBER_INT -> JsonNodeFactory.instance.numberNode(parser.getBigIntegerValue());
      case VALUE_NUMBER_FLOAT -> JsonNodeFactory.instance.numberNode(parser.getDecimalValue());
      case VALUE_TRUE -> JsonNodeFactory.instance.booleanNode(true);
      case VALUE_FALSE -> JsonNodeFactory.instance.booleanNode(false);
      case VALUE_NULL, VALUE_EMBEDDED_OBJECT, NOT_AVAILABLE, END_OBJECT, END_ARRAY, FIELD_NAME ->
          NullNode.getInstance();
    };
  }
}
