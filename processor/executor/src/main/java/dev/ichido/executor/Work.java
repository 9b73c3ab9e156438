package dev.ichido.executor;

import dev.ichido.executor.claim.ClaimAnswer;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** One delivery of one command, from the poll until its report is acknowledged. */
final class Work {
  final ToolCommand command;
  final TopicPartition partition;
  final long offset;
  final List<Header> carried;

  /** Set by whoever reports first: the call, or the drain that gives up on it. */
  final AtomicBoolean reported = new AtomicBoolean();

  /** Null until the dispatcher asked, and for commands that need no claim. */
  @Nullable ClaimAnswer claim;

  /** {@link System#nanoTime} before the first request that may have won the claim. */
  @Nullable Long claimAskedAt;

  /** Held at the remote from before the claim until the call is over; the dispatcher's. */
  @Nullable Semaphore place;

  volatile @Nullable Thread runner;

  Work(ToolCommand command, TopicPartition partition, long offset, List<Header> carried) {
    this.command = command;
    this.partition = partition;
    this.offset = offset;
    this.carried = carried;
  }
}
