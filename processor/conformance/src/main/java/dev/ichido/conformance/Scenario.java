package dev.ichido.conformance;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One line of a scenario file.
 *
 * @param policy members laid over the default policy; missing when there are none
 */
record Scenario(String id, JsonNode policy, Body body) {
  private static final ObjectMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxStringLength(64 << 20).build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  sealed interface Body {}

  record Steps(List<Step> steps, @Nullable Integer commandsTotal) implements Body {}

  record Fingerprints(
      String a,
      String b,
      String expect,
      @Nullable String code,
      List<String> volatileMembers,
      @Nullable String sha256OfCanonicalA)
      implements Body {}

  record OperationIds(@Nullable String value, String expect, @Nullable String code)
      implements Body {}

  record Keys(List<String> a, List<String> b, String expect) implements Body {}

  record PolicyCheck(String expect, @Nullable String code) implements Body {}

  /** The id of a line, as far as it can be read. */
  static String idOf(String line, int number) {
    try {
      return JSON.readTree(line).path("id").asText("line " + number);
    } catch (JsonProcessingException e) {
      return "line " + number;
    }
  }

  static Scenario of(String line) {
    JsonNode root;
    try {
      root = JSON.readTree(line);
    } catch (JsonProcessingException e) {
      throw ScenarioException.wrong("the line", "one JSON object");
    }
    Fields fields = new Fields("scenario", root);
    String id = fields.requireText("id");
    fields.text("about", null);
    JsonNode policy = fields.has("policy") ? fields.node("policy") : MissingNode.getInstance();
    String kind =
        fields.oneOf(List.of("steps", "fingerprint", "operation_id", "keys", "policy_check"));
    Body body =
        switch (kind) {
          case "steps" -> steps(fields);
          case "fingerprint" -> fingerprints(fields.object(kind));
          case "operation_id" -> operationIds(fields.object(kind));
          case "keys" -> keys(fields.object(kind));
          case "policy_check" -> policyCheck(fields.object(kind));
          default -> throw ScenarioException.wrong("scenario", "a kind");
        };
    fields.refuseOthers();
    return new Scenario(id, policy, body);
  }

  private static Body steps(Fields fields) {
    JsonNode array = fields.node("steps");
    if (!array.isArray() || array.isEmpty()) {
      throw ScenarioException.wrong("steps", "a list of steps");
    }
    List<Step> steps = new ArrayList<>();
    for (JsonNode step : array) {
      steps.add(Step.of("steps[" + steps.size() + "]", step));
    }
    return new Steps(List.copyOf(steps), fields.number("commands_total"));
  }

  private static Body fingerprints(Fields fields) {
    Fingerprints body =
        new Fingerprints(
            fields.requireText("a"),
            fields.requireText("b"),
            choice(fields, "expect", "SAME", "DIFFERENT", "INVALID"),
            fields.text("code", null),
            fields.texts("volatile"),
            fields.text("sha256_of_canonical_a", null));
    fields.refuseOthers();
    return body;
  }

  private static Body operationIds(Fields fields) {
    if (!fields.has("value")) {
      throw ScenarioException.wrong("operation_id.value", "a text or null");
    }
    OperationIds body =
        new OperationIds(
            fields.text("value", null),
            choice(fields, "expect", "ACCEPT", "INVALID"),
            fields.text("code", null));
    fields.refuseOthers();
    return body;
  }

  private static Body keys(Fields fields) {
    List<String> a = fields.texts("a");
    List<String> b = fields.texts("b");
    if (a.size() != 3 || b.size() != 3) {
      throw ScenarioException.wrong("keys", "a and b as [tenant, scope, operation]");
    }
    Keys body = new Keys(a, b, choice(fields, "expect", "SAME", "DIFFERENT"));
    fields.refuseOthers();
    return body;
  }

  private static Body policyCheck(Fields fields) {
    PolicyCheck body =
        new PolicyCheck(
            choice(fields, "expect", "ACCEPT", "REFUSE_TO_START"), fields.text("code", null));
    fields.refuseOthers();
    return body;
  }

  private static String choice(Fields fields, String name, String... choices) {
    String value = fields.requireText(name);
    if (!List.of(choices).contains(value)) {
      throw ScenarioException.wrong(
          fields.where() + "." + name, "one of " + String.join(", ", choices));
    }
    return value;
  }
}
