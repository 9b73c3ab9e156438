package dev.ichido.remotes;

import com.fasterxml.jackson.core.JsonPointer;
import java.util.Optional;

/**
 * Where a request carries a key.
 *
 * @param name header, query parameter, or JSON pointer into the body (JSON, or a form whose
 *     bracketed names are taken as nesting)
 */
public record KeySource(Place place, String name) {
  /** The part of the request. */
  public enum Place {
    HEADER,
    QUERY,
    BODY
  }

  public static KeySource header(String name) {
    return new KeySource(Place.HEADER, name);
  }

  public static KeySource query(String name) {
    return new KeySource(Place.QUERY, name);
  }

  public static KeySource body(String pointer) {
    return new KeySource(Place.BODY, JsonPointer.compile(pointer).toString());
  }

  /**
   * Of {@code header:NAME}, {@code query:NAME} or {@code body:/POINTER}.
   *
   * @throws RemoteException NOT_UNDERSTOOD
   */
  public static KeySource parse(String text) {
    int colon = text.indexOf(':');
    String name = text.substring(colon + 1);
    return switch (colon < 0 ? "" : text.substring(0, colon)) {
      case "header" -> header(name);
      case "query" -> query(name);
      case "body" -> body(name);
      default ->
          throw RemoteException.notUnderstood(
              "a key source of the form header:NAME, query:NAME or body:/POINTER", text);
    };
  }

  Optional<String> find(Request request) {
    Optional<String> found =
        switch (place) {
          case HEADER -> request.header(name);
          case QUERY -> Optional.ofNullable(request.head().query().get(name));
          case BODY -> request.field(JsonPointer.compile(name));
        };
    return found.filter(value -> !value.isEmpty());
  }

  Optional<String> find(Request.Head head) {
    return switch (place) {
      case HEADER -> head.header(name).filter(value -> !value.isEmpty());
      case QUERY -> Optional.ofNullable(head.query().get(name)).filter(value -> !value.isEmpty());
      case BODY -> Optional.empty();
    };
  }
}
