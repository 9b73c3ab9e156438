package dev.ichido.remotes;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Google Cloud: request ids as Compute Engine has them, and preconditions as Cloud Storage has
 * them.
 *
 * <p>From the API reference of {@code requestId} (for instance <a
 * href="https://cloud.google.com/python/docs/reference/networkconnectivity/latest/google.cloud.networkconnectivity_v1.types.DeleteHubRequest">
 * DeleteHubRequest</a>, copies of 2025) and <a
 * href="https://cloud.google.com/storage/docs/request-preconditions">Request preconditions</a>
 * (copies of 2026):
 *
 * <ul>
 *   <li>{@code requestId}: a UUID, optional; the zero UUID is not supported: 400.
 *   <li>A request with the id of one that was completed is ignored, for at least 60 minutes after
 *       the first; here for exactly that. Nothing is said of other parameters under the same id:
 *       here they are ignored, too, and the first answer comes back. Nor of concurrent ones: the
 *       second waits for the first. A failed request is not remembered.
 *   <li>{@code ifGenerationMatch} (JSON API, query) or {@code x-goog-if-generation-match} (XML API,
 *       header): 412 {@code conditionNotMet} unless the object has that generation; 0 means that
 *       there is no object. A repeated write whose first one succeeded gets 412: its own success
 *       made the condition stale.
 * </ul>
 *
 * <p>Generations count from 1 here. Compute Engine would refuse a second instance of one name; that
 * is not modelled, so a key must do the work.
 *
 * <p>{@code POST /upload/storage/v1/b/BUCKET/o?name=OBJECT}, {@code PUT /BUCKET/OBJECT}: the
 * object; read with {@code GET /storage/v1/b/BUCKET/o/OBJECT} or {@code GET /BUCKET/OBJECT}. Any
 * other POST (as {@code /compute/v1/projects/P/zones/Z/instances}): 200 with an operation whose
 * {@code targetId} is the reference. {@code GET /status?key=…|natural_key=…|reference=…}.
 */
final class GcloudContract extends RemoteContract {
  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  private static final String ZERO = "00000000-0000-0000-0000-000000000000";

  @Override
  Answer write(Request request, Execution execution) {
    Optional<String> requestId = request.parameter("requestId");
    if (requestId.isPresent()
        && (!UUID_TEXT.matcher(requestId.get()).matches() || requestId.get().equals(ZERO))) {
      return error(400, "invalid", "Invalid value for field 'requestId'.");
    }
    Optional<String> generation =
        Optional.ofNullable(request.head().query().get("ifGenerationMatch"))
            .or(() -> request.header("x-goog-if-generation-match"));
    long expected;
    try {
      expected = generation.map(Long::parseLong).orElse(-1L);
    } catch (NumberFormatException e) {
      return error(400, "invalid", "Invalid value for a generation.");
    }
    Optional<String> object = storageObject(request.head());
    String resource = object.orElseGet(() -> request.head().path() + "/" + UUID.randomUUID());
    Execution.Work work =
        new Execution.Work(
            "",
            requestId.orElse(null),
            "",
            resource,
            object.isPresent() ? expected : -1,
            version -> object.isPresent() ? resource + "/" + version : numericId(),
            effect ->
                object.isPresent() ? storageAnswer(request.head(), effect) : operation(effect),
            () ->
                error(
                    412,
                    "conditionNotMet",
                    "At least one of the pre-conditions you specified did not hold."));
    if (requestId.isEmpty()) {
      return execution.unprotected(work);
    }
    return switch (execution.claimAfterFlight("", requestId.get(), "")) {
      case KeyMemory.Claim.First first -> execution.first(work, first);
      case KeyMemory.Claim.Repeated repeated -> repeated.answer();
      case KeyMemory.Claim.InFlight flight -> error(503, "backendError", "Not done.");
      case KeyMemory.Claim.OtherParameters other -> error(400, "invalid", "Other parameters.");
    };
  }

  @Override
  Answer read(Request request, StatusReads reads) {
    Optional<String> object = storageObject(request.head());
    if (object.isEmpty()) {
      return IetfContract.readByLastSegment(request, "", reads);
    }
    List<Effect> effects = reads.look("", By.RESOURCE, object.get());
    return effects.isEmpty()
        ? error(404, "notFound", "No such object.")
        : storageAnswer(request.head(), effects.getLast());
  }

  @Override
  Answer error(int status, String code, String message) {
    ObjectNode body = Json.object();
    ObjectNode error = body.putObject("error");
    error.put("code", status).put("message", message);
    error
        .putArray("errors")
        .addObject()
        .put("domain", "global")
        .put("reason", code)
        .put("message", message);
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

  /** Bucket and object, when the request is one of Cloud Storage. */
  private static Optional<String> storageObject(Request.Head head) {
    List<String> s = head.segments();
    boolean upload = s.size() == 6 && s.getFirst().equals("upload") && s.get(1).equals("storage");
    if (upload) {
      return Optional.ofNullable(head.query().get("name")).map(name -> s.get(4) + "/" + name);
    }
    if (s.size() >= 6 && s.getFirst().equals("storage") && s.get(4).equals("o")) {
      return Optional.of(s.get(3) + "/" + String.join("/", s.subList(5, s.size())));
    }
    boolean xml =
        s.size() >= 2
            && !s.getFirst().equals("compute")
            && (head.method().equals("PUT") || head.reads());
    return xml ? Optional.of(String.join("/", s)) : Optional.empty();
  }

  private static Answer storageAnswer(Request.Head head, Effect effect) {
    String generation = Long.toString(effect.version());
    if (!head.path().contains("/storage/v1/")) {
      return Answer.empty(200)
          .with("x-goog-generation", generation)
          .with("ETag", "\"" + generation + "\"");
    }
    int slash = effect.resource().indexOf('/');
    ObjectNode body = Json.object();
    body.put("kind", "storage#object");
    body.put("id", effect.reference());
    body.put("bucket", effect.resource().substring(0, slash));
    body.put("name", effect.resource().substring(slash + 1));
    body.put("generation", generation);
    body.put("metageneration", "1");
    return Answer.json(200, body).with("x-goog-generation", generation);
  }

  private static Answer operation(Effect effect) {
    ObjectNode body = Json.object();
    body.put("kind", "compute#operation");
    body.put("name", "operation-" + effect.sequence());
    body.put("operationType", "insert");
    body.put("status", "DONE");
    body.put("progress", 100);
    body.put("targetId", effect.reference());
    body.put("clientOperationId", effect.downstreamKey());
    body.put("insertTime", effect.at().toString());
    return Answer.json(200, body);
  }

  private static String numericId() {
    return Long.toString(UUID.randomUUID().getMostSignificantBits() >>> 1);
  }
}
