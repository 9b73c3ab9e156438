package dev.ichido.executor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What somebody does around each call to a database, and to its connections and statements. */
@FunctionalInterface
public interface CallThrough {
  /** The call itself. */
  @FunctionalInterface
  interface Call {
    @Nullable Object go() throws Throwable;
  }

  @Nullable Object around(String method, Call call) throws Throwable;

  default DataSource to(DataSource real) {
    return to(DataSource.class, real);
  }

  private <T> T to(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            CallThrough.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object result =
                  around(
                      method.getName(),
                      () -> {
                        try {
                          return method.invoke(real, arguments);
                        } catch (InvocationTargetException e) {
                          throw e.getCause() == null ? e : e.getCause();
                        }
                      });
              if (result instanceof PreparedStatement statement) {
                return to(PreparedStatement.class, statement);
              }
              return result instanceof Connection connection
                  ? to(Connection.class, connection)
                  : result;
            }));
  }
}
