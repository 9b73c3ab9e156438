package dev.ichido.remotes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What a book said at one moment.
 *
 * @param effects in the order in which they happened
 */
public record BookReading(List<Effect> effects) {
  public BookReading {
    effects = List.copyOf(effects);
  }

  public List<Effect> byBusinessKey(String key) {
    return having(effect -> effect.businessKey().equals(key));
  }

  public List<Effect> byNaturalKey(String key) {
    return having(effect -> key.equals(effect.naturalKey()));
  }

  public List<Effect> byDownstreamKey(String key) {
    return having(effect -> key.equals(effect.downstreamKey()));
  }

  public List<Effect> byReference(String reference) {
    return having(effect -> effect.reference().equals(reference));
  }

  /** From the first moment on, and before the second. */
  public List<Effect> between(Instant from, Instant until) {
    return having(effect -> !effect.at().isBefore(from) && effect.at().isBefore(until));
  }

  /** Effects per {@link Effect#countingKey()}. */
  public Map<String, Integer> countByKey() {
    Map<String, Integer> counts = new TreeMap<>();
    effects.forEach(effect -> counts.merge(effect.countingKey(), 1, Integer::sum));
    return counts;
  }

  /** Those keys of {@link #countByKey()} that have more than one effect. */
  public Map<String, Integer> duplicates() {
    Map<String, Integer> counts = countByKey();
    counts.values().removeIf(count -> count < 2);
    return counts;
  }

  List<Effect> having(Predicate<Effect> predicate) {
    return effects.stream().filter(predicate).toList();
  }

  /** The shape of {@code GET /_book}. */
  ObjectNode toJson() {
    ObjectNode json = Json.object();
    json.put("count", effects.size());
    ObjectNode counts = json.putObject("count_by_key");
    countByKey().forEach((key, count) -> counts.put(key, count));
    ObjectNode duplicates = json.putObject("duplicates");
    duplicates().forEach((key, count) -> duplicates.put(key, count));
    ArrayNode list = json.putArray("effects");
    effects.forEach(effect -> list.add(effect.toJson()));
    return json;
  }

  static BookReading fromJson(JsonNode json) {
    List<Effect> effects = new ArrayList<>();
    json.path("effects").forEach(effect -> effects.add(Effect.fromJson(effect)));
    return new BookReading(effects);
  }
}
