package dev.ichido.gateway;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a model is told of a reply. It is a table, not a judgement: the first line that names the
 * verdict or the state of the reply holds. No sentence invites another call where an effect may
 * have happened.
 */
final class McpAnswers {
  /** What a line is made of. */
  enum Kind {
    /** The tool's own result, as it was. */
    RESULT,
    /** It goes on by itself: whoever waits goes on waiting. */
    GOES_ON,
    /** It is over for now, without a result. */
    HELD,
    /** Nothing was done by this call. */
    REFUSED,
    /** Nothing is done until the very same call is made again. */
    LATER
  }

  /**
   * One line.
   *
   * @param sentence with {@code ID} for the operation id
   */
  record Line(Kind kind, String sentence) {
    String of(String operationId) {
      return sentence.replace("ID", operationId);
    }
  }

  private static final String FAILED_RETRYABLE = "FAILED_RETRYABLE";

  static final Line WRITTEN =
      new Line(
          Kind.GOES_ON,
          "The call is being carried out as operation ID. Do not call the tool again; call"
              + " operation_status with this operation_id until it says more.");

  static final Line DONE =
      new Line(Kind.RESULT, "Operation ID was carried out; this is its result.");

  private static final Line CONFLICT =
      new Line(
          Kind.HELD,
          "Two different results of operation ID were reported, so none is told. Do not call the"
              + " tool again; a person has to look at it.");

  private static final Map<String, Line> BY_VERDICT =
      ordered(
          Map.entry("INVALID", refused("Nothing was done: the call can't be taken as it is.")),
          Map.entry("UNAUTHORIZED", refused("Nothing was done: the caller may not do this.")),
          Map.entry(
              "LATE_REPLAY",
              refused(
                  "Nothing was done by this call: operation ID was issued longer ago than anything"
                      + " is remembered, so it may have been carried out then.")),
          Map.entry(
              "EXPIRED",
              refused(
                  "Nothing was done by this call: operation ID was settled before, and its result"
                      + " is no longer kept.")),
          Map.entry(
              "FINGERPRINT_MISMATCH",
              refused(
                  "Nothing was done by this call: operation ID is known with another meaning, which"
                      + " may have been carried out. Ask operation_status of it before anything"
                      + " else; only a request that is meant beside it is another operation, with"
                      + " an operation_id of its own.")),
          Map.entry(
              "CANCELLED",
              refused("Nothing was done by this call: operation ID was cancelled before.")),
          Map.entry(
              "HELD_SUSPECT",
              refused(
                  "Nothing was done by this call: the same request is known under another"
                      + " operation_id and may have been carried out under it. Ask operation_status"
                      + " of that one.")));

  /** Nothing is known of the operation, and this reply begins nothing. */
  private static final Map<String, Line> WITHOUT_STATE =
      ordered(
          Map.entry(
              "RETRY_LATER",
              new Line(
                  Kind.LATER,
                  "Nothing was done by this call: the operation that it undoes is not settled. Make"
                      + " this very call again, as operation ID, when that one is settled.")));

  private static final Line STUCK =
      new Line(
          Kind.HELD,
          "Operation ID has not taken effect, and no further attempt of it begins by itself: a"
              + " person has to look at it. Do not call the tool again; call operation_status with"
              + " this operation_id.");

  private static final Line UNTIL_ASKED =
      new Line(
          Kind.LATER,
          "Operation ID has not taken effect so far, and its next attempt begins only when this"
              + " very call is made again, as operation ID.");

  private static final Map<String, Line> BY_STATE =
      ordered(
          Map.entry("SUCCEEDED", DONE),
          Map.entry(
              "FAILED_TERMINAL",
              new Line(Kind.RESULT, "Operation ID was refused for good; this is what was said.")),
          Map.entry(
              "UNKNOWN_RECONCILIATION",
              new Line(
                  Kind.HELD,
                  "It is not known whether operation ID took effect, and that is being found out."
                      + " Do not call the tool again, under no operation_id; call operation_status"
                      + " with this operation_id.")),
          Map.entry("IN_PROGRESS", WRITTEN),
          Map.entry(
              FAILED_RETRYABLE,
              new Line(
                  Kind.GOES_ON,
                  "Operation ID has not taken effect so far; what is left of its attempts is made"
                      + " without another call. Do not call the tool again; call operation_status"
                      + " with this operation_id.")),
          Map.entry("EXPIRED", new Line(Kind.HELD, "Operation ID was settled and is forgotten.")),
          Map.entry(
              "CANCELLED",
              new Line(Kind.HELD, "Operation ID was cancelled before it took effect.")));

  private McpAnswers() {}

  /**
   * Of a reply.
   *
   * @param retried whether the next attempt begins by itself
   */
  static Line line(Reply reply, boolean retried) {
    if (reply.conflict()) {
      return CONFLICT;
    }
    Line byVerdict = BY_VERDICT.get(reply.verdict());
    if (byVerdict != null) {
      return byVerdict;
    }
    return reply.state() == null
        ? WITHOUT_STATE.getOrDefault(reply.verdict(), WRITTEN)
        : ofState(reply.state(), reply.retryAt(), retried);
  }

  /** Of an operation that is asked for. */
  static Line line(ReplyStore.Operation known, boolean retried) {
    return known.conflict() ? CONFLICT : ofState(known.state(), known.retryAt(), retried);
  }

  private static Line ofState(String state, @Nullable Instant retryAt, boolean retried) {
    if (state.equals(FAILED_RETRYABLE) && retryAt == null) {
      return STUCK;
    }
    return state.equals(FAILED_RETRYABLE) && !retried
        ? UNTIL_ASKED
        : BY_STATE.getOrDefault(state, WRITTEN);
  }

  /** Every line, by what it is found under. */
  static Map<String, Map<String, Line>> all() {
    Map<String, Map<String, Line>> all = new LinkedHashMap<>();
    all.put("before all else", ordered(Map.entry("conflict", CONFLICT)));
    all.put("verdict", BY_VERDICT);
    all.put("verdict without a state", WITHOUT_STATE);
    all.put(
        FAILED_RETRYABLE,
        ordered(
            Map.entry("without retry_at", STUCK),
            Map.entry("under `retry.auto: false`", UNTIL_ASKED)));
    all.put("state", BY_STATE);
    return all;
  }

  private static Line refused(String sentence) {
    return new Line(Kind.REFUSED, sentence);
  }

  @SafeVarargs
  private static Map<String, Line> ordered(Map.Entry<String, Line>... lines) {
    Map<String, Line> map = new LinkedHashMap<>();
    for (Map.Entry<String, Line> line : lines) {
      map.put(line.getKey(), line.getValue());
    }
    return map;
  }
}
