package dev.ichido.embedded;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;

/** A process that starts a database, writes a row and is gone at once: kill -9 from inside. */
final class KilledOwner {
  private KilledOwner() {}

  public static void main(String[] arguments) throws Exception {
    EmbeddedDatabase database = EmbeddedDatabase.start(Path.of(arguments[0]));
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("create table kept as select 1 as n");
      Runtime.getRuntime().halt(137);
    }
  }
}
