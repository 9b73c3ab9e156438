package dev.ichido.operation.fingerprint;

import dev.ichido.operation.Refusal;
import dev.ichido.operation.TypedParts;
import dev.ichido.operation.fingerprint.JsonValue.JsonArray;
import dev.ichido.operation.fingerprint.JsonValue.JsonObject;
import dev.ichido.operation.fingerprint.JsonValue.JsonText;
import dev.ichido.operation.fingerprint.JsonValue.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Canonical form v1 of a JSON text: the order and the escapes of RFC 8785, with exact decimals in
 * the place of doubles. Texts of equal meaning have one form, texts of another meaning another.
 *
 * <p>Members are ordered by the UTF-16 code units of their names, arrays keep their order, an
 * absent member is not null, 1 is 1.0 is 1e0, -0 is 0, and texts are not normalised.
 */
public final class CanonicalForm {
  /** How deep objects and arrays nest at most. */
  public static final int MAX_DEPTH = 200;

  /** Longest text, in bytes of UTF-8. */
  public static final int MAX_BYTES = 1024 * 1024;

  /** Most digits that a number is written with, exponent aside. */
  public static final int MAX_DIGITS = 100;

  /** Largest absolute exponent, both as written and of the first digit that counts. */
  public static final int MAX_EXPONENT = 308;

  private static final String HEX = "0123456789abcdef";

  private final JsonValue value;

  private CanonicalForm(JsonValue value) {
    this.value = value;
  }

  /** A canonical form, or why a text has none. */
  public sealed interface Reading {
    /** The text is JSON that every reader understands alike. */
    record Read(CanonicalForm form) implements Reading {}

    /** The text is refused. */
    record Refused(Refusal refusal) implements Reading {}
  }

  /** Reads a JSON text strictly. Total: whatever the text is, it is read or refused. */
  public static Reading read(String json) {
    try {
      return new Reading.Read(new CanonicalForm(JsonReader.read(json)));
    } catch (JsonReader.RefusedException e) {
      return new Reading.Refused(e.refusal());
    }
  }

  /** This form without some top-level members. A form that is no object stays as it is. */
  public CanonicalForm without(Set<String> names) {
    if (names.isEmpty() || !(value instanceof JsonObject object)) {
      return this;
    }
    SortedMap<String, JsonValue> members = new TreeMap<>(object.members());
    members.keySet().removeAll(names);
    return new CanonicalForm(new JsonObject(members));
  }

  /** The canonical text. */
  public String text() {
    TypedParts parts = new TypedParts();
    write(value, parts);
    return new String(parts.copy(0, parts.size()), StandardCharsets.UTF_8);
  }

  /** What was read. */
  public JsonValue value() {
    return value;
  }

  /** Appends the canonical text of a value to the open part. */
  static void write(JsonValue value, TypedParts into) {
    switch (value) {
      case JsonToken token -> into.append(token.canonical());
      case JsonText text -> writeText(text.text(), into);
      case JsonArray array -> {
        char before = '[';
        for (JsonValue element : array.elements()) {
          into.appendAscii(before);
          write(element, into);
          before = ',';
        }
        if (before == '[') {
          into.appendAscii('[');
        }
        into.appendAscii(']');
      }
      case JsonObject object -> {
        char before = '{';
        for (Map.Entry<String, JsonValue> member : object.members().entrySet()) {
          into.appendAscii(before);
          writeText(member.getKey(), into);
          into.appendAscii(':');
          write(member.getValue(), into);
          before = ',';
        }
        if (before == '{') {
          into.appendAscii('{');
        }
        into.appendAscii('}');
      }
    }
  }

  private static void writeText(String text, TypedParts into) {
    into.appendAscii('"');
    int written = 0;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit < ' ' || unit == '"' || unit == '\\') {
        into.append(text.substring(written, i));
        writeEscape(unit, into);
        written = i + 1;
      }
    }
    into.append(text.substring(written));
    into.appendAscii('"');
  }

  private static void writeEscape(char unit, TypedParts into) {
    into.appendAscii('\\');
    switch (unit) {
      case '"', '\\' -> into.appendAscii(unit);
      case '\b' -> into.appendAscii('b');
      case '\t' -> into.appendAscii('t');
      case '\n' -> into.appendAscii('n');
      case '\f' -> into.appendAscii('f');
      case '\r' -> into.appendAscii('r');
      default -> {
        into.append("u00");
        into.appendAscii(HEX.charAt(unit >> 4));
        into.appendAscii(HEX.charAt(unit & 0xF));
      }
    }
  }
}
