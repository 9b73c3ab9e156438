package dev.ichido.remotes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A fault that waits for its request.
 *
 * @param status of the answer, for those that answer by themselves
 * @param delay of the slow ones, and the seconds of Retry-After; zero waits until released
 * @param bytes of the oversize body
 * @param times how many requests it meets; 0 for every one until the faults are cleared
 * @param businessKey meets only requests for that key; null for any
 * @param onReads meets status reads instead of writes
 */
public record Fault(
    FaultKind kind,
    int status,
    Duration delay,
    int bytes,
    int times,
    @Nullable String businessKey,
    boolean onReads) {

  public static final Fault CLEAN = of(FaultKind.CLEAN);

  /** With the defaults of its kind, once. */
  public static Fault of(FaultKind kind) {
    return switch (kind) {
      case ERROR_AFTER_COMMIT, ERROR_BEFORE_COMMIT -> answering(kind, 500);
      case RETRY_INVITED -> new Fault(kind, 503, Duration.ofSeconds(1), 0, 1, null, false);
      case TOO_MANY_REQUESTS -> new Fault(kind, 429, Duration.ofSeconds(1), 0, 1, null, false);
      case REFUSAL -> answering(kind, 402);
      case STALE_PRECONDITION -> answering(kind, 412);
      case REDIRECT -> answering(kind, 307);
      case SLOW -> delayed(kind, Duration.ofSeconds(2));
      case SLOW_LORIS_BODY -> delayed(kind, Duration.ofMillis(250));
      case REFUSE_CONNECTION -> delayed(kind, Duration.ofSeconds(1));
      case OVERSIZE_BODY -> new Fault(kind, 0, Duration.ZERO, 16 << 20, 1, null, false);
      case STATUS_UNAVAILABLE -> answering(kind, 503).onStatusReads();
      case LYING_404 -> answering(kind, 404).onStatusReads();
      case CLEAN,
          ACCEPT_THEN_TIMEOUT,
          TIMEOUT_BEFORE_COMMIT,
          HOLD_BEFORE_COMMIT,
          ANSWER_TWICE,
          RESET_BEFORE_READ,
          RESET_AFTER_COMMIT,
          RESET_MID_BODY ->
          answering(kind, 0);
    };
  }

  private static Fault answering(FaultKind kind, int status) {
    return new Fault(kind, status, Duration.ZERO, 0, 1, null, false);
  }

  private static Fault delayed(FaultKind kind, Duration delay) {
    return new Fault(kind, 0, delay, 0, 1, null, false);
  }

  public Fault withStatus(int code) {
    return new Fault(kind, code, delay, bytes, times, businessKey, onReads);
  }

  public Fault withDelay(Duration time) {
    return new Fault(kind, status, time, bytes, times, businessKey, onReads);
  }

  public Fault withBytes(int size) {
    return new Fault(kind, status, delay, size, times, businessKey, onReads);
  }

  public Fault times(int requests) {
    return new Fault(kind, status, delay, bytes, requests, businessKey, onReads);
  }

  public Fault forBusinessKey(String key) {
    return new Fault(kind, status, delay, bytes, times, key, onReads);
  }

  public Fault onStatusReads() {
    return new Fault(kind, status, delay, bytes, times, businessKey, true);
  }

  /** Whether it comes from something in front of the remote, which keeps nothing. */
  boolean ofGateway() {
    return status == 502 || status == 503 || status == 504;
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object();
    json.put("fault", kind.label());
    json.put("status", status);
    json.put("delay_ms", delay.toMillis());
    json.put("bytes", bytes);
    json.put("times", times);
    json.put("business_key", businessKey);
    json.put("on_reads", onReads);
    return json;
  }

  /** What is left out has the default of the kind. */
  static Fault fromJson(JsonNode json) {
    Fault base = of(FaultKind.labelled(json.path("fault").asText()));
    return new Fault(
        base.kind,
        json.path("status").asInt(base.status),
        Duration.ofMillis(json.path("delay_ms").asLong(base.delay.toMillis())),
        json.path("bytes").asInt(base.bytes),
        json.path("times").asInt(base.times),
        json.path("business_key").textValue(),
        json.path("on_reads").asBoolean(base.onReads));
  }
}
