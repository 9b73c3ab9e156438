package dev.ichido.remotes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One thing that happened at a remote.
 *
 * @param sequence position in the book, from 1
 * @param scope world of its own within the remote (an EC2 region); empty where there is one world
 * @param businessKey what the effect was for; two effects with one business key are a duplicate
 * @param naturalKey what the remote itself can be asked for; null when the request named nothing
 * @param downstreamKey the idempotency key that the request carried; null without one
 * @param reference what the remote calls the effect
 * @param at remote's own time
 * @param operation method and path of the request
 * @param resource what was changed
 * @param version how often that resource had been changed, with this effect, from 1
 */
public record Effect(
    long sequence,
    String scope,
    String businessKey,
    @Nullable String naturalKey,
    @Nullable String downstreamKey,
    String reference,
    Instant at,
    String operation,
    String resource,
    long version) {

  /** Key under which effects are counted: the business key, within its scope where there is one. */
  public String countingKey() {
    return scope.isEmpty() ? businessKey : scope + "/" + businessKey;
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object();
    json.put("sequence", sequence);
    json.put("scope", scope);
    json.put("business_key", businessKey);
    json.put("natural_key", naturalKey);
    json.put("downstream_key", downstreamKey);
    json.put("reference", reference);
    json.put("at", at.toString());
    json.put("operation", operation);
    json.put("resource", resource);
    json.put("version", version);
    return json;
  }

  static Effect fromJson(JsonNode json) {
    return new Effect(
        json.path("sequence").asLong(),
        json.path("scope").asText(),
        json.path("business_key").asText(),
        json.path("natural_key").textValue(),
        json.path("downstream_key").textValue(),
        json.path("reference").asText(),
        Instant.parse(json.path("at").asText()),
        json.path("operation").asText(),
        json.path("resource").asText(),
        json.path("version").asLong());
  }
}
