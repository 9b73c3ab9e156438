package dev.ichido.gateway;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Messages of JSON-RPC 2.0, whose numbers keep their digits. */
final class McpJson {
  static final int PARSE_ERROR = -32700;
  static final int METHOD_NOT_FOUND = -32601;
  static final int INTERNAL = -32603;

  /** A member that stands twice is refused: two readers would read two different messages. */
  static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private McpJson() {}

  static ObjectNode object() {
    return JSON.createObjectNode();
  }

  static ObjectNode result(JsonNode id, JsonNode result) {
    ObjectNode message = object().put("jsonrpc", "2.0");
    message.set("id", id);
    message.set("result", result);
    return message;
  }

  static ObjectNode error(JsonNode id, int code, String text) {
    ObjectNode message = object().put("jsonrpc", "2.0");
    message.set("id", id);
    message.putObject("error").put("code", code).put("message", text);
    return message;
  }

  static ObjectNode notification(String method) {
    return object().put("jsonrpc", "2.0").put("method", method);
  }

  static boolean isRequest(JsonNode message) {
    return message.has("method") && message.has("id");
  }

  static boolean isResponse(JsonNode message) {
    return !message.has("method") && message.has("id");
  }

  static String method(JsonNode message) {
    return message.path("method").asText();
  }
}
