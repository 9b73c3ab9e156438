package dev.ichido.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a step must bring about. Members that are left out expect nothing.
 *
 * @param verdicts any of them is right; empty expects none in particular
 * @param reply expected members of a reply by name; empty expects nothing of a reply
 * @param alarm verdict of the alarm; null expects nothing, the empty text that there is none
 * @param operation the operation that is meant, for steps that name none themselves
 */
record Expectation(
    List<String> verdicts,
    @Nullable String code,
    @Nullable String state,
    @Nullable Integer attempt,
    @Nullable Boolean command,
    @Nullable Boolean reconcileCommand,
    Map<String, JsonNode> reply,
    @Nullable String alarm,
    @Nullable Boolean noReply,
    @Nullable String operation) {
  private static final List<String> REPLY_MEMBERS =
      List.of("state", "marker", "body", "schema", "original_at");

  static Expectation of(Fields fields) {
    Map<String, JsonNode> reply = new LinkedHashMap<>();
    if (fields.has("reply")) {
      Fields members = fields.object("reply");
      for (String name : REPLY_MEMBERS) {
        if (members.has(name)) {
          reply.put(name, members.node(name));
        }
      }
      members.refuseOthers();
    }
    Expectation expectation =
        new Expectation(
            fields.texts("verdict"),
            fields.text("code", null),
            fields.text("state", null),
            fields.number("attempt"),
            fields.flag("command"),
            fields.flag("reconcile_command"),
            reply,
            alarm(fields),
            fields.flag("no_reply"),
            fields.text("operation", null));
    fields.refuseOthers();
    return expectation;
  }

  private static @Nullable String alarm(Fields fields) {
    if (!fields.has("alarm")) {
      return null;
    }
    JsonNode node = fields.node("alarm");
    if (node.isNull() || (node.isBoolean() && !node.booleanValue())) {
      return "";
    }
    return fields.requireText("alarm");
  }
}
