package dev.ichido.relay;

import io.debezium.connector.postgresql.PostgresConnector;
import io.debezium.connector.postgresql.PostgresConnectorTask;
import java.util.List;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.SourceRecord;

/** Debezium's connector with a task that rests. Debezium makes it by its name. */
public final class OutboxConnector extends PostgresConnector {
  @Override
  public Class<? extends Task> taskClass() {
    return OutboxTask.class;
  }

  /**
   * Rests between polls while nothing comes: a poll that finds nothing spins through the last
   * millisecond of its interval, which costs an idle relay a tenth of a core at 10 ms.
   */
  public static final class OutboxTask extends PostgresConnectorTask {
    private static final int EMPTY_BEFORE_REST = 20;
    private static final long REST_MILLIS = 40;

    private int empty;

    @Override
    public List<SourceRecord> doPoll() throws InterruptedException {
      List<SourceRecord> records = super.doPoll();
      if (!records.isEmpty()) {
        empty = 0;
      } else if (++empty > EMPTY_BEFORE_REST) {
        Thread.sleep(REST_MILLIS);
      }
      return records;
    }
  }
}
