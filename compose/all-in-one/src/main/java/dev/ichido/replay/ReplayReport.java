package dev.ichido.replay;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.SortedMap;

/**
 * What became of records that were sent again.
 *
 * @param run what marks them
 * @param finished whether all was taken in when this was counted
 * @param verdicts decisions on them, each with its count
 * @param newCommands commands to have an effect that they led to
 * @param reads reads that ran again, as reads do for each delivery
 * @param newEffects effects added, as far as the source can tell
 * @param effectsFrom book or claims, or commands where neither is known
 * @param deadLetters records that were refused
 * @param newRefusals of these, those whose delivery was not refused before as it is now
 * @param comparedReplies deliveries that had a last reply before and have one now
 * @param uncomparedReplies deliveries that were sent again and lack one of the two
 * @param differingReplies of these, the ids of those that were told another thing
 */
public record ReplayReport(
    String run,
    boolean finished,
    int replayed,
    SortedMap<String, Integer> verdicts,
    int newCommands,
    int reads,
    long newEffects,
    String effectsFrom,
    int deadLetters,
    int newRefusals,
    int comparedReplies,
    int uncomparedReplies,
    List<String> differingReplies) {
  private static final JsonMapper JSON = new JsonMapper();

  /** Whether the records changed nothing, and every one of them shows it. */
  public boolean isWithoutEffect() {
    return finished
        && newCommands == 0
        && newEffects == 0
        && newRefusals == 0
        && uncomparedReplies == 0
        && differingReplies.isEmpty();
  }

  /** A document for machines. */
  public ObjectNode toJson() {
    ObjectNode document = JSON.createObjectNode().put("replayed", replayed);
    ObjectNode counts = document.putObject("verdicts");
    verdicts.forEach(counts::put);
    return document
        .put("new_commands", newCommands)
        .put("new_effects", newEffects)
        .put("differing_replies", differingReplies.size())
        .put("effects_from", effectsFrom)
        .put("compared_replies", comparedReplies)
        .put("uncompared_replies", uncomparedReplies)
        .put("reads", reads)
        .put("dead_letters", deadLetters)
        .put("new_refusals", newRefusals)
        .put("finished", finished)
        .put("run", run);
  }

  /** For people. */
  public String toText() {
    StringBuilder text = new StringBuilder();
    text.append("records sent again    %d  (run %s)%n".formatted(replayed, run));
    verdicts.forEach((verdict, count) -> text.append("  %-20s%d%n".formatted(verdict, count)));
    text.append("new commands          %d%n".formatted(newCommands));
    text.append("effects added         %d  (by %s)%n".formatted(newEffects, effectsFrom));
    text.append(
        comparedReplies == 0
            ? "replies that differ   none was compared: nobody was answered twice\n"
            : "replies that differ   %d of %d%n"
                .formatted(differingReplies.size(), comparedReplies));
    if (uncomparedReplies > 0) {
      text.append("replies not compared  %d%n".formatted(uncomparedReplies));
    }
    text.append("reads run again       %d%n".formatted(reads));
    if (deadLetters > 0) {
      text.append("dead letters          %d  (%d new)%n".formatted(deadLetters, newRefusals));
    }
    differingReplies.stream()
        .limit(10)
        .forEach(id -> text.append("  delivery ").append(id).append('\n'));
    if (!finished) {
      text.append("not all was taken in within --wait: the counts are not final\n");
    }
    return text.toString();
  }
}
