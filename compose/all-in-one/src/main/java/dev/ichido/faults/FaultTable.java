package dev.ichido.faults;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The results as Markdown, from the JSON document alone. */
public final class FaultTable {
  private static final String LIMITS = Scenario.Group.LIMITS.title();

  /** The faults and failure modes that scenarios name. */
  static final SortedMap<String, String> CASES =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("F-01", "concurrent duplicate"),
              Map.entry("F-02", "same key, other meaning"),
              Map.entry("F-03", "JSON order and number form"),
              Map.entry("F-04", "timeout before acceptance"),
              Map.entry("F-05", "timeout after commit"),
              Map.entry("F-06", "crash of each role"),
              Map.entry("F-07", "stale IN_PROGRESS"),
              Map.entry("F-08", "replay after the TTL"),
              Map.entry("F-09", "redelivery by queue and webhook"),
              Map.entry("F-10", "stale resource version"),
              Map.entry("F-11", "retry of the SDK within one of the application"),
              Map.entry("F-12", "key across tenants and regions"),
              Map.entry("F-13", "several steps, done in part"),
              Map.entry("M-01", "new key on retry"),
              Map.entry("M-02", "key used for another meaning"),
              Map.entry("M-03", "dedupe that is not atomic with the work"),
              Map.entry("M-04", "crash after the side effect"),
              Map.entry("M-05", "stale IN_PROGRESS"),
              Map.entry("M-06", "TTL over"),
              Map.entry("M-07", "clock skew"),
              Map.entry("M-08", "scope across regions"),
              Map.entry("M-09", "late replay from a queue"),
              Map.entry("M-10", "retry hidden in an SDK"),
              Map.entry("M-11", "replay by webhook and model"),
              Map.entry("M-12", "several steps, committed in part"),
              Map.entry("M-13", "downstream that is not idempotent"),
              Map.entry("M-14", "downstream that forgets soon"),
              Map.entry("M-15", "stale precondition"),
              Map.entry("M-16", "compensation run twice"),
              Map.entry("M-17", "replay as an attack"),
              Map.entry("M-18", "collision of tenants"),
              Map.entry("M-19", "stored result of an older version")));

  private FaultTable() {}

  /** What was counted, and one table a group. */
  public static String markdown(JsonNode document) {
    StringBuilder text = new StringBuilder(summary(document));
    String group = "";
    for (JsonNode scenario : document.path("scenarios")) {
      if (!scenario.path("group").asText().equals(group)) {
        group = scenario.path("group").asText();
        text.append("\n## ")
            .append(group)
            .append("\n\n| scenario | what is done | what must hold | operations | effects |")
            .append(" operations with 0 / 1 / 2+ effects | duplicates | lost |")
            .append(" unknown for a time | unknown at the end | false dedupes |")
            .append(
                " deliveries / attempts / calls of each | late: came / ran | verdicts | holds |\n")
            .append("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n");
      }
      text.append(
          "| `%s` <br> %s | %s | %s | %d | %d | %s | %d | %d | %d%s | %d | %d | %s | %s | %s | %s |\n"
              .formatted(
                  scenario.path("id").asText(),
                  words(scenario.path("covers")),
                  scenario.path("does").asText(),
                  scenario.path("expected").asText(),
                  scenario.path("operations").asLong(),
                  scenario.path("effects").asLong(),
                  fields(scenario.path("operations_by_effects"), "0", "1", "2+"),
                  scenario.path("duplicate_effects").asLong(),
                  scenario.path("lost").asLong(),
                  everUnknown(scenario),
                  neverCalled(scenario),
                  scenario.path("unknown").asLong(),
                  count(scenario, "/false_dedupe_rate"),
                  fields(
                      scenario.at("/metrics/retry_amplification"),
                      "deliveries_per_operation",
                      "attempts_per_operation",
                      "remote_writes_per_operation"),
                  fields(scenario.at("/metrics/late_replay_exposure"), "late", "ran"),
                  verdicts(scenario),
                  scenario.path("pass").asBoolean() ? "yes" : "**no**"));
    }
    return text + findings(document);
  }

  /** Why each that does not hold does not. */
  private static String findings(JsonNode document) {
    StringBuilder text = new StringBuilder();
    for (JsonNode scenario : document.path("scenarios")) {
      for (JsonNode finding : scenario.path("findings")) {
        text.append("- `%s`: %s\n".formatted(scenario.path("id").asText(), finding.asText()));
      }
    }
    return text.isEmpty() ? "" : "\n## What was found\n\n" + text;
  }

  private static String verdicts(JsonNode scenario) {
    return scenario.path("verdicts").properties().stream()
        .map(it -> it.getKey() + " " + it.getValue().asText())
        .collect(Collectors.joining(", "));
  }

  /** One line a group. */
  public static String groups(JsonNode document) {
    Map<String, long[]> sums = new LinkedHashMap<>();
    for (JsonNode scenario : document.path("scenarios")) {
      long[] sum = sums.computeIfAbsent(scenario.path("group").asText(), none -> new long[8]);
      sum[0]++;
      sum[1] += scenario.path("pass").asBoolean() ? 1 : 0;
      sum[2] += scenario.path("operations").asLong();
      sum[3] += scenario.path("effects").asLong();
      sum[4] += scenario.path("duplicate_effects").asLong();
      sum[5] += scenario.path("lost").asLong();
      sum[6] += everUnknown(scenario);
      sum[7] += scenario.path("unknown").asLong();
    }
    StringBuilder text =
        new StringBuilder(
            """
            | scenarios | how many | hold | operations | effects | duplicates | lost | unknown for a time | unknown at the end |
            |---|--:|--:|--:|--:|--:|--:|--:|--:|
            """);
    sums.forEach(
        (group, sum) ->
            text.append(
                "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n"
                    .formatted(
                        group, sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7])));
    return text.toString();
  }

  private static String fields(JsonNode of, String... names) {
    return Stream.of(names).map(it -> of.path(it).asText()).collect(Collectors.joining(" / "));
  }

  /** Operations whose outcome was unknown at some time, those that still are included. */
  private static long everUnknown(JsonNode scenario) {
    return count(scenario, "/unknown/rate");
  }

  private static String neverCalled(JsonNode scenario) {
    long count = count(scenario, "/unknown/before_any_call");
    return count == 0 ? "" : ", " + count + " before any call";
  }

  private static long count(JsonNode scenario, String share) {
    return Math.round(
        scenario.at("/metrics" + share).asDouble() * scenario.path("operations").asLong());
  }

  /** What the numbers of faults and failure modes stand for. */
  static String legend() {
    StringBuilder text = new StringBuilder("## Faults and failure modes\n\n");
    CASES.forEach(
        (id, name) -> text.append("- ").append(id).append(": ").append(name).append('\n'));
    return text.toString();
  }

  private static String summary(JsonNode document) {
    JsonNode metrics = document.path("metrics");
    long limits = document.path("known_limits").path("scenarios").asLong();
    JsonNode taken = document.path("taken");
    JsonNode unknown = metrics.path("unknown");
    JsonNode retries = metrics.path("retry_amplification");
    return """
    Taken on %s of commit %s, with %d processors and %d GB (%s, Java %s), in %d s%s.

    %s%d operations in %d scenarios, %d %s, seed %d: **%d duplicate effects, %d lost, %d scenarios that do not hold**%s.

    | metric | |
    |---|---|
    | duplicate side effects | %s of all operations |
    | false dedupes | %s of all operations |
    | unknown | %s of all operations for a time (%s where a call may have been made, %s because the lease ended before any); %s of those settled, after %.1f s at most |
    | retry amplification | %s deliveries, %s attempts, %s calls of the remote for each operation |
    | late replays | %d came, %d ran |
    """
        .formatted(
            taken.path("at").asText(),
            taken.path("commit").asText(),
            taken.path("processors").asInt(),
            Math.round(taken.path("memory_mb").asLong() / 1024.0),
            taken.path("system").asText(),
            taken.path("java").asText(),
            document.path("seconds").asLong(),
            document.has("seconds_per_round")
                ? ": %d s a round, where 600 are the aim"
                    .formatted(document.path("seconds_per_round").asLong())
                : "",
            document.path("stopped").asBoolean() ? "**Stopped before its end.** " : "",
            document.path("operations").asLong(),
            document.path("scenarios").size() - limits,
            document.path("rounds").asInt(),
            document.path("rounds").asInt() == 1 ? "round" : "rounds",
            document.path("seed").asLong(),
            document.path("duplicate_effects").asLong(),
            document.path("lost").asLong(),
            document.path("failed").asLong(),
            limits == 0
                ? ""
                : "; beside them %d under %s, with %d second effects"
                    .formatted(
                        limits,
                        LIMITS,
                        document.path("known_limits").path("duplicate_effects").asLong()),
            metrics.path("duplicate_side_effect_rate").asText(),
            metrics.path("false_dedupe_rate").asText(),
            unknown.path("rate").asText(),
            unknown.path("after_a_call").asText(),
            unknown.path("before_any_call").asText(),
            unknown.path("reconciled_rate").asText(),
            unknown.path("longest_ms").asLong() / 1000.0,
            retries.path("deliveries_per_operation").asText(),
            retries.path("attempts_per_operation").asText(),
            retries.path("remote_writes_per_operation").asText(),
            metrics.path("late_replay_exposure").path("late").asLong(),
            metrics.path("late_replay_exposure").path("ran").asLong());
  }

  private static String words(JsonNode array) {
    TreeSet<String> words = new TreeSet<>();
    array.forEach(word -> words.add(word.asText()));
    return String.join(" ", words);
  }
}
