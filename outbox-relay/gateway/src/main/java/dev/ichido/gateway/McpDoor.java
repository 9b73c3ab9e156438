package dev.ichido.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.outbox.IdentityException;
import dev.ichido.outbox.OutboxIntent;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls of tools to intents, replies to results. A call that changes nothing passes; every other
 * one is written to the outbox and answered from the inbox. What becomes of it is the processor's
 * to say.
 */
final class McpDoor {
  private static final Logger LOG = LoggerFactory.getLogger(McpDoor.class);
  private static final String META = McpIdentity.META;
  private static final String STATUS = "operation_status";
  private static final int TOLD = 1_000;

  private final McpConfig config;
  private final McpIdentity identity;
  private final Intake intake;
  private final ReplyStore replies;
  private final ReplyFeed feed;
  private final Function<String, Optional<String>> bodies;
  private final Clock clock;

  /**
   * @param bodies content of a result that is kept apart, by its SHA-256
   */
  McpDoor(
      McpConfig config,
      Intake intake,
      ReplyStore replies,
      ReplyFeed feed,
      Function<String, Optional<String>> bodies,
      Clock clock) {
    this.config = config;
    this.identity = new McpIdentity(config, intake);
    this.intake = intake;
    this.replies = replies;
    this.feed = feed;
    this.bodies = bodies;
    this.clock = clock;
  }

  /** Whether a call goes to the tool server at once, because it changes nothing. */
  boolean passes(JsonNode request, Map<String, JsonNode> tools) {
    String name = request.path("params").path("name").asText();
    JsonNode tool = tools.get(name);
    return !isOwn(name, tools) && isRead(name, tool);
  }

  private boolean isRead(String name, @Nullable JsonNode tool) {
    McpTool known = config.tool(name);
    return known == null
        ? tool != null && tool.path("annotations").path("readOnlyHint").asBoolean(false)
        : known.read();
  }

  private static boolean isOwn(String name, Map<String, JsonNode> tools) {
    return name.equals(STATUS) && !tools.containsKey(STATUS);
  }

  /** Adds the argument of the identity, where the tool has an effect and none of that name. */
  void describe(ObjectNode tool) {
    if (isRead(tool.path("name").asText(), tool)) {
      return;
    }
    // Such a call is held here, not there.
    if (tool.path("execution") instanceof ObjectNode execution) {
      execution.remove("taskSupport");
    }
    if (!(tool.path("inputSchema") instanceof ObjectNode schema) || hasOwnArgument(tool)) {
      return;
    }
    schema
        .withObjectProperty("properties")
        .putObject(McpIdentity.ARGUMENT)
        .put("type", "string")
        .put("minLength", 16)
        .put("maxLength", 255)
        .put("pattern", "^[A-Za-z0-9_.:~-]+$")
        .put(
            "description",
            "Names this one operation, so that it is never carried out twice: make it once, before"
                + " the first call, and give the same one whenever this very call is repeated. 16"
                + " to 255 of A-Z a-z 0-9 _ . : ~ -, without personal data.");
  }

  private static boolean hasOwnArgument(JsonNode tool) {
    return tool.path("inputSchema").path("properties").has(McpIdentity.ARGUMENT);
  }

  /** Adds the door's own tool, unless the server has one of its name. */
  void addOwn(ArrayNode tools) {
    for (JsonNode tool : tools) {
      if (tool.path("name").asText().equals(STATUS)) {
        return;
      }
    }
    ObjectNode own =
        tools
            .addObject()
            .put("name", STATUS)
            .put(
                "description",
                "Tells what became of an operation, and its result where it is settled. Changes"
                    + " nothing, and may be called as often as needed.");
    own.putObject("annotations").put("readOnlyHint", true).put("openWorldHint", false);
    ObjectNode schema = own.putObject("inputSchema").put("type", "object");
    ObjectNode properties = schema.putObject("properties");
    properties.putObject(McpIdentity.ARGUMENT).put("type", "string");
    properties.putObject("scope").put("type", "string");
    schema.putArray("required").add(McpIdentity.ARGUMENT);
  }

  /** Takes a call, and answers it unless it is cancelled. */
  void call(McpSession session, ObjectNode request, Map<String, JsonNode> tools)
      throws InterruptedException {
    JsonNode id = request.path("id");
    JsonNode params = request.path("params");
    String name = params.path("name").asText();
    if (isOwn(name, tools)) {
      session.release(McpJson.result(id, status(session.caller(), params.path("arguments"))));
      return;
    }
    if (params.has("task")) {
      session.release(
          McpJson.error(
              id,
              McpJson.METHOD_NOT_FOUND,
              "Expected a call without a task, since this tool has an effect, but it has one. Call"
                  + " the tool plainly; operation_status tells how it goes on."));
      return;
    }
    JsonNode tool = tools.get(name);
    ObjectNode arguments =
        params.path("arguments") instanceof ObjectNode given ? given.deepCopy() : McpJson.object();
    JsonNode own =
        tool != null && hasOwnArgument(tool) ? null : arguments.remove(McpIdentity.ARGUMENT);
    JsonNode meta = params.path("_meta");
    String scope = meta.path(META + "scope").asText(Intents.GLOBAL);
    Instant now = clock.instant();
    String operationId;
    try {
      Optional<String> found =
          identity.find(
              session.caller(),
              scope,
              name,
              meta,
              own == null || own.isNull() ? null : own.asText(),
              arguments,
              now);
      if (found.isEmpty()) {
        session.release(McpJson.result(id, withoutIdentity(name)));
        return;
      }
      operationId = found.get();
    } catch (IdentityException e) {
      session.release(
          McpJson.result(id, text(true, "Nothing was done: " + e.code() + ". " + e.getMessage())));
      return;
    }
    boolean structured = tool != null && tool.has("outputSchema");
    if (!session.hold(id, new McpSession.Held(scope, operationId), meta)) {
      return;
    }
    try {
      ObjectNode answer =
          write(session, id, scope, operationId, name, arguments, meta, now, structured);
      session.release(answer);
    } finally {
      session.release(McpJson.error(id, McpJson.INTERNAL, McpAnswers.WRITTEN.of(operationId)));
    }
  }

  private ObjectNode write(
      McpSession session,
      JsonNode id,
      String scope,
      String operationId,
      String name,
      ObjectNode arguments,
      JsonNode meta,
      Instant now,
      boolean structured)
      throws InterruptedException {
    Caller caller = session.caller();
    String deliveryId = Intake.newDelivery();
    String action = config.action(name);
    boolean retried = config.retried(action);
    OutboxIntent.Builder intent =
        OutboxIntent.execute()
            .tenant(caller.tenant())
            .principal(caller.principal())
            .scope(scope)
            .operationId(operationId)
            .action(action)
            .arguments(arguments.toString())
            .target(text(meta, "target"))
            .discriminator(text(meta, "discriminator"))
            .workflowId(text(meta, "workflow"))
            .step(text(meta, "step"))
            .compensates(text(meta, "compensates"))
            .deliveryId(deliveryId);
    Reply reply;
    try (ReplyFeed.Waiter waiter = feed.expect(deliveryId)) {
      intake.write(
          caller,
          scope,
          operationId,
          action,
          deliveryId,
          issuedAt(meta, operationId, now),
          first -> intent.issuedAt(first).build());
      reply =
          waiter.await(
              told -> McpAnswers.line(told, retried).kind() != McpAnswers.Kind.GOES_ON,
              config.answerWithin());
    } catch (RuntimeException e) {
      session.settle(operationId);
      if (e instanceof ProblemException problem) {
        return McpJson.result(id, notTaken(operationId, problem));
      }
      LOG.error("A call can't be written", e);
      return McpJson.result(
          id, notTaken(operationId, ProblemCode.INTERNAL.because(String.valueOf(e.getMessage()))));
    }
    if (reply == null) {
      return McpJson.result(id, held(McpAnswers.WRITTEN, operationId, null, structured));
    }
    McpAnswers.Line line = McpAnswers.line(reply, retried);
    return switch (line.kind()) {
      case GOES_ON -> McpJson.result(id, held(line, operationId, reply, structured));
      case HELD -> {
        session.settle(operationId);
        yield McpJson.result(id, held(line, operationId, reply, structured));
      }
      case REFUSED, LATER -> {
        session.settle(operationId);
        yield McpJson.result(id, refused(line, operationId, reply));
      }
      case RESULT -> {
        session.settle(operationId);
        yield result(id, line, operationId, reply);
      }
    };
  }

  /** Time that the client says, else that of the id, else now; a retry keeps the earliest. */
  private static Instant issuedAt(JsonNode meta, String operationId, Instant now) {
    String said = text(meta, "issued-at");
    if (said != null) {
      try {
        return Instant.parse(said);
      } catch (DateTimeException e) {
        throw ProblemCode.FIELD_MALFORMED.because(
            "Expected a time such as 2026-01-31T12:00:00Z in "
                + META
                + "issued-at, but it holds something else. Check it.");
      }
    }
    return Intents.timeOf(operationId).orElse(now);
  }

  private static @Nullable String text(JsonNode meta, String name) {
    return meta.path(META + name).isTextual() ? meta.path(META + name).asText() : null;
  }

  /** Forbids further attempts of an operation whose request was cancelled; nobody is answered. */
  void cancel(Caller caller, McpSession.Held call) {
    String deliveryId = Intake.newDelivery();
    try {
      intake.write(
          caller,
          call.scope(),
          call.operationId(),
          null,
          deliveryId,
          clock.instant(),
          first ->
              OutboxIntent.cancel()
                  .tenant(caller.tenant())
                  .principal(caller.principal())
                  .scope(call.scope())
                  .operationId(call.operationId())
                  .issuedAt(first)
                  .deliveryId(deliveryId)
                  .build());
    } catch (ProblemException e) {
      LOG.warn("An operation can't be cancelled: {}", e.getMessage());
    }
  }

  /** The tool's result as it was, or the error that the server answered. */
  private ObjectNode result(JsonNode id, McpAnswers.Line line, String operationId, Reply reply) {
    JsonNode body = body(reply.body(), reply.bodySha256());
    if (body != null && body.has("error") && body.size() == 1) {
      ObjectNode response = McpJson.object().put("jsonrpc", "2.0");
      response.set("id", id);
      response.set("error", body.get("error"));
      return response;
    }
    boolean failed = !line.equals(McpAnswers.DONE);
    ObjectNode result =
        body instanceof ObjectNode told
            ? told
            : text(failed, line.of(operationId) + (body == null ? "" : " " + body));
    describe(result, operationId, reply);
    return McpJson.result(id, result);
  }

  private ObjectNode held(
      McpAnswers.Line line, String operationId, @Nullable Reply reply, boolean structured) {
    // A client holds a result that is no error against the tool's schema, which this one can't fit.
    ObjectNode result = text(structured, line.of(operationId));
    describe(result, operationId, reply);
    return result;
  }

  private static ObjectNode refused(McpAnswers.Line line, String operationId, Reply reply) {
    StringBuilder said = new StringBuilder(line.of(operationId));
    if (reply.code() != null) {
      said.append(' ').append(reply.code()).append('.');
    }
    if (reply.detail() != null) {
      said.append(' ').append(reply.detail());
    }
    if (!reply.differing().isEmpty()) {
      said.append(" It differs in ").append(String.join(", ", reply.differing())).append('.');
    }
    if (line.kind() == McpAnswers.Kind.LATER && reply.retryAt() != null) {
      said.append(" Not before ").append(reply.retryAt()).append('.');
    }
    ObjectNode result = text(true, said.toString());
    describe(result, operationId, reply);
    return result;
  }

  /** Nothing was decided: what the door itself ran into. */
  private static ObjectNode notTaken(String operationId, ProblemException e) {
    String said =
        switch (e.code()) {
          case OUTBOX_BEHIND, FIELD_MALFORMED -> "Nothing was done. " + e.detail();
          default ->
              "It is not known whether operation "
                  + operationId
                  + " was taken on. Do not make a new one; the same call with this operation_id is"
                  + " carried out at most once.";
        };
    ObjectNode result = text(true, said);
    ObjectNode meta = result.putObject("_meta");
    meta.put(McpIdentity.OPERATION_ID, operationId).put(META + "code", e.code().name());
    return result;
  }

  private static ObjectNode withoutIdentity(String name) {
    ObjectNode result =
        text(
            true,
            "Nothing was done: OPERATION_ID_MISSING. Expected an operation_id for "
                + name
                + ", which has an effect, but there is none. Make one, such as a UUID, once for"
                + " this operation, and give it as the argument operation_id or as _meta \""
                + McpIdentity.OPERATION_ID
                + "\"; give the same one whenever the call is repeated.");
    result.putObject("_meta").put(META + "code", "OPERATION_ID_MISSING");
    return result;
  }

  private static void describe(ObjectNode result, String operationId, @Nullable Reply reply) {
    ObjectNode meta = result.withObjectProperty("_meta");
    meta.put(McpIdentity.OPERATION_ID, operationId);
    if (reply == null) {
      return;
    }
    put(meta, META + "state", reply.state());
    put(meta, META + "marker", reply.marker());
    put(meta, META + "verdict", reply.verdict());
    put(meta, META + "code", reply.code());
    put(meta, META + "original-at", reply.originalAt());
    put(meta, META + "lease-until", reply.leaseUntil());
    put(meta, META + "retry-at", reply.retryAt());
  }

  private static void put(ObjectNode object, String name, @Nullable Object value) {
    if (value != null) {
      object.put(name, value.toString());
    }
  }

  private ObjectNode status(Caller caller, JsonNode arguments) {
    String operationId = arguments.path(McpIdentity.ARGUMENT).asText();
    String scope = arguments.path("scope").asText(Intents.GLOBAL);
    Intake.Asked asked;
    ReplyStore.Operation known;
    List<Reply> told;
    try {
      asked = intake.find(caller, scope, operationId).orElse(null);
      known = replies.find(caller, scope, operationId).orElse(null);
      told =
          replies.told(caller, scope, operationId, asked == null ? null : asked.deliveryId(), TOLD);
    } catch (ProblemException e) {
      return text(true, e.detail());
    }
    if (asked == null && known == null && told.isEmpty()) {
      return text(
          true,
          "Expected an operation that this caller asked for, but there is none. Check"
              + " operation_id.");
    }
    McpAnswers.Line line =
        known != null
            ? McpAnswers.line(known, config.retried(known.action()))
            : told.isEmpty() ? McpAnswers.WRITTEN : McpAnswers.line(told.getLast(), true);
    ObjectNode status = McpJson.object().put("operation_id", operationId).put("scope", scope);
    if (known != null) {
      status.put("state", known.state()).put("attempt", known.attempt());
      JsonNode body = body(known.body(), known.bodySha256());
      if (body != null) {
        status.set("result", body);
      }
      put(status, "original_at", known.originalAt());
      put(status, "retry_at", known.retryAt());
      if (known.conflict()) {
        status.put("conflict", true);
      }
    }
    status.put("call_again", line.kind() == McpAnswers.Kind.LATER);
    ObjectNode result = text(false, line.of(operationId));
    ((ArrayNode) result.get("content"))
        .addObject()
        .put("type", "text")
        .put("text", status.toString());
    result.set("structuredContent", status);
    return result;
  }

  private @Nullable JsonNode body(@Nullable String inline, @Nullable String sha256) {
    String text = inline;
    if (text == null && sha256 != null) {
      text = bodies.apply(sha256).orElse(null);
    }
    if (text == null) {
      return null;
    }
    try {
      return McpJson.JSON.readTree(text);
    } catch (JsonProcessingException e) {
      return McpJson.JSON.getNodeFactory().textNode(text);
    }
  }

  private static ObjectNode text(boolean error, String text) {
    ObjectNode result = McpJson.object();
    result.putArray("content").addObject().put("type", "text").put("text", text);
    return result.put("isError", error);
  }
}
