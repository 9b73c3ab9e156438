package dev.ichido.gateway;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The door's OpenAPI document, made of its routes, its table of answers and its problem codes. */
final class OpenApi {
  private static final String VERSION = "3.1.0";
  private static final String TIME = "date-time";

  private OpenApi() {}

  static ObjectNode document() {
    ObjectNode document = Documents.object().put("openapi", VERSION);
    document
        .putObject("info")
        .put("title", "Ichido HTTP door")
        .put("version", "1")
        .put(
            "description",
            "Side effects that happen once. Tenant and principal come from the credential. The"
                + " Idempotency-Key follows draft-ietf-httpapi-idempotency-key-header-07, an"
                + " Internet-Draft that has expired.");
    document.putArray("security").addObject().putArray("bearer");
    ObjectNode paths = document.putObject("paths");
    for (Route route : Route.values()) {
      ObjectNode path = paths.withObjectProperty(route.path());
      describe(path.putObject(route.method().toLowerCase(Locale.ROOT)), route);
    }
    ObjectNode components = document.putObject("components");
    components
        .putObject("securitySchemes")
        .putObject("bearer")
        .put("type", "http")
        .put("scheme", "bearer");
    schemas(components.putObject("schemas"));
    return document;
  }

  private static void describe(ObjectNode operation, Route route) {
    operation.put("operationId", route.name().toLowerCase(Locale.ROOT));
    ArrayNode parameters = operation.putArray("parameters");
    ObjectNode responses = Documents.object();
    switch (route) {
      case EXECUTE -> {
        operation.put("summary", "Carries an action out, once for each key");
        path(parameters, "action", "An action of the policy.");
        query(
            parameters,
            "scope",
            "Where the remote's own dedupe holds: global, region:NAME or zone:NAME.");
        header(
            parameters,
            "Idempotency-Key",
            "The operation, the same over every retry: a Structured Field String of 16 to 255 of"
                + " A-Z a-z 0-9 _ . : ~ -. Without quotation marks it is the same key. Left out"
                + " only for a read.");
        header(
            parameters,
            "Prefer",
            "wait=N waits up to N seconds for the settlement; respond-async answers as soon as the"
                + " intent is written.");
        header(
            parameters,
            "Ichido-Issued-At",
            "When the operation was first issued; the same on every retry. Without it, the time of"
                + " a UUIDv7 key, else that of the first request.");
        header(parameters, "If-Match", "Version of the resource that the effect depends on.");
        header(
            parameters,
            "X-Goog-If-Generation-Match",
            "Generation of the object that the effect depends on, instead of If-Match.");
        header(parameters, "Ichido-Target", "What the action is done to.");
        header(parameters, "Ichido-Action-Version", "Version of the action.");
        header(
            parameters,
            "Ichido-Discriminator",
            "Tells a deliberate twin from an operation with a new id by mistake.");
        header(parameters, "Ichido-Workflow", "The workflow that this is a step of.");
        header(parameters, "Ichido-Step", "The step of the workflow.");
        header(parameters, "Ichido-Compensates", "The operation that this one undoes.");
        ObjectNode body = operation.putObject("requestBody");
        body.put("description", "The arguments; {} when there is no body.").put("required", false);
        body.putObject("content").putObject("application/json").putObject("schema");
        response(responses, 200, "It is settled, now or before.", "Answer");
        response(
            responses,
            202,
            "It is written or runs, or it is not known what became of it.",
            "Answer");
      }
      case ACTION -> {
        operation.put("summary", "What the policy publishes of an action: its expiry above all");
        path(parameters, "action", "An action of the policy.");
        response(responses, 200, "Its lifetimes.", "Action");
      }
      case OPERATIONS -> {
        operation.put("summary", "Operations of the caller, the newest first");
        query(parameters, "state", "Only these states; may be given more than once.");
        query(parameters, "limit", "Of a page: 50 where nothing is said, 500 at most.");
        query(parameters, "after", "The member next of the page before.");
        response(responses, 200, "A page.", "Page");
      }
      case OPERATION -> {
        operation.put(
            "summary",
            "An operation of the caller, what was decided on it and what the caller was told");
        path(parameters, "id", "The operation.");
        query(parameters, "scope", "global where nothing is said.");
        response(responses, 200, "State, result, timeline and replies.", "Operation");
      }
      case CANCEL -> {
        operation.put("summary", "Forbids further attempts; what runs is not undone");
        path(parameters, "id", "The operation.");
        query(parameters, "scope", "global where nothing is said.");
        header(
            parameters,
            "Ichido-Issued-At",
            "When the operation was first issued. Without it, the time of a UUIDv7 key, else that of"
                + " the first request.");
        response(responses, 200, "It is cancelled and starts no attempt.", "Answer");
        response(responses, 202, "No further attempt starts; one may still run.", "Answer");
      }
      case REPLIES -> {
        operation.put("summary", "Replies to the caller as server-sent events, as they come");
        query(parameters, "after", "After this event; from now on where nothing is said.");
        header(parameters, "Last-Event-ID", "As after, sent by a client that connects again.");
        responses
            .putObject("200")
            .put("description", "Events named reply, with a Reply as their data.")
            .putObject("content")
            .putObject("text/event-stream")
            .putObject("schema")
            .put("type", "string");
      }
      case OPENAPI -> {
        operation.put("summary", "This document");
        operation.putArray("security");
        responses
            .putObject("200")
            .put("description", "This document.")
            .putObject("content")
            .putObject("application/json")
            .putObject("schema")
            .put("type", "object");
      }
    }
    if (route != Route.OPENAPI) {
      for (int status : problems(route)) {
        problem(responses, status, route);
      }
    }
    operation.set("responses", responses);
  }

  private static Set<Integer> problems(Route route) {
    Set<Integer> statuses = new TreeSet<>(List.of(400, 401, 429, 503));
    switch (route) {
      case EXECUTE -> {
        tabled().forEach(statuses::add);
        statuses.addAll(List.of(413, 415, 500, 504));
      }
      case CANCEL -> statuses.addAll(List.of(403, 409, 410, 500));
      case ACTION, OPERATION -> statuses.add(404);
      case OPERATIONS, REPLIES, OPENAPI -> {}
    }
    return statuses;
  }

  private static Stream<Integer> tabled() {
    return AnswerTable.all().values().stream()
        .flatMap(lines -> lines.values().stream())
        .filter(line -> line.title() != null)
        .map(AnswerTable.Line::status);
  }

  private static void problem(ObjectNode responses, int status, Route route) {
    Set<String> titles = new LinkedHashSet<>();
    Arrays.stream(ProblemCode.values())
        .filter(code -> code.status() == status)
        .forEach(code -> titles.add(code.name()));
    if (route == Route.EXECUTE || route == Route.CANCEL) {
      AnswerTable.all()
          .values()
          .forEach(
              lines ->
                  lines.forEach(
                      (word, line) -> {
                        if (line.status() == status && line.title() != null) {
                          titles.add(word);
                        }
                      }));
    }
    responses
        .putObject(Integer.toString(status))
        .put("description", String.join(", ", titles))
        .putObject("content")
        .putObject("application/problem+json")
        .putObject("schema")
        .put("$ref", "#/components/schemas/Problem");
  }

  private static void response(ObjectNode responses, int status, String text, String schema) {
    responses
        .putObject(Integer.toString(status))
        .put("description", text)
        .putObject("content")
        .putObject("application/json")
        .putObject("schema")
        .put("$ref", "#/components/schemas/" + schema);
  }

  private static void path(ArrayNode parameters, String name, String text) {
    parameter(parameters, "path", name, text).put("required", true);
  }

  private static void query(ArrayNode parameters, String name, String text) {
    parameter(parameters, "query", name, text);
  }

  private static void header(ArrayNode parameters, String name, String text) {
    parameter(parameters, "header", name, text);
  }

  private static ObjectNode parameter(ArrayNode parameters, String in, String name, String text) {
    ObjectNode parameter =
        parameters.addObject().put("name", name).put("in", in).put("description", text);
    parameter.putObject("schema").put("type", "string");
    return parameter;
  }

  private static void schemas(ObjectNode schemas) {
    ObjectNode reply = schema(schemas, "Reply", "scope", "delivery_id", "verdict", "final");
    told(reply);
    type(reply, "final", "boolean", "No further reply follows for this delivery.");

    ObjectNode answer = schema(schemas, "Answer", "scope", "delivery_id", "retry");
    told(answer);
    type(answer, "retry", "boolean", "Whether the same request with the same key is of use.");

    ObjectNode problem = schema(schemas, "Problem", "type", "title", "status", "code");
    type(problem, "type", "string", Documents.PROBLEM_TYPE + " and the code.");
    type(problem, "title", "string", "For people.");
    type(problem, "status", "integer", "The HTTP status.");
    told(problem);
    type(problem, "retry", "boolean", "Whether the same request with the same key is of use.");

    ObjectNode action = schema(schemas, "Action", "action", "effect", "scope", "key_required");
    type(action, "action", "string", "Its name.");
    type(action, "effect", "string", "read or write.");
    type(action, "scope", "string", "global, region or zone.");
    type(action, "key_required", "boolean", "Whether an Idempotency-Key must be sent.");
    type(
        action,
        "lease_seconds",
        "integer",
        "How long an attempt may run before it is asked about.");
    type(action, "retention_seconds", "integer", "How long a result is replayed, from settlement.");
    type(action, "tombstone_seconds", "integer", "How long the bare key is remembered after that.");
    type(
        action,
        "retry_horizon_seconds",
        "integer",
        "No attempt starts later than this after the first.");

    ObjectNode line = schema(schemas, "OperationLine", "operation_id", "scope", "status_address");
    operation(line);

    ObjectNode operation =
        schema(
            schemas, "Operation", "operation_id", "scope", "status_address", "timeline", "replies");
    operation(operation);
    time(operation, "issued_at", "The issue time that holds.");
    type(operation, "result_schema", "integer", "Version of the result's schema.");
    result(operation);
    type(operation, "retry", "boolean", "Whether the same request with the same key is of use.");
    lines(operation, "timeline", "What was decided, oldest first; empty while nothing is.");
    lines(operation, "replies", "What the caller was told, oldest first.");

    ObjectNode page = schema(schemas, "Page", "operations");
    page.putObject("operations")
        .put("type", "array")
        .putObject("items")
        .put("$ref", "#/components/schemas/OperationLine");
    type(page, "next", "string", "Given as after it brings the next page; absent on the last.");
  }

  private static void lines(ObjectNode members, String name, String text) {
    members
        .putObject(name)
        .put("type", "array")
        .put("description", text)
        .putObject("items")
        .put("type", "object")
        .put("additionalProperties", true);
  }

  private static void told(ObjectNode members) {
    type(members, "code", "string", "Stable word for why.");
    type(members, "detail", "string", "What was expected, what was found, what to check.");
    type(members, "operation_id", "string", "The key.");
    type(members, "scope", "string", "Where the remote's own dedupe holds.");
    type(members, "delivery_id", "string", "This request; never part of the identity.");
    type(members, "verdict", "string", "What was decided about this request.");
    type(members, "state", "string", "State of the operation.");
    type(members, "marker", "string", "EXECUTED, REPLAYED or RECONCILED.");
    type(members, "attempt", "integer", "Number of the last attempt.");
    time(members, "original_at", "When the operation was settled.");
    time(members, "lease_until", "End of the lease of the running attempt.");
    time(members, "retry_at", "When the next attempt or status read is due.");
    type(members, "remote_reference", "string", "The remote's own name of the effect.");
    type(members, "result_schema", "integer", "Version of the result's schema.");
    result(members);
    ObjectNode differing = members.putObject("differing").put("type", "array");
    differing.put("description", "FINGERPRINT_MISMATCH: names of the members that differ.");
    differing.putObject("items").put("type", "string");
    type(members, "conflict", "boolean", "Two truths were told, so the result is withheld.");
    type(members, "status_address", "string", "Where the operation can be asked for.");
  }

  private static void operation(ObjectNode members) {
    type(members, "operation_id", "string", "The key.");
    type(members, "scope", "string", "Where the remote's own dedupe holds.");
    members
        .putObject("state")
        .put("description", "State of the operation; null while nothing is decided.")
        .putArray("type")
        .add("string")
        .add("null");
    type(members, "revision", "integer", "Grows with every change.");
    type(members, "attempt", "integer", "Number of the last attempt.");
    type(members, "action", "string", "What was asked for.");
    type(members, "remote_reference", "string", "The remote's own name of the effect.");
    time(members, "original_at", "When the operation was settled.");
    time(members, "lease_until", "End of the lease of the running attempt.");
    time(members, "retry_at", "When the next attempt is due.");
    time(members, "changed_at", "When something was last decided on it.");
    type(members, "conflict", "boolean", "Two truths were told, so the result is withheld.");
    type(members, "status_address", "string", "Where the operation can be asked for.");
  }

  private static void result(ObjectNode members) {
    members
        .putObject("result")
        .put("description", "The remote's answer: JSON as it came, else a text.");
    ObjectNode handle = members.putObject("result_handle").put("type", "object");
    handle.put(
        "description", "Instead of a result that is no text, or that can't be read just now.");
    ObjectNode properties = handle.putObject("properties");
    type(properties, "sha256", "string", "Its digest.");
    type(properties, "bytes", "integer", "Its size.");
  }

  private static ObjectNode schema(ObjectNode schemas, String name, String... required) {
    ObjectNode schema = schemas.putObject(name).put("type", "object");
    ArrayNode names = schema.putArray("required");
    Arrays.stream(required).forEach(names::add);
    return schema.putObject("properties");
  }

  private static void type(ObjectNode members, String name, String type, String text) {
    members.putObject(name).put("type", type).put("description", text);
  }

  private static void time(ObjectNode members, String name, String text) {
    members.putObject(name).put("type", "string").put("format", TIME).put("description", text);
  }
}
