package dev.ichido.executor.claim;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Counts the statements that are sent to the database: each is a round trip. */
final class CountingDataSource {
  private final AtomicInteger executions = new AtomicInteger();
  private final DataSource counted;

  CountingDataSource(DataSource real) {
    counted = proxy(DataSource.class, real);
  }

  DataSource dataSource() {
    return counted;
  }

  int executions() {
    return executions.get();
  }

  private <T> T proxy(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            CountingDataSource.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object result = call(method, real, arguments);
              if (method.getName().startsWith("execute")) {
                executions.incrementAndGet();
              }
              if (result instanceof PreparedStatement statement) {
                return proxy(PreparedStatement.class, statement);
              }
              return result instanceof Connection connection
                  ? proxy(Connection.class, connection)
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
}
