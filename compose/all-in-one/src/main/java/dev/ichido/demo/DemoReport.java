package dev.ichido.demo;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/**
 * What came of a demo.
 *
 * @param operations distinct operations of writes
 * @param deliveries intents that were published
 * @param effects effects of these operations in the remote's own book
 * @param duplicateEffects effects beyond the first of an operation
 * @param replies deliveries that have their last reply
 * @param missingReplies deliveries that have not
 * @param verdicts how often each was told
 * @param newEffects effects that were not in the book before this run
 * @param findings what does not hold, for people
 */
public record DemoReport(
    int inputLines,
    int operations,
    int deliveries,
    long effects,
    long duplicateEffects,
    long replies,
    long missingReplies,
    Map<String, Integer> verdicts,
    long deadLetters,
    double seconds,
    long newEffects,
    List<ToolLine> tools,
    List<String> findings) {
  private static final JsonMapper JSON = new JsonMapper();

  /** One tool. */
  public record ToolLine(String tool, String effect, int calls, int deliveries, long effects) {}

  /** Whether the demo shows what it claims. */
  public boolean holds() {
    return findings.isEmpty();
  }

  /** The document of {@code --json}. */
  public ObjectNode toJson() {
    ObjectNode document =
        JSON.createObjectNode()
            .put("input_lines", inputLines)
            .put("operations", operations)
            .put("deliveries", deliveries)
            .put("effects", effects)
            .put("duplicate_effects", duplicateEffects)
            .put("replies", replies)
            .put("missing_replies", missingReplies);
    ObjectNode counts = document.putObject("verdicts");
    verdicts.forEach(counts::put);
    return document
        .put("dead_letters", deadLetters)
        .put("seconds", Math.round(seconds * 100) / 100.0);
  }

  /** A table for people. */
  public String toText() {
    StringBuilder text = new StringBuilder();
    int width = tools.stream().mapToInt(line -> line.tool().length()).max().orElse(4);
    String row = "%-" + Math.max(width, 4) + "s  %-6s %6s %11s %8s%n";
    text.append(row.formatted("tool", "effect", "calls", "deliveries", "effects"));
    for (ToolLine line : tools) {
      text.append(
          row.formatted(
              line.tool(),
              line.effect(),
              line.calls(),
              line.deliveries(),
              line.effect().equals("write") ? line.effects() : "-"));
    }
    text.append('\n');
    text.append("operations (writes)   ").append(operations).append('\n');
    text.append("deliveries            ").append(deliveries).append('\n');
    text.append("effects at the remote ").append(effects);
    if (newEffects != effects) {
      text.append(" (").append(newEffects).append(" of them new in this run)");
    }
    text.append('\n');
    text.append("duplicate effects     ").append(duplicateEffects).append('\n');
    text.append("deliveries answered   ")
        .append(replies)
        .append(" of ")
        .append(deliveries)
        .append('\n');
    text.append("replies by verdict    ");
    verdicts.forEach(
        (verdict, count) -> text.append(verdict).append(' ').append(count).append("  "));
    text.append('\n');
    text.append("dead letters          ").append(deadLetters).append('\n');
    text.append("seconds               ").append("%.1f".formatted(seconds)).append('\n');
    if (findings.isEmpty()) {
      text.append("\nIt holds: every write took effect once, and every delivery was answered.\n");
    } else {
      text.append("\nIt does not hold:\n");
      findings.forEach(finding -> text.append("  ").append(finding).append('\n'));
    }
    return text.toString();
  }
}
