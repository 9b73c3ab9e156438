package dev.ichido.topology.operation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.operation.fingerprint.CanonicalForm;
import dev.ichido.operation.fingerprint.JsonValue;
import dev.ichido.operation.fingerprint.JsonValue.JsonArray;
import dev.ichido.operation.fingerprint.JsonValue.JsonObject;
import dev.ichido.operation.fingerprint.JsonValue.JsonText;
import dev.ichido.operation.fingerprint.JsonValue.JsonToken;
import dev.ichido.topology.policy.ArgumentsSchema;
import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * A canonical form as a tree that schema and expressions take. Equal values have equal trees: an
 * integer is one of any size, also where it was written with a fraction or an exponent.
 */
final class CanonicalTree {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private CanonicalTree() {}

  static JsonNode of(CanonicalForm form) {
    return node(form.value());
  }

  private static JsonNode node(JsonValue value) {
    return switch (value) {
      case JsonObject object -> {
        ObjectNode node = NODES.objectNode();
        object.members().forEach((name, member) -> node.set(name, node(member)));
        yield node;
      }
      case JsonArray array -> {
        ArrayNode node = NODES.arrayNode(array.elements().size());
        array.elements().forEach(element -> node.add(node(element)));
        yield node;
      }
      case JsonText text -> NODES.textNode(text.text());
      case JsonToken token -> token(token.canonical());
    };
  }

  private static JsonNode token(String canonical) {
    return switch (canonical) {
      case "null" -> NODES.nullNode();
      case "true" -> NODES.booleanNode(true);
      case "false" -> NODES.booleanNode(false);
      default ->
          canonical.indexOf('.') < 0 && canonical.indexOf('e') < 0
              ? ArgumentsSchema.integer(new BigInteger(canonical))
              : NODES.numberNode(new BigDecimal(canonical));
    };
  }
}
