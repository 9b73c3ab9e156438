package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.outbox.OutboxIntent;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads an intent out of a request: its meaning from address, fields and body, nothing more. */
final class Intents {
  static final String GLOBAL = "global";

  static final HeaderName KEY = HeaderNames.create(IdempotencyKey.FIELD);
  static final HeaderName PREFER = HeaderNames.create("Prefer");
  static final HeaderName ISSUED_AT = HeaderNames.create("Ichido-Issued-At");
  static final HeaderName TARGET = HeaderNames.create("Ichido-Target");
  static final HeaderName ACTION_VERSION = HeaderNames.create("Ichido-Action-Version");
  static final HeaderName DISCRIMINATOR = HeaderNames.create("Ichido-Discriminator");
  static final HeaderName WORKFLOW = HeaderNames.create("Ichido-Workflow");
  static final HeaderName STEP = HeaderNames.create("Ichido-Step");
  static final HeaderName COMPENSATES = HeaderNames.create("Ichido-Compensates");
  static final HeaderName IF_MATCH = HeaderNames.create("If-Match");
  static final HeaderName IF_GENERATION = HeaderNames.create("X-Goog-If-Generation-Match");
  private static final HeaderName TRACEPARENT = HeaderNames.create("traceparent");

  private static final Pattern TRACE = Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-.*");
  private static final Pattern VISIBLE = Pattern.compile("[\\x20-\\x7e]*");
  private static final int TIME_ORDERED = 7;

  private Intents() {}

  /** What a request asks for, but for the issue time that holds. */
  record Wish(
      String scope,
      @Nullable String operationId,
      String action,
      Instant issuedAt,
      OutboxIntent.Builder intent) {

    OutboxIntent issued(Instant at) {
      return intent.issuedAt(at).build();
    }
  }

  /**
   * Of {@code POST /v1/actions/ACTION}.
   *
   * @param keyRequired whether the action needs a key
   * @param now taken as the issue time where neither field nor key says one
   * @throws ProblemException by its code
   */
  static Wish execute(
      ServerRequest request,
      Caller caller,
      String action,
      boolean keyRequired,
      String deliveryId,
      int maxBodyBytes,
      Instant now) {
    Optional<String> key = IdempotencyKey.parse(lines(request, KEY));
    if (key.isEmpty() && keyRequired) {
      throw ProblemCode.KEY_MISSING.because(
          "Expected an Idempotency-Key, but there is none. Mint it before the first try and send"
              + " the same one on every retry.");
    }
    String scope = scope(request);
    OutboxIntent.Builder intent =
        (key.isPresent() ? OutboxIntent.execute().operationId(key.get()) : OutboxIntent.read())
            .tenant(caller.tenant())
            .principal(caller.principal())
            .scope(scope)
            .action(action)
            .actionVersion(text(request, ACTION_VERSION))
            .target(text(request, TARGET))
            .discriminator(text(request, DISCRIMINATOR))
            .workflowId(text(request, WORKFLOW))
            .step(text(request, STEP))
            .compensates(text(request, COMPENSATES))
            .precondition(precondition(request))
            .traceparent(traceparent(request))
            .deliveryId(deliveryId)
            .arguments(arguments(request, maxBodyBytes));
    return new Wish(
        scope, key.orElse(null), action, issuedAt(request, key.orElse(null), now), intent);
  }

  /** Of {@code DELETE /v1/operations/ID}. */
  static OutboxIntent cancel(
      ServerRequest request,
      Caller caller,
      String scope,
      String operationId,
      String deliveryId,
      Instant issuedAt) {
    return OutboxIntent.cancel()
        .tenant(caller.tenant())
        .principal(caller.principal())
        .scope(scope)
        .operationId(operationId)
        .issuedAt(issuedAt)
        .deliveryId(deliveryId)
        .traceparent(traceparent(request))
        .build();
  }

  /** The query parameter {@code scope}. */
  static String scope(ServerRequest request) {
    return request.query().first("scope").orElse(GLOBAL);
  }

  static List<String> lines(ServerRequest request, HeaderName name) {
    return request.headers().all(name, List::of);
  }

  /** By the field, else by a key that carries its time, else now. */
  static Instant issuedAt(ServerRequest request, @Nullable String key, Instant now) {
    String said = text(request, ISSUED_AT);
    if (said != null) {
      try {
        return Instant.parse(said);
      } catch (DateTimeException e) {
        throw malformed("Ichido-Issued-At", "a time such as 2026-01-31T12:00:00Z");
      }
    }
    return key == null ? now : timeOf(key).orElse(now);
  }

  /** The time of a UUID of version 7. */
  static Optional<Instant> timeOf(String key) {
    try {
      UUID uuid = UUID.fromString(key);
      return uuid.version() == TIME_ORDERED && uuid.toString().equals(key.toLowerCase(Locale.ROOT))
          ? Optional.of(Instant.ofEpochMilli(uuid.getMostSignificantBits() >>> 16))
          : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static @Nullable String precondition(ServerRequest request) {
    String match = text(request, IF_MATCH);
    String generation = text(request, IF_GENERATION);
    if (match != null && generation != null) {
      throw malformed("If-Match or X-Goog-If-Generation-Match", "one of the two");
    }
    return match == null ? generation : match;
  }

  private static @Nullable String traceparent(ServerRequest request) {
    List<String> lines = lines(request, TRACEPARENT);
    return lines.size() == 1 && TRACE.matcher(lines.getFirst()).matches() ? lines.getFirst() : null;
  }

  /** A field that stands at most once, in visible ASCII. */
  private static @Nullable String text(ServerRequest request, HeaderName name) {
    List<String> lines = lines(request, name);
    if (lines.isEmpty()) {
      return null;
    }
    if (lines.size() > 1
        || lines.getFirst().isEmpty()
        || !VISIBLE.matcher(lines.getFirst()).matches()) {
      throw malformed(name.defaultCase(), "one value of visible ASCII");
    }
    return lines.getFirst();
  }

  private static ProblemException malformed(String field, String expected) {
    return ProblemCode.FIELD_MALFORMED.because(
        "Expected " + expected + " in " + field + ", but it holds something else. Check it.");
  }

  private static String arguments(ServerRequest request, int maxBodyBytes) {
    if (!request.content().hasEntity()) {
      return "{}";
    }
    if (request
        .headers()
        .contentType()
        .filter(type -> type.mediaType().subtype().endsWith("json"))
        .isEmpty()) {
      throw ProblemCode.MEDIA_TYPE.because(
          "Expected the Content-Type application/json, but it is another. Check it.");
    }
    byte[] bytes;
    try (InputStream in = request.content().inputStream()) {
      bytes = in.readNBytes(maxBodyBytes + 1);
      // Read to its end, or its sender would not hear the answer.
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (bytes.length > maxBodyBytes) {
      throw tooLarge(maxBodyBytes);
    }
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw ProblemCode.BODY_NOT_UTF8.because(
          "Expected a body in UTF-8, but it is in another encoding. Check the client.");
    }
  }

  private static ProblemException tooLarge(int maxBodyBytes) {
    return ProblemCode.BODY_TOO_LARGE.because(
        "Expected a body of at most "
            + maxBodyBytes
            + " bytes, but it is larger. Store content elsewhere and pass a reference.");
  }
}
