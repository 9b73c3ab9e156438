package dev.ichido.remotes;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The Idempotency-Key header field of <a
 * href="https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07">
 * draft-ietf-httpapi-idempotency-key-header-07</a> (15 October 2025), for an operation that
 * requires it:
 *
 * <ul>
 *   <li>The value is a structured-field string (RFC 8941): printable ASCII in double quotes.
 *   <li>400 when it is missing, malformed, or there more than once.
 *   <li>422 when the key comes with another payload, also while the first is worked on; the
 *       fingerprint is over method, path and the bytes of the body.
 *   <li>409 while the first is worked on.
 *   <li>After that, the first result again, success or error.
 *   <li>Errors are problem documents (RFC 9457) that link to documentation.
 * </ul>
 *
 * <p>Errors in front of the execution (429, a gateway's 5xx) are not kept; the draft leaves that to
 * the resource. The window is the resource's to publish; 24 hours here.
 *
 * <p>{@code POST /COLLECTION}: 201 with {@code id}; {@code GET /COLLECTION/ID-OR-NATURAL-KEY} and
 * {@code GET /status?key=…|natural_key=…|reference=…}.
 */
final class IetfContract extends RemoteContract {
  private static final Pattern SF_STRING =
      Pattern.compile("\"((?:[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\"\\\\])+)\"");
  private static final String DOCUMENTATION = "https://developer.example.com/idempotency";

  @Override
  Answer write(Request request, Execution execution) {
    List<String> values = request.head().all("idempotency-key");
    if (values.isEmpty()) {
      return problem(
          400,
          "Idempotency-Key is missing",
          "This operation is idempotent and it requires correct usage of Idempotency Key.");
    }
    Matcher matcher = SF_STRING.matcher(values.getFirst());
    if (values.size() > 1 || !matcher.matches()) {
      return problem(
          400, "Idempotency-Key is malformed", "Send one Idempotency-Key, a string in quotes.");
    }
    String key = matcher.group(1).replaceAll("\\\\(.)", "$1");
    String operation = request.head().method() + " " + request.head().path();
    String digest = operation + " " + Json.digest(request.body());
    Execution.Work work =
        new Execution.Work(
            "",
            key,
            digest,
            request.head().path(),
            -1,
            version -> UUID.randomUUID().toString(),
            effect -> created(request, effect),
            () -> error(412, "stale", "Changed."));
    return switch (execution.claim("", key, digest, true)) {
      case KeyMemory.Claim.First first -> execution.first(work, first);
      case KeyMemory.Claim.Repeated repeated -> repeated.answer();
      case KeyMemory.Claim.InFlight flight ->
          problem(
              409,
              "A request is outstanding for this Idempotency-Key",
              "A request with the same Idempotency-Key for the same operation is being processed or"
                  + " is outstanding.");
      case KeyMemory.Claim.OtherParameters other ->
          problem(
              422,
              "Idempotency-Key is already used",
              "This operation is idempotent and it requires correct usage of Idempotency Key."
                  + " Idempotency Key MUST not be reused across different payloads of this"
                  + " operation.");
    };
  }

  @Override
  Answer read(Request request, StatusReads reads) {
    return readByLastSegment(request, "", reads);
  }

  @Override
  Answer error(int status, String code, String message) {
    return problem(status, code, message);
  }

  @Override
  Optional<Answer> keptAfterCommit(Answer success, Answer answered) {
    return Optional.of(answered);
  }

  @Override
  Optional<Answer> keptWithoutCommit(Answer answered) {
    return Optional.of(answered);
  }

  static Answer readByLastSegment(Request request, String scope, StatusReads reads) {
    List<String> segments = request.head().segments();
    if (segments.isEmpty() || segments.getLast().equals("status")) {
      return LegacyContract.plainStatus(request, scope, reads);
    }
    List<Effect> byReference = reads.look(scope, By.REFERENCE, segments.getLast());
    return LegacyContract.found(
        byReference.isEmpty()
            ? reads.look(scope, By.NATURAL_KEY, segments.getLast())
            : byReference);
  }

  private static Answer created(Request request, Effect effect) {
    ObjectNode body = Json.object();
    body.put("id", effect.reference());
    body.put("natural_key", effect.naturalKey());
    return Answer.json(201, body)
        .with("Location", request.head().path() + "/" + effect.reference());
  }

  private static Answer problem(int status, String title, String detail) {
    ObjectNode body = Json.object();
    body.put("type", DOCUMENTATION);
    body.put("title", title);
    body.put("status", status);
    body.put("detail", detail);
    return new Answer(
        status,
        Map.of(
            "Content-Type", "application/problem+json",
            "Content-Language", "en",
            "Link", "<" + DOCUMENTATION + ">; rel=\"describedby\"; type=\"text/html\""),
        Json.bytes(body));
  }
}
