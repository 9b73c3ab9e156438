package dev.ichido.operation.fingerprint;

import java.util.List;
import java.util.SortedMap;

/** A JSON value whose spelling no longer matters. */
public sealed interface JsonValue {
  /** Members by name, in the order of UTF-16 code units. */
  record JsonObject(SortedMap<String, JsonValue> members) implements JsonValue {}

  /** Elements in their order, which carries meaning. */
  record JsonArray(List<JsonValue> elements) implements JsonValue {}

  /** A text of whole Unicode characters, not normalised. */
  record JsonText(String text) implements JsonValue {}

  /**
   * A number, true, false or null in its one canonical spelling: an integer is its digits, however
   * it was written.
   */
  record JsonToken(String canonical) implements JsonValue {}
}
