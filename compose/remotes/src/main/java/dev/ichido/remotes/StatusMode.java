package dev.ichido.remotes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Locale;

/**
 * How a remote answers when it is asked what happened, until told otherwise.
 *
 * @param reads of {@code LAGGING}: how many reads of one thing still say absent after the commit
 * @param time of {@code LAGGING}: for how long reads say absent after the commit
 */
public record StatusMode(Mode mode, int reads, Duration time) {
  /** The ways of answering. */
  public enum Mode {
    /** Says what is. */
    HONEST,
    /** 503. */
    UNAVAILABLE,
    /** Eventually consistent: absent for a number of reads and a time, then honest. */
    LAGGING,
    /** Lies: absent, whatever is. */
    DENIES,
    /** Lies: found, whatever is. */
    INVENTS
  }

  public static final StatusMode HONEST = of(Mode.HONEST);
  public static final StatusMode UNAVAILABLE = of(Mode.UNAVAILABLE);
  public static final StatusMode DENIES = of(Mode.DENIES);
  public static final StatusMode INVENTS = of(Mode.INVENTS);

  /** Absent until both the reads and the time are over. */
  public static StatusMode lagging(int reads, Duration time) {
    return new StatusMode(Mode.LAGGING, reads, time);
  }

  private static StatusMode of(Mode mode) {
    return new StatusMode(mode, 0, Duration.ZERO);
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object();
    json.put("mode", mode.name().toLowerCase(Locale.ROOT));
    json.put("reads", reads);
    json.put("time_ms", time.toMillis());
    return json;
  }

  static StatusMode fromJson(JsonNode json) {
    String name = json.path("mode").asText();
    for (Mode mode : Mode.values()) {
      if (mode.name().equalsIgnoreCase(name)) {
        return new StatusMode(
            mode, json.path("reads").asInt(), Duration.ofMillis(json.path("time_ms").asLong()));
      }
    }
    throw RemoteException.notUnderstood("a mode of the status read", name);
  }
}
