package dev.ichido.executor.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.jayway.jsonpath.Configuration;
import com.jayway.jsonpath.InvalidPathException;
import com.jayway.jsonpath.JsonPath;
import com.jayway.jsonpath.JsonPathException;
import com.jayway.jsonpath.spi.json.JacksonJsonNodeJsonProvider;
import com.jayway.jsonpath.spi.mapper.JacksonMappingProvider;
import java.util.Optional;

/** A JSONPath into a remote's answer. */
public final class AnswerPath {
  private static final Configuration JACKSON =
      Configuration.builder()
          .jsonProvider(new JacksonJsonNodeJsonProvider(Json.EXACT))
          .mappingProvider(new JacksonMappingProvider(Json.EXACT))
          .build();

  private final JsonPath path;

  private AnswerPath(JsonPath path) {
    this.path = path;
  }

  /**
   * Reads a path such as {@code $.data[0].id} or {@code $.data[?(@.key == 'a')].id}.
   *
   * @throws IllegalArgumentException when it is none
   */
  public static AnswerPath compile(String text) {
    // The library drops a bracket that nothing follows.
    if (!text.startsWith("$") || text.endsWith("[")) {
      throw new IllegalArgumentException("Expected a path from the root, $, but it is not.");
    }
    try {
      return new AnswerPath(JsonPath.compile(text));
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** What the path leads to; of a path that may lead to several, the first. */
  public Optional<JsonNode> find(JsonNode root) {
    Object found;
    try {
      found = path.read(root, JACKSON);
    } catch (JsonPathException e) {
      return Optional.empty();
    }
    // A function such as length() gives a number of Java's.
    JsonNode node = Json.EXACT.valueToTree(found);
    return Optional.ofNullable(path.isDefinite() ? node : node.get(0));
  }

  @Override
  public String toString() {
    return path.getPath();
  }
}
