package dev.ichido.topology;

import java.time.Duration;
import java.util.Map;

/**
 * How the processor runs.
 *
 * @param applicationId names the consumer group, the changelogs and the transactions
 * @param topicPrefix prefix of all topics
 * @param kafka Kafka client and Streams properties, passed through; they win over everything stated
 *     here except the application id and the exception handlers
 * @param registry settings of the serde, see {@code RecordSerdes}
 * @param stateDir folder of the local stores
 * @param threads stream threads of this process
 * @param standbys copies of each store that other processes keep warm
 * @param replicationFactor of changelogs; -1 is the broker's default
 * @param guarantee what holds when it dies between two commits
 * @param commitInterval how often is committed
 * @param sweepInterval how often due deadlines are looked for at most
 * @param sweepBatch most deadlines that one sweep of one partition takes
 * @param inlineBodyBytes a result body of more UTF-8 bytes than this is kept as a handle
 */
public record ProcessorConfig(
    String applicationId,
    String topicPrefix,
    Map<String, String> kafka,
    Map<String, String> registry,
    String stateDir,
    int threads,
    int standbys,
    int replicationFactor,
    Guarantee guarantee,
    Duration commitInterval,
    Duration sweepInterval,
    int sweepBatch,
    int inlineBodyBytes) {
  public ProcessorConfig {
    kafka = Map.copyOf(kafka);
    registry = Map.copyOf(registry);
  }

  /** One thread, no standby, everything else as recommended. */
  public static ProcessorConfig of(
      String applicationId,
      String topicPrefix,
      Map<String, String> kafka,
      Map<String, String> registry,
      String stateDir) {
    return new ProcessorConfig(
        applicationId,
        topicPrefix,
        kafka,
        registry,
        stateDir,
        1,
        0,
        -1,
        Guarantee.EXACTLY_ONCE_V2,
        Duration.ofMillis(10),
        Duration.ofMillis(100),
        500,
        64 * 1024);
  }

  /** Passed-through values may hold passwords, so only their names are printed. */
  @Override
  public String toString() {
    return "ProcessorConfig[applicationId=%s, topicPrefix=%s, kafka=%s, registry=%s, stateDir=%s]"
        .formatted(applicationId, topicPrefix, kafka.keySet(), registry.keySet(), stateDir);
  }
}
