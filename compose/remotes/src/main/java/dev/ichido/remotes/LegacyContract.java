package dev.ichido.remotes;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A remote without any key: every request that reaches it has an effect. It can be asked by natural
 * key only, as {@code GET /ANYTHING/NATURAL-KEY} or {@code GET /status?natural_key=…}: 200 with
 * {@code found, state, reference, count}, or 404.
 *
 * <p>No one's contract; the shape of in-house systems that were never made for retries.
 */
final class LegacyContract extends RemoteContract {
  @Override
  Answer write(Request request, Execution execution) {
    return execution.unprotected(
        new Execution.Work(
            "",
            null,
            "",
            request.head().path(),
            -1,
            version -> "L-" + UUID.randomUUID(),
            effect -> {
              ObjectNode body = Json.object();
              body.put("reference", effect.reference());
              body.put("natural_key", effect.naturalKey());
              return Answer.json(201, body);
            },
            () -> error(412, "stale", "Changed.")));
  }

  @Override
  Answer read(Request request, StatusReads reads) {
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
    return Optional.empty();
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
