package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A request as it came over the wire. */
final class Request {
  /** Request line and headers; names of headers are in lower case. */
  record Head(
      String method,
      String path,
      Map<String, String> query,
      Map<String, List<String>> headers,
      boolean keepAlive) {

    /** The first header of that name. */
    Optional<String> header(String name) {
      return all(name).stream().findFirst();
    }

    List<String> all(String name) {
      return headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
    }

    boolean reads() {
      return method.equals("GET") || method.equals("HEAD");
    }

    /** Parts of the path between slashes, without empty ones. */
    List<String> segments() {
      return List.of(path.split("/")).stream().filter(part -> !part.isEmpty()).toList();
    }
  }

  private final Head head;
  private final byte[] body;
  private final JsonNode content;

  Request(Head head, byte[] body) {
    this.head = head;
    this.body = body;
    this.content = read(head, body);
  }

  Head head() {
    return head;
  }

  Optional<String> header(String name) {
    return head.header(name);
  }

  byte[] body() {
    return body;
  }

  /** The body as a tree, of JSON or of a form with bracketed names; missing when it is neither. */
  JsonNode content() {
    return content;
  }

  /** A scalar of the body. */
  Optional<String> field(JsonPointer pointer) {
    JsonNode node = content.at(pointer);
    return node.isValueNode() && !node.isNull() ? Optional.of(node.asText()) : Optional.empty();
  }

  /** A parameter of the query, or a top-level scalar of the body. */
  Optional<String> parameter(String name) {
    String inQuery = head.query().get(name);
    if (inQuery != null) {
      return Optional.of(inQuery);
    }
    return content.isObject() ? field(JsonPointer.compile("/" + name)) : Optional.empty();
  }

  /** Query and body as one tree. */
  ObjectNode parameters() {
    ObjectNode all = Json.object();
    head.query().forEach((name, value) -> all.put(name, value));
    if (content instanceof ObjectNode object) {
      all.setAll(object);
    }
    return all;
  }

  private static JsonNode read(Head head, byte[] body) {
    String type = head.header("content-type").orElse("");
    if (type.startsWith("application/x-www-form-urlencoded")) {
      ObjectNode form = Json.object();
      decode(new String(body, UTF_8)).forEach((name, value) -> put(form, name, value));
      return form;
    }
    return Json.parse(body);
  }

  /** {@code a[b][c]} becomes the member c of the member b of the member a. */
  private static void put(ObjectNode form, String name, String value) {
    List<String> parts = List.of(name.replace("]", "").split("\\["));
    ObjectNode at = form;
    for (String part : parts.subList(0, parts.size() - 1)) {
      at = at.get(part) instanceof ObjectNode inner ? inner : at.putObject(part);
    }
    at.put(parts.getLast(), value);
  }

  static Map<String, String> decode(String pairs) {
    Map<String, String> decoded = new LinkedHashMap<>();
    for (String pair : pairs.split("&", -1)) {
      if (!pair.isEmpty()) {
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        String value = equals < 0 ? "" : pair.substring(equals + 1);
        decoded.putIfAbsent(URLDecoder.decode(name, UTF_8), URLDecoder.decode(value, UTF_8));
      }
    }
    return decoded;
  }
}
