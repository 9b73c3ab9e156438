package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** An HTTP answer; bodies are never changed after they are handed over. */
@SuppressWarnings("ArrayRecordComponent")
record Answer(int status, Map<String, String> headers, byte[] body) {
  Answer {
    headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
  }

  static Answer json(int status, JsonNode body) {
    return new Answer(status, Map.of("Content-Type", "application/json"), Json.bytes(body));
  }

  static Answer text(int status, String type, String body) {
    return new Answer(status, Map.of("Content-Type", type), body.getBytes(UTF_8));
  }

  static Answer empty(int status) {
    return new Answer(status, Map.of(), new byte[0]);
  }

  Answer with(String header, String value) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put(header, value);
    return new Answer(status, all, body);
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object();
    json.put("status", status);
    ObjectNode all = json.putObject("headers");
    headers.forEach((name, value) -> all.put(name, value));
    json.put("body", Base64.getEncoder().encodeToString(body));
    return json;
  }

  static Answer fromJson(JsonNode json) {
    Map<String, String> headers = new LinkedHashMap<>();
    json.path("headers").properties().forEach(e -> headers.put(e.getKey(), e.getValue().asText()));
    return new Answer(
        json.path("status").asInt(),
        headers,
        Base64.getDecoder().decode(json.path("body").asText()));
  }
}
