package dev.ichido.executor;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
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
  private volatile boolean holds;

  Outage(DataSource real) {
    dataSource =
        (DataSource)
            Proxy.newProxyInstance(
                Outage.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                  if (down && method.getName().equals("getConnection")) {
                    throw new SQLException("down", "08006");
                  }
                  Object result = call(method, real, arguments);
                  return (losesAnswer || held != null) && result instanceof Connection connection
                      ? troubled(Connection.class, connection)
                      : result;
                });
  }

  private <T> T troubled(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            Outage.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              CountDownLatch waiting = held;
              if (waiting != null && method.getName().equals("executeQuery")) {
                holds = true;
                waiting.await();
              }
              Object result = call(method, real, arguments);
              if (losesAnswer && method.getName().equals("executeQuery")) {
                losesAnswer = false;
                throw new SQLException("lost", "08006");
              }
              return result instanceof PreparedStatement statement
                  ? troubled(PreparedStatement.class, statement)
                  : result;
            }));
  }

  private static @Nullable Object call(
      Method method, @Nullable Object target, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }

  /** The next query is answered, and the answer does not come. */
  void loseNextAnswer() {
    losesAnswer = true;
  }

  /** Queries wait for {@link #letGo}. */
  void holdQueries() {
    held = new CountDownLatch(1);
  }

  boolean holds() {
    return holds;
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
