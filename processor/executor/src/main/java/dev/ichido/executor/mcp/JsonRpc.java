package dev.ichido.executor.mcp;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Messages of JSON-RPC 2.0, whose numbers keep their digits. */
final class JsonRpc {
  static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  /** What the SDK's servers and clients answer when a connection is gone. */
  private static final int CONNECTION_CLOSED = -32000;

  private JsonRpc() {}

  static ObjectNode request(String id, String method, ObjectNode params) {
    ObjectNode message =
        JSON.createObjectNode().put("jsonrpc", "2.0").put("id", id).put("method", method);
    message.set("params", params);
    return message;
  }

  static ObjectNode notification(String method) {
    return JSON.createObjectNode().put("jsonrpc", "2.0").put("method", method);
  }

  static ObjectNode error(JsonNode id, String text) {
    ObjectNode message = JSON.createObjectNode().put("jsonrpc", "2.0");
    message.set("id", id);
    message.putObject("error").put("code", CONNECTION_CLOSED).put("message", text);
    return message;
  }

  static boolean isRequest(JsonNode message) {
    return message.has("method") && message.has("id");
  }

  static boolean isResponse(JsonNode message) {
    return !message.has("method") && message.has("id");
  }
}
