package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.io.IOException;
import java.net.URLEncoder;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The JSON documents that callers are sent. A member without a value is left out. */
final class Documents {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String HANDLE = "result_handle";
  private static final String SHA256 = "sha256";
  static final String PROBLEM_TYPE = "urn:ichido:problem:";

  private Documents() {}

  static ObjectNode object() {
    return JSON.createObjectNode();
  }

  /** Where an operation can be asked for. */
  static String statusAddress(String scope, String operationId) {
    return "/v1/operations/"
        + encoded(operationId)
        + (scope.equals(Intents.GLOBAL) ? "" : "?scope=" + encoded(scope));
  }

  /** RFC 9457. */
  static ObjectNode problem(String code, String title, int status, @Nullable String detail) {
    ObjectNode problem =
        object()
            .put("type", PROBLEM_TYPE + code)
            .put("title", title)
            .put("status", status)
            .put("code", code);
    put(problem, "detail", detail);
    return problem;
  }

  /** What is said of an intent: by a problem document where the line of the table says so. */
  static ObjectNode answer(Reply reply, AnswerTable.Line line) {
    String title = line.title();
    String code = reply.code() == null ? word(reply, line) : reply.code();
    ObjectNode document =
        title == null ? object() : problem(code, title, line.status(), reply.detail());
    if (title == null) {
      put(document, "code", reply.code());
      put(document, "detail", reply.detail());
    }
    describe(document, reply);
    document.put("retry", isRetryOfUse(line, reply.retryAt()));
    return document;
  }

  /** A reply as it was told. */
  static ObjectNode reply(Reply reply) {
    ObjectNode document = object();
    put(document, "code", reply.code());
    put(document, "detail", reply.detail());
    describe(document, reply);
    return document.put("final", reply.last());
  }

  /** An intent that is written, and of which nothing was told yet. */
  static ObjectNode accepted(String scope, @Nullable String operationId, String deliveryId) {
    ObjectNode document = object();
    put(document, "operation_id", operationId);
    document.put("scope", scope).put("delivery_id", deliveryId).put("retry", false);
    if (operationId != null) {
      document.put("status_address", statusAddress(scope, operationId));
    }
    return document;
  }

  /** An operation in a list. */
  static ObjectNode operation(ReplyStore.Operation operation) {
    ObjectNode document =
        object()
            .put("operation_id", operation.operationId())
            .put("scope", operation.scope())
            .put("state", operation.state())
            .put("revision", operation.revision())
            .put("attempt", operation.attempt());
    put(document, "action", operation.action());
    put(document, "remote_reference", operation.remoteReference());
    put(document, "original_at", operation.originalAt());
    put(document, "lease_until", operation.leaseUntil());
    put(document, "retry_at", operation.retryAt());
    put(document, "changed_at", operation.changedAt());
    if (operation.conflict()) {
      document.put("conflict", true);
    }
    return document.put(
        "status_address", statusAddress(operation.scope(), operation.operationId()));
  }

  /**
   * An operation, what was decided on it, and what the caller was told.
   *
   * @param known null while the caller may not see it, or nothing is decided
   */
  static ObjectNode operation(
      String scope,
      String operationId,
      Intake.@Nullable Asked asked,
      ReplyStore.@Nullable Operation known,
      Collection<ReplyStore.Event> events,
      List<Reply> told) {
    ObjectNode document =
        known == null
            ? object()
                .put("operation_id", operationId)
                .put("scope", scope)
                .putNull("state")
                .put("status_address", statusAddress(scope, operationId))
            : operation(known);
    if (known != null) {
      putResult(document, known.body(), known.bodySha256(), known.bodyBytes());
      if (known.resultSchema() != null) {
        document.put("result_schema", known.resultSchema());
      }
    }
    if (asked != null) {
      put(document, "action", asked.action());
      put(document, "issued_at", asked.issuedAt());
    }
    document.put("retry", isRetryOfUse(known, told));
    ArrayNode timeline = document.putArray("timeline");
    for (ReplyStore.Event event : events) {
      ObjectNode line = timeline.addObject();
      put(line, "at", event.at());
      line.put("event", event.event()).put("verdict", event.verdict());
      put(line, "code", event.code());
      line.put("state", event.state())
          .put("attempt", event.attempt())
          .put("revision", event.revision());
      put(line, "event_id", event.eventId());
      put(line, "remote_reference", event.remoteReference());
    }
    ArrayNode replies = document.putArray("replies");
    for (Reply reply : told) {
      ObjectNode line = replies.addObject();
      put(line, "at", reply.decidedAt());
      line.put("verdict", reply.verdict());
      put(line, "code", reply.code());
      put(line, "detail", reply.detail());
      put(line, "state", reply.state());
      put(line, "marker", reply.marker());
      line.put("delivery_id", reply.deliveryId()).put("final", reply.last());
    }
    return document;
  }

  static boolean isReplay(Reply reply) {
    return reply.verdict().equals("REPLAYED");
  }

  private static boolean isRetryOfUse(ReplyStore.@Nullable Operation known, List<Reply> told) {
    if (known != null) {
      return isRetryOfUse(AnswerTable.line(known), known.retryAt());
    }
    return !told.isEmpty()
        && isRetryOfUse(AnswerTable.line(told.getLast()), told.getLast().retryAt());
  }

  private static boolean isRetryOfUse(AnswerTable.Line line, @Nullable Instant retryAt) {
    return switch (line.retry()) {
      case NEVER -> false;
      case SAME_KEY -> true;
      case WHEN_DUE -> retryAt != null;
    };
  }

  /** The state where that is what the status says, else the verdict. */
  private static String word(Reply reply, AnswerTable.Line line) {
    String state = reply.state();
    return state != null && AnswerTable.isByState(state, line) ? state : reply.verdict();
  }

  private static void describe(ObjectNode document, Reply reply) {
    put(document, "operation_id", reply.operationId());
    document
        .put("scope", reply.scope())
        .put("delivery_id", reply.deliveryId())
        .put("verdict", reply.verdict());
    put(document, "state", reply.state());
    put(document, "marker", reply.marker());
    if (reply.attempt() > 0) {
      document.put("attempt", reply.attempt());
    }
    put(document, "original_at", reply.originalAt());
    put(document, "lease_until", reply.leaseUntil());
    put(document, "retry_at", reply.retryAt());
    put(document, "remote_reference", reply.remoteReference());
    if (reply.resultSchema() != null) {
      document.put("result_schema", reply.resultSchema());
    }
    putResult(document, reply.body(), reply.bodySha256(), reply.bodyBytes());
    if (!reply.differing().isEmpty()) {
      ArrayNode differing = document.putArray("differing");
      reply.differing().forEach(differing::add);
    }
    if (reply.conflict()) {
      document.put("conflict", true);
    }
    if (reply.operationId() != null) {
      document.put("status_address", statusAddress(reply.scope(), reply.operationId()));
    }
  }

  private static void putResult(
      ObjectNode document, @Nullable String body, @Nullable String sha256, @Nullable Long bytes) {
    if (body != null) {
      putResult(document, body);
    } else if (sha256 != null) {
      document.putObject(HANDLE).put(SHA256, sha256).put("bytes", bytes);
    }
  }

  /** A body that is one JSON text stays as the remote wrote it; any other is a string. */
  static void putResult(ObjectNode document, String body) {
    document.remove(HANDLE);
    if (isJson(body)) {
      document.putRawValue("result", new RawValue(body));
    } else {
      document.put("result", body);
    }
  }

  /** The SHA-256 of a result that is kept apart. */
  static Optional<String> handle(ObjectNode document) {
    return Optional.ofNullable(document.path(HANDLE).path(SHA256).textValue());
  }

  private static boolean isJson(String text) {
    try (JsonParser parser = JSON.createParser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      return parser.nextToken() == null;
    } catch (IOException e) {
      return false;
    }
  }

  private static void put(ObjectNode document, String name, @Nullable String value) {
    if (value != null) {
      document.put(name, value);
    }
  }

  private static void put(ObjectNode document, String name, @Nullable Instant value) {
    if (value != null) {
      document.put(name, value.toString());
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }
}
