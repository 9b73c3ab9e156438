package dev.ichido.remotes;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Repeatable requests as Azure Communication Services has them, by OASIS Repeatable Requests 1.0.
 *
 * <p>From <a href="https://learn.microsoft.com/en-us/rest/api/communication/repeatable-requests">
 * Repeatability of requests</a> (copy of 2026) and <a
 * href="https://docs.oasis-open.org/odata/repeatable-requests/v1.0/cs01/repeatable-requests-v1.0-cs01.html">
 * the specification</a> (7 July 2020):
 *
 * <ul>
 *   <li>{@code Repeatability-Request-ID} (a GUID) and {@code Repeatability-First-Sent}
 *       (IMF-fixdate, of the first try). {@code Repeatability-Result: accepted} or {@code rejected}
 *       on the answer.
 *   <li>One of them missing or malformed: 400, rejected. Neither: an ordinary request.
 *   <li>First sent outside of the tracked time (5 minutes, before or after the remote's time): 412,
 *       rejected, without an effect.
 *   <li>The same id with another request: 400, rejected.
 *   <li>The same id while the first is worked on: 409, accepted.
 *   <li>The same id after a 2xx or 4xx: that status and answer, accepted. <b>After a 5xx the
 *       request is executed again</b>: an id does not protect an effect whose answer was a 5xx.
 * </ul>
 *
 * <p>{@code POST /COLLECTION}: 201 with {@code id}; {@code GET /COLLECTION/ID-OR-NATURAL-KEY}, and
 * {@code GET /status?key=…|natural_key=…|reference=…}.
 */
final class AzureContract extends RemoteContract {
  private static final Pattern GUID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  private static final DateTimeFormatter IMF_FIXDATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);
  private static final String RESULT = "Repeatability-Result";

  private final Duration tracked;

  AzureContract(Duration tracked) {
    this.tracked = tracked;
  }

  /** A first-sent time may lie ahead by the tracked time, and is accepted until as long after. */
  @Override
  Duration remembered(Duration window) {
    return window.multipliedBy(2);
  }

  @Override
  Answer write(Request request, Execution execution) {
    Optional<String> id = request.header("repeatability-request-id");
    Optional<String> firstSent = request.header("repeatability-first-sent");
    String operation = request.head().method() + " " + request.head().path();
    String digest = operation + " " + Json.digest(request.body());
    Execution.Work work =
        new Execution.Work(
            "",
            id.orElse(null),
            digest,
            request.head().path(),
            -1,
            version -> UUID.randomUUID().toString(),
            effect -> created(request, effect),
            () -> error(412, "ConditionNotMet", "Changed."));
    if (id.isEmpty() && firstSent.isEmpty()) {
      return execution.unprotected(work);
    }
    Optional<Instant> sent = firstSent.flatMap(AzureContract::parse);
    if (id.isEmpty() || !GUID.matcher(id.get()).matches() || sent.isEmpty()) {
      return rejected(
          400,
          "BadRequest",
          "Repeatability-Request-ID must be a GUID and Repeatability-First-Sent an IMF-fixdate.");
    }
    if (Duration.between(sent.get(), execution.now()).abs().compareTo(tracked) >= 0) {
      return rejected(
          412,
          "PreconditionFailed",
          "Repeatability-First-Sent header is not within the tracked time.");
    }
    return switch (execution.claim("", id.get(), digest, true)) {
      case KeyMemory.Claim.First first -> execution.first(work, first).with(RESULT, "accepted");
      case KeyMemory.Claim.Repeated repeated -> repeated.answer().with(RESULT, "accepted");
      case KeyMemory.Claim.InFlight flight ->
          error(409, "Conflict", "The original request is still in progress.")
              .with(RESULT, "accepted");
      case KeyMemory.Claim.OtherParameters other ->
          rejected(400, "BadRequest", "The request does not match the previous one with its id.");
    };
  }

  @Override
  Answer read(Request request, StatusReads reads) {
    return IetfContract.readByLastSegment(request, "", reads);
  }

  @Override
  Answer error(int status, String code, String message) {
    ObjectNode body = Json.object();
    body.putObject("error").put("code", code).put("message", message);
    return Answer.json(status, body).with("x-ms-error-code", code);
  }

  @Override
  Optional<Answer> keptAfterCommit(Answer success, Answer answered) {
    return keptWithoutCommit(answered);
  }

  @Override
  Optional<Answer> keptWithoutCommit(Answer answered) {
    return answered.status() < 500 ? Optional.of(answered) : Optional.empty();
  }

  private Answer rejected(int status, String code, String message) {
    return error(status, code, message).with(RESULT, "rejected");
  }

  private static Answer created(Request request, Effect effect) {
    ObjectNode body = Json.object();
    body.put("id", effect.reference());
    body.put("status", "Running");
    return Answer.json(201, body)
        .with("Location", request.head().path() + "/" + effect.reference());
  }

  private static Optional<Instant> parse(String date) {
    try {
      return Optional.of(LocalDateTime.parse(date, IMF_FIXDATE).toInstant(ZoneOffset.UTC));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }
}
