package dev.ichido.faults;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * What the five metrics are made of.
 *
 * @param attempts that the processor began
 * @param remoteWrites requests for an effect that reached a remote
 * @param falseDedupes operations that were told a success which was not theirs, or that were held
 *     for another one
 * @param everUnknown operations whose outcome was unknown for a time
 * @param neverCalled those of them whose lease ended each time before any executor had begun
 * @param stillUnknown operations whose outcome is unknown at the end
 * @param longestUnknownMillis the longest time until one of them was settled
 * @param late deliveries that came after their operation was forgotten
 * @param lateNotRefused those of them that were not refused
 */
record Metrics(
    long operations,
    long deliveries,
    long attempts,
    long remoteWrites,
    long duplicateEffects,
    long falseDedupes,
    long everUnknown,
    long neverCalled,
    long stillUnknown,
    long longestUnknownMillis,
    long late,
    long lateNotRefused) {
  static final Metrics NONE = new Metrics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  private static final JsonMapper JSON = new JsonMapper();

  Metrics plus(Metrics other) {
    return new Metrics(
        operations + other.operations,
        deliveries + other.deliveries,
        attempts + other.attempts,
        remoteWrites + other.remoteWrites,
        duplicateEffects + other.duplicateEffects,
        falseDedupes + other.falseDedupes,
        everUnknown + other.everUnknown,
        neverCalled + other.neverCalled,
        stillUnknown + other.stillUnknown,
        Math.max(longestUnknownMillis, other.longestUnknownMillis),
        late + other.late,
        lateNotRefused + other.lateNotRefused);
  }

  Metrics withDuplicates(long count) {
    return new Metrics(
        operations,
        deliveries,
        attempts,
        remoteWrites,
        count,
        falseDedupes,
        everUnknown,
        neverCalled,
        stillUnknown,
        longestUnknownMillis,
        late,
        lateNotRefused);
  }

  ObjectNode toJson() {
    ObjectNode json =
        JSON.createObjectNode()
            .put("duplicate_side_effect_rate", share(duplicateEffects))
            .put("false_dedupe_rate", share(falseDedupes));
    json.putObject("unknown")
        .put("rate", share(everUnknown))
        .put("after_a_call", share(everUnknown - neverCalled))
        .put("before_any_call", share(neverCalled))
        .put(
            "reconciled_rate",
            everUnknown == 0 ? 1 : rounded(1 - (double) stillUnknown / everUnknown))
        .put("longest_ms", longestUnknownMillis);
    json.putObject("retry_amplification")
        .put("deliveries_per_operation", share(deliveries))
        .put("attempts_per_operation", share(attempts))
        .put("remote_writes_per_operation", share(remoteWrites));
    json.putObject("late_replay_exposure").put("late", late).put("ran", lateNotRefused);
    return json;
  }

  private double share(long count) {
    return operations == 0 ? 0 : rounded((double) count / operations);
  }

  private static double rounded(double value) {
    return Math.round(value * 10_000) / 10_000.0;
  }
}
