package dev.ichido.config;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Properties that are handed on as they are, to a Kafka client or to the registry. They may hold
 * passwords, so only their names are printed.
 */
public final class Settings {
  public static final Settings NONE = new Settings(Map.of());

  private final Map<String, String> values;

  private Settings(Map<String, String> values) {
    this.values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
  }

  @JsonCreator
  public static Settings of(Map<String, String> values) {
    return new Settings(values);
  }

  @JsonValue
  public Map<String, String> values() {
    return values;
  }

  /** With one more, or with another value for it. */
  public Settings with(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(values);
    more.put(name, value);
    return new Settings(more);
  }

  @Override
  public String toString() {
    return values.keySet().toString();
  }
}
