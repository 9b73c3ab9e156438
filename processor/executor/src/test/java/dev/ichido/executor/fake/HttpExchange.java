package dev.ichido.executor.fake;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Requests and answers as the fakes see them. */
public final class HttpExchange {
  private HttpExchange() {}

  /**
   * A complete request.
   *
   * @param path without the query
   * @param headers by lower-case name
   */
  public record Request(
      String method,
      String path,
      Map<String, String> query,
      Map<String, String> headers,
      String body) {
    /** A header by its name in lower case. */
    public Optional<String> header(String name) {
      return Optional.ofNullable(headers.get(name));
    }
  }

  /** A complete answer. */
  public record Answer(int status, Map<String, String> headers, String body) {
    public static Answer json(int status, String body) {
      return new Answer(status, Map.of("Content-Type", "application/json"), body);
    }

    /** The answer with one more header. */
    public Answer with(String name, String value) {
      Map<String, String> more = new LinkedHashMap<>(headers);
      more.put(name, value);
      return new Answer(status, more, body);
    }
  }

  static Map<String, String> queryOf(@Nullable String query) {
    Map<String, String> values = new TreeMap<>();
    if (query == null || query.isEmpty()) {
      return values;
    }
    for (String pair : query.split("&", -1)) {
      int equals = pair.indexOf('=');
      values.put(
          decoded(equals < 0 ? pair : pair.substring(0, equals)),
          equals < 0 ? "" : decoded(pair.substring(equals + 1)));
    }
    return values;
  }

  private static String decoded(String text) {
    return java.net.URLDecoder.decode(text, java.nio.charset.StandardCharsets.UTF_8);
  }
}
