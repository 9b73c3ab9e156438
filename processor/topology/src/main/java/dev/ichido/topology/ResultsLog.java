package dev.ichido.topology;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** The log of results and the positions of an application in it, as the broker has them. */
final class ResultsLog implements ResultsHearing.Log {
  private final Admin admin;
  private final String applicationId;
  private final String topic;

  /**
   * At a broker.
   *
   * @param settings of the admin client; how long it waits is set here
   */
  static ResultsLog connect(Map<String, Object> settings, String applicationId, String topic) {
    Map<String, Object> impatient = new HashMap<>(settings);
    impatient.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, 3_000);
    impatient.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 5_000);
    return new ResultsLog(Admin.create(impatient), applicationId, topic);
  }

  private ResultsLog(Admin admin, String applicationId, String topic) {
    this.admin = admin;
    this.applicationId = applicationId;
    this.topic = topic;
  }

  @Override
  public CompletionStage<Map<Integer, Long>> ends(Set<Integer> partitions) {
    return offsets(partitions, OffsetSpec.latest());
  }

  /** Where nothing has been read yet, reading begins at the start of the log. */
  @Override
  public CompletionStage<Map<Integer, Long>> positions(Set<Integer> partitions) {
    return admin
        .listConsumerGroupOffsets(
            Map.of(
                applicationId,
                new ListConsumerGroupOffsetsSpec()
                    .topicPartitions(partitions.stream().map(this::partition).toList())))
        .partitionsToOffsetAndMetadata(applicationId)
        .toCompletionStage()
        .thenCompose(this::orStarts);
  }

  private CompletionStage<Map<Integer, Long>> orStarts(
      Map<TopicPartition, OffsetAndMetadata> committed) {
    Map<Integer, Long> positions = new HashMap<>();
    Set<Integer> unread = new HashSet<>();
    committed.forEach(
        (partition, offset) -> {
          if (offset == null) {
            unread.add(partition.partition());
          } else {
            positions.put(partition.partition(), offset.offset());
          }
        });
    if (unread.isEmpty()) {
      return CompletableFuture.completedStage(positions);
    }
    return offsets(unread, OffsetSpec.earliest())
        .thenApply(
            starts -> {
              positions.putAll(starts);
              return positions;
            });
  }

  /** A partition that nobody leads has none, and holds up no other; if none has, it fails. */
  private CompletionStage<Map<Integer, Long>> offsets(Set<Integer> partitions, OffsetSpec spec) {
    ListOffsetsResult asked =
        admin.listOffsets(
            partitions.stream().collect(Collectors.toMap(this::partition, unused -> spec)));
    return asked
        .all()
        .toCompletionStage()
        .handle(
            (all, failure) -> {
              Map<Integer, Long> offsets = new HashMap<>();
              for (int partition : partitions) {
                CompletableFuture<ListOffsetsResultInfo> one =
                    asked
                        .partitionResult(partition(partition))
                        .toCompletionStage()
                        .toCompletableFuture();
                if (!one.isCompletedExceptionally()) {
                  offsets.put(partition, one.join().offset());
                }
              }
              if (failure != null && offsets.isEmpty()) {
                throw new CompletionException(failure);
              }
              return offsets;
            });
  }

  private TopicPartition partition(int number) {
    return new TopicPartition(topic, number);
  }

  /** Nobody waits for an answer any more. */
  @Override
  public void close() {
    admin.close(Duration.ZERO);
  }
}
