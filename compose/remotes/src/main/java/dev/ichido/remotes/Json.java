package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** JSON trees and their digests. */
final class Json {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static byte[] bytes(JsonNode json) {
    try {
      return MAPPER.writeValueAsBytes(json);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A missing node when the bytes are no JSON. */
  static JsonNode parse(byte[] bytes) {
    try {
      JsonNode json = MAPPER.readTree(bytes);
      return json == null ? MAPPER.missingNode() : json;
    } catch (IOException e) {
      return MAPPER.missingNode();
    }
  }

  /** Equal for equal values, whatever the order of members. */
  static String digest(String prefix, JsonNode json) {
    try {
      // As plain maps, since only those are ordered when they are written.
      Object value = MAPPER.treeToValue(json, Object.class);
      return digest((prefix + "\n" + MAPPER.writeValueAsString(value)).getBytes(UTF_8));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String digest(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
