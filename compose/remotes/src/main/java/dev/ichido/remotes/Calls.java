package dev.ichido.remotes;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;

/**
 * How often a remote was called since it started, whatever came of it; for the amplification.
 *
 * @param writes all requests that ask for an effect
 * @param reads all status reads
 * @param writesByKey writes per business key; one that was reset unread counts here only when its
 *     key is in a header
 */
public record Calls(long writes, long reads, Map<String, Integer> writesByKey) {
  public Calls {
    writesByKey = Map.copyOf(writesByKey);
  }

  public int writes(String businessKey) {
    return writesByKey.getOrDefault(businessKey, 0);
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object();
    json.put("writes", writes);
    json.put("reads", reads);
    ObjectNode byKey = json.putObject("writes_by_key");
    new TreeMap<>(writesByKey).forEach((key, count) -> byKey.put(key, count));
    return json;
  }
}
