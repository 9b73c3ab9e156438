package dev.ichido.relay;

import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.io.IOException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.MemoryOffsetBackingStore;
import org.jspecify.annotations.Nullable;

/**
 * One run of Debezium over the slot. Offsets live in memory only: the slot is the position. A
 * stored offset beside it loses rows of a transaction that was open across a restart.
 */
final class ChangeEngine {
  private static final AtomicLong RUNS = new AtomicLong();

  private final DebeziumEngine<RecordChangeEvent<SourceRecord>> engine;
  private final Gathering gathering;
  private final AtomicReference<@Nullable Throwable> error = new AtomicReference<>();
  private volatile boolean over;

  ChangeEngine(
      OutboxDatabase database,
      OutboxSource source,
      RelayTuning tuning,
      String applicationName,
      DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> consumer) {
    gathering = new Gathering(consumer, tuning.maxBatch(), this::stopAfterFailure);
    engine =
        DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
            .using(properties(database, source, tuning, applicationName))
            .using(
                (success, message, failure) -> {
                  if (!success && gathering.failure() == null) {
                    error.set(failure == null ? new IllegalStateException(message) : failure);
                  }
                })
            .notifying(gathering)
            .build();
  }

  /** Runs in the calling thread until it is stopped or fails. */
  void run() throws Throwable {
    gathering.start();
    try {
      engine.run();
    } finally {
      over = true;
      gathering.end();
      gathering.join();
    }
    Throwable failure = error.get() == null ? gathering.failure() : error.get();
    if (failure != null) {
      throw failure;
    }
  }

  /** Debezium does not notice by itself that nothing is taken any more. */
  private void stopAfterFailure() {
    while (!over && !tryClose()) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
  }

  /**
   * Asks {@link #run()} to return, after the batch in work.
   *
   * @return false while that can't be asked for: Debezium does not let itself be stopped as it
   *     starts
   */
  boolean tryStop() {
    gathering.end();
    return gathering.hasEnded() && tryClose();
  }

  private boolean tryClose() {
    try {
      engine.close();
      return true;
    } catch (IllegalStateException | IOException e) {
      return false;
    }
  }

  static Properties properties(
      OutboxDatabase database, OutboxSource source, RelayTuning tuning, String applicationName) {
    Properties p = new Properties();
    p.put("name", "ichido-relay");
    p.put("connector.class", OutboxConnector.class.getName());
    // Also the name of Debezium's metrics: a second engine of that name in this process, or one
    // after another
    // that ends slowly, would wait for it by the minute. Nothing is stored under it.
    p.put(ChangeQueue.RUN, database.slot() + "-" + RUNS.incrementAndGet());
    p.put("database.hostname", source.host());
    p.put("database.port", String.valueOf(source.port()));
    p.put("database.dbname", source.name());
    p.put("database.user", database.user());
    p.put("database.password", database.password());
    p.put("driver.socketFactory", PatientSockets.class.getName());
    source
        .driverSettings()
        .forEach(
            (key, value) -> p.put((key.startsWith("ssl") ? "database." : "driver.") + key, value));
    p.put("database.connection.factory.class", NamedConnections.class.getName());
    p.put("driver." + NamedConnections.NAME, applicationName);
    p.put("plugin.name", "pgoutput");
    p.put("slot.name", database.slot());
    p.put("slot.max.retries", "0");
    p.put("publication.name", database.publication());
    p.put("publication.autocreate.mode", "disabled");
    p.put("table.include.list", ChangeRouter.TABLE);
    p.put("message.prefix.include.list", SlotMonitor.MESSAGE_PREFIX);
    p.put("skipped.operations", "u,d,t");
    p.put("tombstones.on.delete", "false");
    p.put("snapshot.mode", "custom");
    p.put("snapshot.mode.custom.name", SlotRequiringSnapshotter.NAME);
    p.put(SlotRequiringSnapshotter.URL, database.url());
    p.put("offset.storage", MemoryOffsetBackingStore.class.getName());
    // What was sent since is sent again after a crash, under the same delivery ids.
    p.put("offset.flush.interval.ms", "50");
    p.put("lsn.flush.mode", "connector");
    // The relay restarts the engine itself: a retry inside it drops the batch that failed.
    p.put("errors.max.retries", "0");
    p.put("poll.interval.ms", String.valueOf(tuning.pollInterval().toMillis()));
    p.put("queue.provider.type", ChangeQueue.NAME);
    // See Gathering.
    p.put("max.batch.size", "1");
    p.put("max.queue.size", String.valueOf(4 * tuning.maxBatch()));
    // Rows may be large: the queue is bounded in bytes as well.
    p.put("max.queue.size.in.bytes", String.valueOf(64L << 20));
    return p;
  }
}
