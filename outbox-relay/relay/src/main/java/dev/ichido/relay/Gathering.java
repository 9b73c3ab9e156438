package dev.ichido.relay;

import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/**
 * Makes batches of what Debezium gives. Its own queue hands a batch out only when that is full or
 * when its poll interval is over, and spins through the last millisecond of each interval: at 2 ms
 * that was 45 % of a core for nothing. Asked for single changes it hands each out at once and
 * sleeps otherwise. What comes while one batch is sent is the next batch.
 *
 * <p>Batches are handed on by one thread, in order, and only that thread marks.
 */
final class Gathering implements DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> {
  /** Characters of rows that may wait; a larger row waits alone. */
  private static final int MOST_WAITING = 16 << 20;

  /**
   * Batches begin this far apart for each change of the one before, since each is a transaction: a
   * busy outbox saves transactions, and of a quiet one no row waits for others.
   */
  private static final Duration APART = Duration.ofMillis(1);

  private static final int MOST_APART = 10;

  private final DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> consumer;
  private final int most;
  private final Runnable failed;
  private final LinkedBlockingQueue<Waiting> queue = new LinkedBlockingQueue<>();
  private final Semaphore room = new Semaphore(MOST_WAITING);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final Thread thread = Thread.ofPlatform().name("ichido-relay-send").unstarted(this::send);
  private volatile boolean ending;

  private record Waiting(
      RecordChangeEvent<SourceRecord> change,
      int size,
      DebeziumEngine.RecordCommitter<RecordChangeEvent<SourceRecord>> committer) {}

  /**
   * Batches for a consumer.
   *
   * @param most changes in a batch
   * @param failed told once, when the consumer failed and nothing is handed on any more
   */
  Gathering(
      DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> consumer,
      int most,
      Runnable failed) {
    this.consumer = consumer;
    this.most = most;
    this.failed = failed;
  }

  void start() {
    thread.start();
  }

  /** Hands nothing on after the batch in work. What waits is not marked, so it comes again. */
  void end() {
    ending = true;
  }

  boolean hasEnded() {
    return !thread.isAlive();
  }

  /** Waits for the batch in work. */
  void join() throws InterruptedException {
    thread.join();
  }

  /** What the consumer failed with, if it did. */
  @Nullable Throwable failure() {
    return failure.get();
  }

  @Override
  public void handleBatch(
      List<RecordChangeEvent<SourceRecord>> changes,
      DebeziumEngine.RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
      throws InterruptedException {
    for (RecordChangeEvent<SourceRecord> change : changes) {
      int size = Math.min(MOST_WAITING, size(change.record()));
      while (!ending && !room.tryAcquire(size, 100, TimeUnit.MILLISECONDS)) {
        // The sender frees room, or ends.
      }
      if (ending) {
        return;
      }
      queue.add(new Waiting(change, size, committer));
    }
  }

  private void send() {
    long next = System.nanoTime();
    try {
      while (!ending) {
        Waiting first = queue.poll(100, TimeUnit.MILLISECONDS);
        if (first == null) {
          continue;
        }
        List<Waiting> batch = new ArrayList<>();
        batch.add(first);
        LockSupport.parkNanos(next - System.nanoTime());
        long begun = System.nanoTime();
        queue.drainTo(batch, most - 1);
        next = begun + APART.toNanos() * Math.min(MOST_APART, batch.size());
        if (!ending) {
          consumer.handleBatch(batch.stream().map(Waiting::change).toList(), first.committer());
          room.release(batch.stream().mapToInt(Waiting::size).sum());
        }
      }
    } catch (Throwable e) {
      failure.set(e);
      ending = true;
      failed.run();
    }
  }

  private static int size(SourceRecord change) {
    return change.value() instanceof Struct envelope
            && envelope.schema().field("after") != null
            && envelope.get("after") instanceof Struct row
            && row.schema().field("payload") != null
            && row.get("payload") instanceof String payload
        ? payload.length() + 1_024
        : 1_024;
  }
}
