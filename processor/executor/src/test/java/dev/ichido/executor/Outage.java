package dev.ichido.executor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database that can be made unreachable. */
final class Outage {
  private final DataSource dataSource;
  private volatile boolean down;
  private volatile boolean losesAnswer;

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
                  return losesAnswer && result instanceof Connection connection
                      ? losing(Connection.class, connection)
                      : result;
                });
  }

  /** What is asked is done, and nobody hears of it. */
  private <T> T losing(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            Outage.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object result = call(method, real, arguments);
              if (method.getName().equals("executeQuery")) {
                losesAnswer = false;
                throw new SQLException("lost", "08006");
              }
              return result instanceof PreparedStatement statement
                  ? losing(PreparedStatement.class, statement)
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
