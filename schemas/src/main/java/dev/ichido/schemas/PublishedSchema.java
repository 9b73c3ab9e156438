package dev.ichido.schemas;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.avro.Schema;

/** A schema as it is published: without what the generator adds for Java alone. */
public final class PublishedSchema {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String JAVA_STRING = "avro.java.string";

  private PublishedSchema() {}

  /**
   * The schema without {@code avro.java.string}. Other languages do not know it, and a registry
   * would keep a second version of every schema for it.
   */
  public static Schema of(Schema generated) {
    try {
      JsonNode tree = JSON.readTree(generated.toString());
      return new Schema.Parser().parse(JSON.writeValueAsString(plain(tree)));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("A schema did not print itself as JSON.", e);
    }
  }

  private static JsonNode plain(JsonNode node) {
    if (node instanceof ObjectNode object) {
      boolean java = object.remove(JAVA_STRING) != null;
      if (java && object.size() == 1 && object.path("type").isTextual()) {
        return object.get("type");
      }
      object.properties().forEach(member -> member.setValue(plain(member.getValue())));
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        array.set(i, plain(array.get(i)));
      }
    }
    return node;
  }
}
