package dev.ichido.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.topology.policy.Durations;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One step of a scenario: a verb and what is expected of it. */
record Step(Verb verb, @Nullable Expectation expectation) {
  static final String DEFAULT_OPERATION = "op-0000000000000001";
  private static final List<String> VERBS =
      List.of(
          "intent", "result", "reconcile", "resolve", "cancel", "advance", "restart", "redeliver");

  /** Which operation a verb speaks of. */
  record Address(String tenant, String scope, @Nullable String operation) {
    private static Address of(Fields fields) {
      String tenant = fields.text("tenant", "t1");
      String scope = fields.text("scope", "global");
      return new Address(
          tenant == null ? "" : tenant,
          scope == null ? "" : scope,
          fields.text("operation", DEFAULT_OPERATION));
    }
  }

  sealed interface Verb {}

  /** {@code issuedAt} is the text of the scenario; null means that the intent states none. */
  record Intent(
      Address address,
      @Nullable String delivery,
      String principal,
      @Nullable String action,
      @Nullable String actionVersion,
      @Nullable String target,
      String arguments,
      @Nullable String precondition,
      @Nullable String discriminator,
      @Nullable String issuedAt,
      @Nullable String workflowId,
      @Nullable String step,
      @Nullable String compensates)
      implements Verb {}

  record Result(
      Address address,
      @Nullable Integer attempt,
      String outcome,
      @Nullable String remoteReference,
      @Nullable String body,
      @Nullable Integer bodyBytes,
      @Nullable Integer schema,
      @Nullable Long retryAfterMs)
      implements Verb {}

  record Reconcile(
      Address address,
      @Nullable Integer attempt,
      String found,
      @Nullable String remoteReference,
      @Nullable String body)
      implements Verb {}

  record Resolve(Address address, String as, @Nullable String by, @Nullable String evidence)
      implements Verb {}

  /** {@code issuedAt} as in an intent. */
  record Cancel(
      Address address, String principal, @Nullable String action, @Nullable String issuedAt)
      implements Verb {}

  record Advance(Duration by) implements Verb {}

  record Restart(@Nullable JsonNode policy) implements Verb {}

  record Redeliver(int step) implements Verb {}

  static Step of(String where, JsonNode node) {
    Fields fields = new Fields(where, node);
    String verb = fields.oneOf(VERBS);
    Verb read =
        switch (verb) {
          case "advance" -> new Advance(duration(where + ".advance", fields.requireText(verb)));
          case "redeliver" -> {
            Integer step = fields.number(verb);
            if (step == null) {
              throw ScenarioException.wrong(where + ".redeliver", "the index of a step");
            }
            yield new Redeliver(step);
          }
          case "restart" -> restart(where, node.get(verb), fields);
          case "intent" -> intent(fields.object(verb));
          case "result" -> result(fields.object(verb));
          case "reconcile" -> reconcile(fields.object(verb));
          case "resolve" -> resolve(fields.object(verb));
          case "cancel" -> cancel(fields.object(verb));
          default -> throw ScenarioException.wrong(where, "one of " + VERBS);
        };
    Expectation expectation = fields.has("expect") ? Expectation.of(fields.object("expect")) : null;
    fields.refuseOthers();
    return new Step(read, expectation);
  }

  /** A policy may stand beside {@code restart: true} or inside its object. */
  private static Verb restart(String where, JsonNode node, Fields fields) {
    JsonNode policy = fields.has("policy") ? fields.node("policy") : null;
    if (node.isObject()) {
      Fields inner = new Fields(where + ".restart", node);
      policy = inner.has("policy") ? inner.node("policy") : policy;
      inner.refuseOthers();
    } else if (!node.isBoolean() || !node.booleanValue()) {
      throw ScenarioException.wrong(where + ".restart", "true or an object with a policy");
    }
    return new Restart(policy);
  }

  private static Verb intent(Fields fields) {
    Address address = Address.of(fields);
    String principal = fields.text("principal", "agent:a");
    String arguments = fields.text("arguments", "{\"amount\":100}");
    Intent intent =
        new Intent(
            address,
            fields.text("delivery", null),
            principal == null ? "" : principal,
            fields.text("action", "pay.transfer"),
            fields.label("action_version"),
            fields.text("target", "acct:1"),
            arguments == null ? "" : arguments,
            fields.text("precondition", null),
            fields.text("discriminator", null),
            fields.text("issued_at", "+0s"),
            fields.text("workflow_id", null),
            fields.text("step", null),
            fields.text("compensates", null));
    fields.refuseOthers();
    return intent;
  }

  private static Verb result(Fields fields) {
    Result result =
        new Result(
            Address.of(fields),
            fields.number("attempt"),
            fields.requireText("outcome"),
            fields.text("remote_ref", null),
            fields.text("body", null),
            fields.number("body_bytes"),
            fields.number("schema"),
            fields.large("retry_after_ms"));
    fields.refuseOthers();
    return result;
  }

  private static Verb reconcile(Fields fields) {
    Reconcile reconcile =
        new Reconcile(
            Address.of(fields),
            fields.number("attempt"),
            fields.requireText("found"),
            fields.text("remote_ref", null),
            fields.text("body", null));
    fields.refuseOthers();
    return reconcile;
  }

  private static Verb resolve(Fields fields) {
    Resolve resolve =
        new Resolve(
            Address.of(fields),
            fields.requireText("as"),
            fields.text("by", "person:operator"),
            fields.text("evidence", "looked it up at the remote"));
    fields.refuseOthers();
    return resolve;
  }

  private static Verb cancel(Fields fields) {
    String principal = fields.text("principal", "agent:a");
    Cancel cancel =
        new Cancel(
            Address.of(fields),
            principal == null ? "" : principal,
            fields.text("action", null),
            fields.text("issued_at", "+0s"));
    fields.refuseOthers();
    return cancel;
  }

  static Duration duration(String where, String text) {
    return Durations.tryParse(text)
        .orElseThrow(() -> ScenarioException.wrong(where, "a duration such as 60s"));
  }
}
