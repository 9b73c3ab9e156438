package dev.ichido.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Strict reading of one object of a scenario: what is never asked for is an error. */
final class Fields {
  private final String where;
  private final JsonNode object;
  private final TreeSet<String> known = new TreeSet<>();

  Fields(String where, JsonNode object) {
    if (!object.isObject()) {
      throw ScenarioException.wrong(where, "an object");
    }
    this.where = where;
    this.object = object;
  }

  String where() {
    return where;
  }

  boolean has(String name) {
    known.add(name);
    return object.has(name);
  }

  JsonNode node(String name) {
    known.add(name);
    return object.path(name);
  }

  Fields object(String name) {
    return new Fields(where + "." + name, node(name));
  }

  /** The text; null when it is stated as null, the default when it is left out. */
  @Nullable String text(String name, @Nullable String byDefault) {
    if (!has(name)) {
      return byDefault;
    }
    JsonNode node = object.get(name);
    if (node.isNull()) {
      return null;
    }
    if (!node.isTextual()) {
      throw ScenarioException.wrong(where + "." + name, "a text");
    }
    return node.textValue();
  }

  String requireText(String name) {
    String text = text(name, null);
    if (text == null) {
      throw ScenarioException.wrong(where + "." + name, "a text");
    }
    return text;
  }

  /** As a text with no default, but a number is taken for its text. */
  @Nullable String label(String name) {
    return has(name) && object.get(name).isNumber() ? object.get(name).asText() : text(name, null);
  }

  @Nullable Integer number(String name) {
    Long number = large(name);
    if (number != null && number.intValue() != number) {
      throw ScenarioException.wrong(where + "." + name, "a whole number");
    }
    return number == null ? null : number.intValue();
  }

  @Nullable Long large(String name) {
    if (!has(name) || object.get(name).isNull()) {
      return null;
    }
    JsonNode node = object.get(name);
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw ScenarioException.wrong(where + "." + name, "a whole number");
    }
    return node.longValue();
  }

  @Nullable Boolean flag(String name) {
    if (!has(name) || object.get(name).isNull()) {
      return null;
    }
    JsonNode node = object.get(name);
    if (!node.isBoolean()) {
      throw ScenarioException.wrong(where + "." + name, "true or false");
    }
    return node.booleanValue();
  }

  /** A text or a list of texts; empty when left out. */
  List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    JsonNode node = node(name);
    if (node.isTextual()) {
      texts.add(node.textValue());
    } else if (node.isArray()) {
      for (JsonNode element : node) {
        if (!element.isTextual()) {
          throw ScenarioException.wrong(where + "." + name, "a list of texts");
        }
        texts.add(element.textValue());
      }
    } else if (!node.isMissingNode()) {
      throw ScenarioException.wrong(where + "." + name, "a text or a list of texts");
    }
    return texts;
  }

  /** The one of these members that is stated; more or none is an error. */
  String oneOf(List<String> names) {
    known.addAll(names);
    List<String> stated = names.stream().filter(object::has).toList();
    if (stated.size() != 1) {
      throw ScenarioException.wrong(where, "exactly one of " + String.join(", ", names));
    }
    return stated.get(0);
  }

  void refuseOthers() {
    for (Map.Entry<String, JsonNode> entry : object.properties()) {
      if (!known.contains(entry.getKey())) {
        throw ScenarioException.unknownMember(where, entry.getKey(), known);
      }
    }
  }
}
