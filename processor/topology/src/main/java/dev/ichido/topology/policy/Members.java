package dev.ichido.topology.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Strict reading of one object of the tree: every member must be asked for before {@link
 * #refuseOthers()}, and a member that was never asked for is an error. Null counts as left out.
 */
final class Members {
  private final LocatedTree tree;
  private final JsonNode object;
  private final String pointer;
  private final TreeSet<String> known = new TreeSet<>();

  private Members(LocatedTree tree, JsonNode object, String pointer) {
    this.tree = tree;
    this.object = object;
    this.pointer = pointer;
  }

  static Members of(LocatedTree tree, JsonNode node, String pointer) {
    if (!node.isObject() && !node.isMissingNode() && !node.isNull()) {
      throw PolicyException.valueWrong(where(tree, pointer), "an object");
    }
    return new Members(tree, node, pointer);
  }

  String where() {
    return where(tree, pointer);
  }

  String where(String member) {
    return where(tree, LocatedTree.step(pointer, member));
  }

  private static String where(LocatedTree tree, String pointer) {
    String name = pointer.isEmpty() ? "the document" : pointer;
    return tree.findLine(pointer).isPresent()
        ? name + " (line " + tree.findLine(pointer).getAsInt() + ")"
        : name;
  }

  JsonNode node(String member) {
    known.add(member);
    JsonNode node = object.path(member);
    return node.isNull() ? MissingNode.getInstance() : node;
  }

  boolean has(String member) {
    return !node(member).isMissingNode();
  }

  /** True also when the member is stated as null. */
  boolean states(String member) {
    known.add(member);
    return object.has(member);
  }

  Members object(String member) {
    return of(tree, node(member), LocatedTree.step(pointer, member));
  }

  /** All members, each read as an object. */
  Map<String, Members> objects() {
    Map<String, Members> all = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : object.properties()) {
      known.add(entry.getKey());
      all.put(
          entry.getKey(), of(tree, entry.getValue(), LocatedTree.step(pointer, entry.getKey())));
    }
    return all;
  }

  Optional<String> text(String member) {
    return value(member, "a text", node -> node.isTextual() ? node.textValue() : null);
  }

  Optional<Boolean> flag(String member) {
    return value(member, "true or false", node -> node.isBoolean() ? node.booleanValue() : null);
  }

  Optional<Integer> number(String member, int least, int most) {
    return value(
        member,
        "a whole number from " + least + " to " + most,
        node ->
            node.isIntegralNumber()
                    && node.canConvertToInt()
                    && node.intValue() >= least
                    && node.intValue() <= most
                ? node.intValue()
                : null);
  }

  Optional<Duration> duration(String member) {
    return value(
        member,
        "a duration such as 250ms, 60s, 5m, 24h or 30d, of 36500d at most",
        node -> node.isTextual() ? Durations.tryParseSetting(node.textValue()).orElse(null) : null);
  }

  Optional<List<String>> texts(String member) {
    return value(
        member,
        "a list of texts",
        node -> {
          if (!node.isArray()) {
            return null;
          }
          List<String> texts = new ArrayList<>();
          for (JsonNode element : node) {
            if (!element.isTextual()) {
              return null;
            }
            texts.add(element.textValue());
          }
          return List.copyOf(texts);
        });
  }

  <T> Optional<T> choice(String member, Map<String, T> choices) {
    return value(
        member,
        "one of " + String.join(", ", new TreeSet<>(choices.keySet())),
        node -> node.isTextual() ? choices.get(node.textValue()) : null);
  }

  <T> Optional<T> value(
      String member,
      String expected,
      Function<JsonNode, @org.jspecify.annotations.Nullable T> reading) {
    JsonNode node = node(member);
    if (node.isMissingNode()) {
      return Optional.empty();
    }
    T value = reading.apply(node);
    if (value == null) {
      throw PolicyException.valueWrong(where(member), expected);
    }
    return Optional.of(value);
  }

  void refuseOthers() {
    for (Map.Entry<String, JsonNode> entry : object.properties()) {
      if (!known.contains(entry.getKey())) {
        throw PolicyException.memberUnknown(where(entry.getKey()), known);
      }
    }
  }
}
