package dev.ichido.replay;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;

/** How far those are that read a topic: the processor or the executors. */
final class Readers {
  private static final Duration LOOK = Duration.ofMillis(100);

  private final Admin admin;

  Readers(Admin admin) {
    this.admin = admin;
  }

  /**
   * Waits until every group that reads these partitions has taken in what lies before.
   *
   * @param ends first offset of each partition that need not be taken in
   * @param until of {@link System#nanoTime()}
   * @return false when time was over, or when nobody reads them
   */
  boolean await(Map<TopicPartition, Long> ends, long until)
      throws InterruptedException, ExecutionException {
    while (!ends.isEmpty()) {
      if (areDone(ends)) {
        return true;
      }
      if (System.nanoTime() - until > 0) {
        return false;
      }
      Thread.sleep(LOOK);
    }
    return true;
  }

  private boolean areDone(Map<TopicPartition, Long> ends)
      throws InterruptedException, ExecutionException {
    Map<String, ListConsumerGroupOffsetsSpec> groups = new HashMap<>();
    for (GroupListing group : admin.listGroups().all().get()) {
      // One without members is a reader of the past.
      if (group.groupState().filter(state -> state == GroupState.EMPTY).isEmpty()) {
        groups.put(
            group.groupId(), new ListConsumerGroupOffsetsSpec().topicPartitions(ends.keySet()));
      }
    }
    if (groups.isEmpty()) {
      return false;
    }
    Map<TopicPartition, Boolean> read = new HashMap<>();
    for (Map<TopicPartition, OffsetAndMetadata> positions :
        admin.listConsumerGroupOffsets(groups).all().get().values()) {
      positions.forEach(
          (partition, position) -> {
            if (position != null) {
              read.merge(
                  partition,
                  position.offset() >= ends.getOrDefault(partition, 0L),
                  Boolean::logicalAnd);
            }
          });
    }
    return ends.keySet().stream().allMatch(it -> read.getOrDefault(it, false));
  }
}
