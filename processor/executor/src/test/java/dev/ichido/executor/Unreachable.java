package dev.ichido.executor;

import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** A database that never answers, and counts who asks. */
final class Unreachable {
  private final AtomicInteger asked = new AtomicInteger();

  DataSource dataSource() {
    return (DataSource)
        Proxy.newProxyInstance(
            Unreachable.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              asked.incrementAndGet();
              throw new SQLException("unreachable", "08001");
            });
  }

  int asked() {
    return asked.get();
  }
}
