package dev.ichido.gateway;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which HTTP status a reply has. It is a table, not a judgement: the first line that names the
 * code, the verdict or the state of the reply holds.
 *
 * <p>409 and 503 invite the same request again; nothing else does. What may have happened is never
 * answered with a status that invites a retry under another key.
 */
final class AnswerTable {
  /** Whether the same request with the same key is of use. */
  enum Retry {
    NEVER,
    /** At the time of {@code Retry-After}; it attaches to the attempt that runs, if one does. */
    SAME_KEY,
    /** At {@code retry_at}, where there is one. */
    WHEN_DUE
  }

  /**
   * One line.
   *
   * @param title of the problem document; null where the answer is none
   */
  record Line(int status, Retry retry, @Nullable String title) {}

  private static final Line DONE = new Line(200, Retry.NEVER, null);
  private static final Line ACCEPTED = new Line(202, Retry.NEVER, null);
  private static final Line WITHHELD = new Line(202, Retry.NEVER, null);

  private static final Map<String, Line> BY_CODE =
      ordered(
          Map.entry("ACTION_UNKNOWN", problem(404, "The policy has no such action")),
          Map.entry("TENANT_UNKNOWN", problem(403, "The policy has no such tenant")),
          Map.entry("ARGUMENTS_TOO_LARGE", problem(413, "The arguments are too large")));

  private static final Map<String, Line> BY_VERDICT =
      ordered(
          Map.entry("INVALID", problem(400, "The intent is malformed")),
          Map.entry("UNAUTHORIZED", problem(403, "The caller may not do this")),
          Map.entry("LATE_REPLAY", problem(410, "Issued longer ago than anything is remembered")),
          Map.entry("EXPIRED", problem(410, "Settled, and no longer kept")),
          Map.entry("FINGERPRINT_MISMATCH", problem(422, "The key is known with another meaning")),
          Map.entry("CANCELLED", problem(410, "The operation was cancelled")),
          Map.entry("HELD_SUSPECT", problem(422, "The same meaning is known under another key")),
          Map.entry(
              "DUPLICATE_IN_PROGRESS",
              new Line(409, Retry.SAME_KEY, "The operation is being carried out")));

  /** Nothing is known of the operation, and this reply begins nothing. */
  private static final Map<String, Line> WITHOUT_STATE =
      ordered(
          Map.entry(
              "RETRY_LATER",
              new Line(409, Retry.SAME_KEY, "The operation that this one undoes is not settled")));

  private static final Map<String, Line> BY_STATE =
      ordered(
          Map.entry("SUCCEEDED", DONE),
          Map.entry("FAILED_TERMINAL", problem(424, "The remote refused for good")),
          Map.entry("UNKNOWN_RECONCILIATION", ACCEPTED),
          Map.entry("IN_PROGRESS", ACCEPTED),
          Map.entry("FAILED_RETRYABLE", new Line(202, Retry.WHEN_DUE, null)),
          Map.entry("EXPIRED", problem(410, "Settled, and no longer kept")),
          Map.entry("CANCELLED", problem(410, "The operation was cancelled")));

  /** What differs for a wish to cancel. */
  private static final Map<String, Line> OF_CANCEL =
      ordered(
          Map.entry("CANCELLED", DONE),
          Map.entry("DUPLICATE_IN_PROGRESS", ACCEPTED),
          // Its reply may be final and name no state: nothing is known but that it may have acted.
          Map.entry("HELD_UNKNOWN", ACCEPTED),
          Map.entry("REPLAYED", problem(409, "Settled already, so there is nothing to cancel")));

  private AnswerTable() {}

  /** For an intent. */
  static Line line(Reply reply) {
    if (reply.conflict()) {
      return WITHHELD;
    }
    Line byCode = reply.code() == null ? null : BY_CODE.get(reply.code());
    if (byCode != null && reply.verdict().equals("INVALID")) {
      return byCode;
    }
    Line byVerdict = BY_VERDICT.get(reply.verdict());
    if (byVerdict != null) {
      return byVerdict;
    }
    Line byState =
        reply.state() == null ? WITHOUT_STATE.get(reply.verdict()) : BY_STATE.get(reply.state());
    if (byState != null) {
      return byState;
    }
    return reply.last() ? DONE : ACCEPTED;
  }

  /** For an operation that is asked for. */
  static Line line(ReplyStore.Operation known) {
    return known.conflict() ? WITHHELD : BY_STATE.getOrDefault(known.state(), ACCEPTED);
  }

  /** For a wish to cancel. */
  static Line lineOfCancel(Reply reply) {
    Line own = OF_CANCEL.get(reply.verdict());
    return own == null ? line(reply) : own;
  }

  /** Whether it is its state that gives a reply this line. */
  static boolean isByState(String state, Line line) {
    return line.equals(BY_STATE.get(state));
  }

  /** Every line, by what it is found under. */
  static Map<String, Map<String, Line>> all() {
    Map<String, Map<String, Line>> all = new LinkedHashMap<>();
    all.put("code of INVALID", BY_CODE);
    all.put("verdict", BY_VERDICT);
    all.put("verdict without a state", WITHOUT_STATE);
    all.put("state", BY_STATE);
    all.put("verdict on a DELETE", OF_CANCEL);
    return all;
  }

  private static Line problem(int status, String title) {
    return new Line(status, Retry.NEVER, title);
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
