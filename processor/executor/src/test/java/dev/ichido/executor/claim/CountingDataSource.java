package dev.ichido.executor.claim;

import dev.ichido.executor.CallThrough;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Counts the statements that are sent to the database: each is a round trip. */
final class CountingDataSource {
  private final AtomicInteger executions = new AtomicInteger();
  private final DataSource counted;

  CountingDataSource(DataSource real) {
    CallThrough counting =
        (method, call) -> {
          if (method.startsWith("execute")) {
            executions.incrementAndGet();
          }
          return call.go();
        };
    counted = counting.to(real);
  }

  DataSource dataSource() {
    return counted;
  }

  int executions() {
    return executions.get();
  }
}
