package dev.ichido.topology;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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

/** The logs of results and of what is read with them, and the positions of an application. */
final class ResultsLog implements ResultsHearing.Log {
  private final Admin admin;
  private final String applicationId;
  private final String results;
  private final Set<String> others;

  /**
   * At a broker.
   *
   * @param settings of the admin client; how long it waits is set here
   * @param others what the tasks that read the results read as well
   */
  static ResultsLog connect(
      Map<String, Object> settings, String applicationId, String results, Set<String> others) {
    Map<String, Object> impatient = new HashMap<>(settings);
    impatient.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, 3_000);
    impatient.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 5_000);
    return new ResultsLog(Admin.create(impatient), applicationId, results, others);
  }

  private ResultsLog(Admin admin, String applicationId, String results, Set<String> others) {
    this.admin = admin;
    this.applicationId = applicationId;
    this.results = results;
    this.others = Set.copyOf(others);
  }

  @Override
  public TopicPartition results(int partition) {
    return new TopicPartition(results, partition);
  }

  @Override
  public CompletionStage<Map<TopicPartition, Long>> ends(Set<Integer> partitions) {
    return offsets(read(partitions), OffsetSpec.latest());
  }

  /** Where no result has been read yet, reading begins at the start of the log. */
  @Override
  public CompletionStage<Map<TopicPartition, Long>> positions(Set<Integer> partitions) {
    return admin
        .listConsumerGroupOffsets(
            Map.of(
                applicationId,
                new ListConsumerGroupOffsetsSpec().topicPartitions(read(partitions))))
        .partitionsToOffsetAndMetadata(applicationId)
        .toCompletionStage()
        .thenCompose(this::orStarts);
  }

  private CompletionStage<Map<TopicPartition, Long>> orStarts(
      Map<TopicPartition, OffsetAndMetadata> committed) {
    Map<TopicPartition, Long> positions = new HashMap<>();
    List<TopicPartition> unread = new ArrayList<>();
    committed.forEach(
        (partition, offset) -> {
          if (offset != null) {
            positions.put(partition, offset.offset());
          } else if (isOfResults(partition)) {
            unread.add(partition);
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

  /**
   * A partition that nobody leads has none, and holds up no other; if no results have, it fails.
   */
  private CompletionStage<Map<TopicPartition, Long>> offsets(
      List<TopicPartition> partitions, OffsetSpec spec) {
    ListOffsetsResult asked =
        admin.listOffsets(partitions.stream().collect(Collectors.toMap(it -> it, unused -> spec)));
    return asked
        .all()
        .toCompletionStage()
        .handle(
            (all, failure) -> {
              Map<TopicPartition, Long> offsets = new HashMap<>();
              for (TopicPartition partition : partitions) {
                CompletableFuture<ListOffsetsResultInfo> one =
                    asked.partitionResult(partition).toCompletionStage().toCompletableFuture();
                if (!one.isCompletedExceptionally()) {
                  offsets.put(partition, one.join().offset());
                }
              }
              if (failure != null && offsets.keySet().stream().noneMatch(this::isOfResults)) {
                throw new CompletionException(failure);
              }
              return offsets;
            });
  }

  private List<TopicPartition> read(Set<Integer> partitions) {
    List<TopicPartition> read = new ArrayList<>();
    for (int partition : partitions) {
      read.add(results(partition));
      others.forEach(topic -> read.add(new TopicPartition(topic, partition)));
    }
    return read;
  }

  private boolean isOfResults(TopicPartition partition) {
    return partition.topic().equals(results);
  }

  /** Nobody waits for an answer any more. */
  @Override
  public void close() {
    admin.close(Duration.ZERO);
  }
}
