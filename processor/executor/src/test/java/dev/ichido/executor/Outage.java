package dev.ichido.executor;

import static java.util.Objects.requireNonNull;

import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database that can be made unreachable. */
final class Outage {
  private final DataSource dataSource;
  private volatile boolean down;
  private volatile boolean losesAnswer;
  private volatile @Nullable CountDownLatch held;
  private volatile @Nullable Thread waiting;

  Outage(DataSource real) {
    CallThrough troubling =
        (method, call) -> {
          if (down && method.equals("getConnection")) {
            throw new SQLException("down", "08006");
          }
          boolean query = method.equals("executeQuery");
          CountDownLatch latch = held;
          if (query && latch != null) {
            waiting = Thread.currentThread();
            latch.await();
          }
          Object result = call.go();
          if (query && losesAnswer) {
            losesAnswer = false;
            throw new SQLException("lost", "08006");
          }
          return result;
        };
    dataSource = troubling.to(real);
  }

  /** The next query is answered, and the answer does not come. */
  void loseNextAnswer() {
    losesAnswer = true;
  }

  /** Queries wait for {@link #letGo}. */
  void holdQueries() {
    held = new CountDownLatch(1);
  }

  /** Who asked and waits; null while nobody does. */
  @Nullable Thread waiting() {
    return waiting;
  }

  void letGo() {
    requireNonNull(held).countDown();
  }

  DataSource dataSource() {
    return dataSource;
  }

  void begin() {
    down = true;
  }

  void end() {
    down = false;
  }
}
