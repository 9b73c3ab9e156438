package dev.ichido.remotes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Idempotency keys as Stripe's API v1 has them.
 *
 * <p>From <a href="https://docs.stripe.com/api/idempotent_requests">Idempotent requests</a> and <a
 * href="https://docs.stripe.com/error-low-level">Advanced error handling</a>, in copies of
 * 2026-09-30 and before:
 *
 * <ul>
 *   <li>{@code Idempotency-Key} of up to 255 characters on POST; ignored on GET and DELETE.
 *   <li>Status and body of the first request are kept once its execution began, 500 included, and
 *       sent again with {@code Idempotent-Replayed: true}.
 *   <li>Other parameters, or another endpoint, under the same key: 400, type {@code
 *       idempotency_error}.
 *   <li>While the first is executed: 409, code {@code idempotency_key_in_use}; nothing is kept of
 *       that request. (Message and code as quoted in stripe-ruby issue 503; the type is not
 *       documented.)
 *   <li>Keys may be removed when they are at least 24 hours old; here they are, at exactly that
 *       age. The request is then a new one.
 *   <li>What failed validation, or was rate limited, is not kept.
 * </ul>
 *
 * <p>{@code POST /v1/COLLECTION}, parameters as a form or as JSON; 200 with {@code id, object} and
 * the parameters. {@code GET /v1/COLLECTION/ID}; and {@code GET
 * /v1/COLLECTION/search?query=metadata["ANY"]:"NATURAL-KEY"}, which at Stripe lags. Stripe can't be
 * asked by idempotency key; {@code GET /status?key=…} answers that here, for comparison only.
 */
final class StripeContract extends RemoteContract {
  private static final int KEY_LIMIT = 255;
  private static final Pattern SEARCH =
      Pattern.compile("metadata\\[[\"'][^\"']+[\"']]:[\"']([^\"']+)[\"']");

  @Override
  Answer write(Request request, Execution execution) {
    String account = request.header("stripe-account").orElse("");
    String resource = request.head().path() + "/" + UUID.randomUUID();
    JsonNode parameters = request.parameters();
    String digest = Json.digest(request.head().method() + " " + request.head().path(), parameters);
    Optional<String> key =
        request.head().method().equals("POST")
            ? request.header("idempotency-key")
            : Optional.empty();
    String requestId = "req_" + id();
    Execution.Work work =
        new Execution.Work(
            account,
            key.orElse(null),
            digest,
            resource,
            -1,
            version -> prefix(request.head()) + "_" + id(),
            effect -> object(request.head(), parameters, effect).with("Request-Id", requestId),
            () -> error(412, "stale", "Changed."));
    if (key.isEmpty()) {
      return execution.unprotected(work);
    }
    if (key.get().isEmpty() || key.get().length() > KEY_LIMIT) {
      return error(
          400,
          "invalid_request_error",
          "idempotency_key_invalid",
          "Idempotency keys have 1 to 255 characters.");
    }
    KeyMemory.Claim claim = execution.claim(account, key.get(), digest, false);
    Answer answer =
        switch (claim) {
          case KeyMemory.Claim.First first -> execution.first(work, first);
          case KeyMemory.Claim.Repeated repeated ->
              repeated.answer().with("Idempotent-Replayed", "true");
          case KeyMemory.Claim.InFlight flight ->
              error(
                  409,
                  "idempotency_error",
                  "idempotency_key_in_use",
                  "There is currently another in-progress request using this Idempotent Key (that"
                      + " probably means you submitted twice, and the other request is still going"
                      + " through). Please try again later.");
          case KeyMemory.Claim.OtherParameters other ->
              error(
                  400,
                  "idempotency_error",
                  "idempotency_key_reused",
                  "Keys for idempotent requests can only be used with the same parameters they were"
                      + " first used with.");
        };
    return answer.with("Idempotency-Key", key.get());
  }

  @Override
  Answer read(Request request, StatusReads reads) {
    String account = request.header("stripe-account").orElse("");
    List<String> segments = request.head().segments();
    if (segments.isEmpty() || segments.getLast().equals("status")) {
      return LegacyContract.plainStatus(request, account, reads);
    }
    if (segments.getLast().equals("search")) {
      Matcher matcher = SEARCH.matcher(request.parameter("query").orElse(""));
      if (!matcher.matches()) {
        return error(400, "invalid_request_error", "search_query", "Not a search query.");
      }
      ObjectNode body = Json.object();
      body.put("object", "search_result");
      body.put("has_more", false);
      ArrayNode data = body.putArray("data");
      for (Effect effect : reads.look(account, By.NATURAL_KEY, matcher.group(1))) {
        data.addObject().put("id", effect.reference()).put("created", effect.at().getEpochSecond());
      }
      return Answer.json(200, body);
    }
    List<Effect> found = reads.look(account, By.REFERENCE, segments.getLast());
    if (found.isEmpty()) {
      return error(404, "invalid_request_error", "resource_missing", "No such object.");
    }
    return object(request.head(), Json.object(), found.getFirst());
  }

  @Override
  Answer error(int status, String code, String message) {
    return error(status, status == 402 ? "card_error" : "api_error", code, message);
  }

  @Override
  Optional<Answer> keptAfterCommit(Answer success, Answer answered) {
    return Optional.of(answered);
  }

  @Override
  Optional<Answer> keptWithoutCommit(Answer answered) {
    return Optional.of(answered);
  }

  private static Answer object(Request.Head head, JsonNode parameters, Effect effect) {
    ObjectNode body = Json.object();
    if (parameters instanceof ObjectNode object) {
      body.setAll(object);
    }
    body.put("id", effect.reference());
    body.put("object", collection(head).replaceFirst("s$", ""));
    body.put("created", effect.at().getEpochSecond());
    body.put("livemode", false);
    return Answer.json(200, body);
  }

  private static Answer error(int status, String type, String code, String message) {
    ObjectNode body = Json.object();
    body.putObject("error").put("type", type).put("code", code).put("message", message);
    return Answer.json(status, body);
  }

  private static String collection(Request.Head head) {
    List<String> segments = head.segments();
    return segments.size() > 1 ? segments.get(1) : "objects";
  }

  private static String prefix(Request.Head head) {
    return switch (collection(head)) {
      case "payment_intents" -> "pi";
      case "refunds" -> "re";
      case "charges" -> "ch";
      case "transfers" -> "tr";
      case "customers" -> "cus";
      default -> "obj";
    };
  }

  private static String id() {
    return UUID.randomUUID().toString().replace("-", "").substring(0, 24);
  }
}
