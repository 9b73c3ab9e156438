package dev.ichido.schemas;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.avro.specific.SpecificRecordBase;

/**
 * Names of the topics. They are wire format: whoever writes an outbox, an executor or a console
 * finds the others by them.
 *
 * @param prefix what every name begins with; 1 to 200 of {@code A-Z a-z 0-9 . _ -}, as Kafka allows
 */
public record Topics(String prefix) {
  public static final String DEFAULT_PREFIX = "ichido";

  /** How long records that drive work are kept: longer than a weekend without a processor. */
  public static final Duration WORK_RETENTION = Duration.ofDays(7);

  /** How long refused records are kept for a person to look at and to replay. */
  public static final Duration DEAD_LETTER_RETENTION = Duration.ofDays(30);

  /** How long decisions are kept; above the longest horizon of the default policy (31 days). */
  public static final Duration JOURNAL_RETENTION = Duration.ofDays(90);

  /** Largest record batch of a topic, in bytes: arguments of 1 MiB and as much of other fields. */
  public static final int RECORD_BYTES = 2 * 1_024 * 1_024;

  /**
   * A dead letter carries the refused record whole, so its limit leaves room for both. A stored
   * operation holds its arguments and who waits, and has the same.
   */
  public static final int DEAD_LETTER_BYTES = 2 * RECORD_BYTES;

  private static final Pattern LEGAL = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}");

  public Topics {
    if (!LEGAL.matcher(prefix).matches()) {
      throw new IllegalArgumentException(
          "Expected a topic prefix of 1 to 200 letters, digits, dots, underscores and hyphens, but \""
              + prefix
              + "\" is none. Check topics.prefix.");
    }
  }

  public static Topics withDefaultPrefix() {
    return new Topics(DEFAULT_PREFIX);
  }

  public String intents() {
    return prefix + ".intents";
  }

  public String commands() {
    return prefix + ".commands";
  }

  public String results() {
    return prefix + ".results";
  }

  public String replies() {
    return prefix + ".replies";
  }

  public String journal() {
    return prefix + ".journal";
  }

  public String deadLetters() {
    return prefix + ".dead-letters";
  }

  /**
   * All topics as they should exist.
   *
   * @param partitions of every topic; equal for all, since one sub-topology owns an operation and
   *     nothing is repartitioned
   * @param replicationFactor of every topic; from 3 on, two copies must acknowledge a record
   */
  public List<TopicSpec> specs(int partitions, short replicationFactor) {
    return List.of(
        spec(intents(), ToolIntent.class, partitions, replicationFactor, WORK_RETENTION),
        spec(commands(), SideEffectCommand.class, partitions, replicationFactor, WORK_RETENTION),
        spec(results(), OperationResult.class, partitions, replicationFactor, WORK_RETENTION),
        spec(replies(), OperationReply.class, partitions, replicationFactor, WORK_RETENTION),
        spec(journal(), JournalEntry.class, partitions, replicationFactor, JOURNAL_RETENTION),
        spec(
            deadLetters(),
            DeadLetter.class,
            partitions,
            replicationFactor,
            DEAD_LETTER_RETENTION,
            DEAD_LETTER_BYTES));
  }

  private static TopicSpec spec(
      String name,
      Class<? extends SpecificRecordBase> recordType,
      int partitions,
      short replicationFactor,
      Duration retention) {
    return spec(name, recordType, partitions, replicationFactor, retention, RECORD_BYTES);
  }

  private static TopicSpec spec(
      String name,
      Class<? extends SpecificRecordBase> recordType,
      int partitions,
      short replicationFactor,
      Duration retention,
      int maxBytes) {
    Map<String, String> configs = new LinkedHashMap<>();
    configs.put("cleanup.policy", "delete");
    configs.put("retention.ms", Long.toString(retention.toMillis()));
    // Retention by size would delete intents that nobody has read yet.
    configs.put("retention.bytes", "-1");
    // Retention deletes back-dated CreateTime records unread.
    configs.put("message.timestamp.type", "LogAppendTime");
    configs.put("max.message.bytes", Integer.toString(maxBytes));
    configs.put("min.insync.replicas", replicationFactor >= 3 ? "2" : "1");
    configs.put("unclean.leader.election.enable", "false");
    return new TopicSpec(name, recordType, partitions, replicationFactor, configs);
  }
}
