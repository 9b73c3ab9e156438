package dev.ichido.cli;

import dev.ichido.replay.ReplayTopic;
import dev.ichido.replay.Selection;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which records of which topics. */
final class SelectionOptions {
  @Option(
      names = "--topic",
      split = ",",
      paramLabel = "TOPIC",
      defaultValue = "intents",
      description = "Any of intents, commands, results, separated by commas. Default: intents.")
  private List<ReplayTopic> topics = List.of(ReplayTopic.INTENTS);

  @Option(names = "--partition", paramLabel = "N", description = "Only this one.")
  private @Nullable Integer partition;

  @Option(
      names = "--from-offset",
      paramLabel = "N",
      defaultValue = "0",
      description = "First offset, of each partition. Default: the first that is kept.")
  private long fromOffset;

  @Option(
      names = "--to-offset",
      paramLabel = "N",
      description = "Last offset, of each partition. Default: the last that is there.")
  private @Nullable Long toOffset;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description = "From this time of the broker on, such as 2026-01-31T12:00:00Z.")
  private @Nullable String since;

  @Option(names = "--until", paramLabel = "TIME", description = "Before this time of the broker.")
  private @Nullable String until;

  @Option(names = "--tenant", paramLabel = "TENANT", description = "Only those of a tenant.")
  private @Nullable String tenant;

  @Option(names = "--operation-id", paramLabel = "ID", description = "Only those of an operation.")
  private @Nullable String operationId;

  Selection toSelection() {
    return new Selection(
        topics.stream().distinct().toList(),
        partition,
        fromOffset,
        toOffset == null ? Long.MAX_VALUE : toOffset + 1,
        time("--since", since),
        time("--until", until),
        tenant,
        operationId);
  }

  /** Whether something of it can be said of a topic only. */
  boolean namesPositions() {
    return partition != null || fromOffset != 0 || toOffset != null;
  }

  private static @Nullable Instant time(String option, @Nullable String text) {
    try {
      return text == null ? null : Instant.parse(text);
    } catch (DateTimeParseException e) {
      throw CommandException.usage(
          "TIME_UNREADABLE",
          "Expected a time such as 2026-01-31T12:00:00Z, but "
              + option
              + " has another form. Check it.",
          e);
    }
  }
}
