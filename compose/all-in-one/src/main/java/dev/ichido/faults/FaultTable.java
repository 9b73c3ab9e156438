package dev.ichido.faults;

import com.fasterxml.jackson.databind.JsonNode;

/** The results as Markdown, from the JSON document alone. */
public final class FaultTable {
  private FaultTable() {}

  /** A table for each group, and the metrics. */
  public static String markdown(JsonNode document) {
    StringBuilder text = new StringBuilder();
    String group = "";
    for (JsonNode scenario : document.path("scenarios")) {
      if (!scenario.path("group").asText().equals(group)) {
        group = scenario.path("group").asText();
        text.append("\n### ")
            .append(group)
            .append("\n\n| scenario | what is done | operations | effects | duplicates | lost |")
            .append(" unknown | holds |\n|---|---|--:|--:|--:|--:|--:|---|\n");
      }
      text.append(
          "| `%s` | %s | %d | %d | %d | %d | %d | %s |\n"
              .formatted(
                  scenario.path("id").asText(),
                  scenario.path("does").asText(),
                  scenario.path("operations").asLong(),
                  scenario.path("effects").asLong(),
                  scenario.path("duplicate_effects").asLong(),
                  scenario.path("lost").asLong(),
                  scenario.path("unknown").asLong(),
                  scenario.path("pass").asBoolean() ? "yes" : "**no**"));
    }
    return text.append('\n').append(summary(document)).toString();
  }

  /** Totals and the five metrics. */
  public static String summary(JsonNode document) {
    JsonNode metrics = document.path("metrics");
    return """
        %d operations over %d scenarios in %d %s, seed %d: **%d duplicate effects, %d lost**, %d scenarios that do not hold.

        | metric | |
        |---|---|
        | duplicate side effects | %s of all operations |
        | false dedupes | %s of all operations |
        | unknown | %s of all operations for a time; %s of those reconciled, after %.1f s at most |
        | retry amplification | %s deliveries and %s calls of the remote for each operation |
        | late replays | %d came, %d ran |
        """
        .formatted(
            document.path("operations").asLong(),
            document.path("scenarios").size(),
            document.path("rounds").asInt(),
            document.path("rounds").asInt() == 1 ? "round" : "rounds",
            document.path("seed").asLong(),
            document.path("duplicate_effects").asLong(),
            document.path("lost").asLong(),
            document.path("failed").asLong(),
            metrics.path("duplicate_side_effect_rate").asText(),
            metrics.path("false_dedupe_rate").asText(),
            metrics.path("unknown").path("rate").asText(),
            metrics.path("unknown").path("reconciled_rate").asText(),
            metrics.path("unknown").path("longest_ms").asLong() / 1000.0,
            metrics.path("retry_amplification").path("deliveries_per_operation").asText(),
            metrics.path("retry_amplification").path("remote_writes_per_operation").asText(),
            metrics.path("late_replay_exposure").path("late").asLong(),
            metrics.path("late_replay_exposure").path("ran").asLong());
  }
}
