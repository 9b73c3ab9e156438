package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A remote without any key: every request that reaches it has an effect. It can be asked by natural
 * key only, as {@code GET /ANYTHING/NATURAL-KEY} or {@code GET /status?natural_key=…}: 200 with
 * {@code found, state, reference, count}, or 404.
 *
 * <p>No one's contract; the shape of in-house systems that were never made for retries. So that it
 * can stand in for any of them, a request may say how it is to be answered, in the headers {@code
 * X-Mirror-Status}, {@code X-Mirror-Body} (in Base64, where {@code @reference} becomes the
 * effect's) and, of a read, {@code X-Mirror-Absent-Status} and {@code X-Mirror-Absent-Body}; {@code
 * X-Mirror-Reference-Header} names one that carries the reference, and a write with {@code
 * X-Mirror-Key} has one effect under that key.
 */
final class LegacyContract extends RemoteContract {
  private static final Duration MIRROR_WINDOW = Duration.ofDays(1);

  @Override
  Answer write(Request request, Execution execution) {
    Optional<String> key = request.header("x-mirror-key");
    Execution.Work work =
        new Execution.Work(
            "",
            key.orElse(null),
            "",
            request.head().path(),
            -1,
            version -> "L-" + UUID.randomUUID(),
            effect ->
                mirrored(request, effect)
                    .orElseGet(
                        () -> {
                          ObjectNode body = Json.object();
                          body.put("reference", effect.reference());
                          body.put("natural_key", effect.naturalKey());
                          return Answer.json(201, body);
                        }),
            () -> error(412, "stale", "Changed."));
    if (key.isEmpty()) {
      return execution.unprotected(work);
    }
    return switch (execution.claimAfterFlight("", key.get(), "")) {
      case KeyMemory.Claim.First first -> execution.first(work, first);
      case KeyMemory.Claim.Repeated repeated -> repeated.answer();
      case KeyMemory.Claim.InFlight flight -> error(503, "in_flight", "Not done.");
      case KeyMemory.Claim.OtherParameters other -> error(400, "other", "Other parameters.");
    };
  }

  private static String decoded(Request request, String header) {
    return new String(Base64.getDecoder().decode(request.header(header).orElse("")), UTF_8);
  }

  private static Optional<Answer> mirrored(Request request, Effect effect) {
    return request
        .header("x-mirror-status")
        .map(
            status -> {
              String body =
                  decoded(request, "x-mirror-body").replace("@reference", effect.reference());
              Answer answer = Answer.text(Integer.parseInt(status), "application/json", body);
              return request
                  .header("x-mirror-reference-header")
                  .map(name -> answer.with(name, effect.reference()))
                  .orElse(answer);
            });
  }

  @Override
  Duration remembered(Duration window) {
    return window.isZero() ? MIRROR_WINDOW : window;
  }

  @Override
  Answer read(Request request, StatusReads reads) {
    Optional<String> absent = request.header("x-mirror-absent-status");
    if (absent.isPresent()) {
      List<Effect> effects =
          reads.look("", By.NATURAL_KEY, request.header("x-natural-key").orElse(""));
      return effects.isEmpty()
          ? Answer.text(
              Integer.parseInt(absent.get()),
              "application/json",
              decoded(request, "x-mirror-absent-body"))
          : mirrored(request, effects.getFirst())
              .orElseGet(() -> error(400, "mirror", "Expected x-mirror-status."));
    }
    List<String> segments = request.head().segments();
    if (segments.isEmpty()) {
      return error(404, "not_found", "Nothing there.");
    }
    String last = segments.getLast();
    Optional<String> naturalKey =
        last.equals("status") ? request.parameter("natural_key") : Optional.of(last);
    return naturalKey
        .map(key -> found(reads.look("", By.NATURAL_KEY, key)))
        .orElseGet(() -> error(400, "natural_key_missing", "Ask with natural_key."));
  }

  @Override
  Answer error(int status, String code, String message) {
    ObjectNode body = Json.object();
    body.put("error", code);
    body.put("message", message);
    return Answer.json(status, body);
  }

  @Override
  Optional<Answer> keptAfterCommit(Answer success, Answer answered) {
    return Optional.of(success);
  }

  @Override
  Optional<Answer> keptWithoutCommit(Answer answered) {
    return Optional.empty();
  }

  /** The plain shape of a status read, which several kinds share. */
  static Answer found(List<Effect> effects) {
    ObjectNode body = Json.object();
    body.put("found", !effects.isEmpty());
    body.put("count", effects.size());
    if (effects.isEmpty()) {
      body.put("state", "absent");
      return Answer.json(404, body);
    }
    Effect first = effects.getFirst();
    body.put("state", "committed");
    body.put("reference", first.reference());
    body.put("natural_key", first.naturalKey());
    body.put("at", first.at().toString());
    return Answer.json(200, body);
  }

  /** {@code GET /status} by whichever parameter is given. */
  static Answer plainStatus(Request request, String scope, StatusReads reads) {
    Optional<String> key = request.parameter("key");
    if (key.isPresent()) {
      return found(reads.look(scope, By.DOWNSTREAM_KEY, key.get()));
    }
    Optional<String> naturalKey = request.parameter("natural_key");
    if (naturalKey.isPresent()) {
      return found(reads.look(scope, By.NATURAL_KEY, naturalKey.get()));
    }
    return found(reads.look(scope, By.REFERENCE, request.parameter("reference").orElse("")));
  }
}
