package dev.ichido.executor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A database that can be made unreachable. */
final class Outage {
  private final DataSource dataSource;
  private volatile boolean down;

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
                  try {
                    return method.invoke(real, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause() == null ? e : e.getCause();
                  }
                });
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
