package dev.ichido.relay;

import io.debezium.config.Configuration;
import io.debezium.connector.postgresql.PostgresConnector;
import io.debezium.connector.postgresql.PostgresConnectorTask;
import io.debezium.connector.postgresql.PostgresOffsetContext;
import io.debezium.connector.postgresql.PostgresPartition;
import io.debezium.pipeline.ChangeEventSourceCoordinator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/** Debezium's connector with a task that waits. Debezium makes it by its name. */
public final class OutboxConnector extends PostgresConnector {
  @Override
  public Class<? extends Task> taskClass() {
    return OutboxTask.class;
  }

  /**
   * Waits for changes before it polls for them: a poll that finds nothing spins through the last
   * millisecond of its interval, which costs a tenth of a core at 10 ms.
   */
  public static final class OutboxTask extends PostgresConnectorTask {
    /** Polled at the latest, since a poll also tells what the reader failed with. */
    private static final Duration AT_MOST = Duration.ofMillis(250);

    /** Of one hand-over, each of which costs two hops between threads. */
    private static final int MOST = 64;

    private volatile @Nullable ChangeQueue changes;

    @Override
    public ChangeEventSourceCoordinator<PostgresPartition, PostgresOffsetContext> start(
        Configuration settings) {
      var started = super.start(settings);
      changes = ChangeQueue.take(settings.getString(ChangeQueue.RUN));
      return started;
    }

    @Override
    public List<SourceRecord> doPoll() throws InterruptedException {
      ChangeQueue waiting = changes;
      if (waiting == null) {
        return super.doPoll();
      }
      waiting.await(AT_MOST);
      List<SourceRecord> all = new ArrayList<>(super.doPoll());
      while (waiting.size() > 0 && all.size() < MOST) {
        all.addAll(super.doPoll());
      }
      return all;
    }
  }
}
