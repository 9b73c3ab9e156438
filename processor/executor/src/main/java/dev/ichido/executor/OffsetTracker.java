package dev.ichido.executor;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Which commands are done with. A partition's position moves only past a gapless run of them, so
 * that whatever is not done is handed out again. Safe for use by several threads.
 */
public final class OffsetTracker {
  private final Map<TopicPartition, Partition> partitions = new HashMap<>();

  private static final class Partition {
    /** Offset to whether it is done; holds only what is not yet committed. */
    final TreeMap<Long, Boolean> open = new TreeMap<>();

    long next = -1;
    long committed = -1;
  }

  /** A command was polled. */
  public synchronized void begin(TopicPartition partition, long offset) {
    Partition p = partitions.computeIfAbsent(partition, k -> new Partition());
    p.open.put(offset, false);
  }

  /** Does nothing for a partition that was given away. */
  public synchronized void complete(TopicPartition partition, long offset) {
    Partition p = partitions.get(partition);
    if (p == null || p.open.replace(offset, true) == null) {
      return;
    }
    while (!p.open.isEmpty() && p.open.firstEntry().getValue()) {
      p.next = p.open.pollFirstEntry().getKey() + 1;
    }
  }

  /** Positions that moved since they were last taken here. */
  public synchronized Map<TopicPartition, OffsetAndMetadata> takeCommittable() {
    Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
    partitions.forEach(
        (partition, p) -> {
          if (p.next > p.committed) {
            positions.put(partition, new OffsetAndMetadata(p.next));
            p.committed = p.next;
          }
        });
    return positions;
  }

  /** A commit did not get through: its positions are to be taken again. */
  public synchronized void returnCommittable(Iterable<TopicPartition> failed) {
    for (TopicPartition partition : failed) {
      Partition p = partitions.get(partition);
      if (p != null) {
        p.committed = -1;
      }
    }
  }

  /** Partitions were given away. */
  public synchronized void forget(Iterable<TopicPartition> gone) {
    gone.forEach(partitions::remove);
  }
}
