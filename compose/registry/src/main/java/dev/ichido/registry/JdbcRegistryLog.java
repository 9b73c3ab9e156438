package dev.ichido.registry;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** The log in a table of PostgreSQL, {@code ichido.registry_log}. */
public final class JdbcRegistryLog implements RegistryLog {
  private final DataSource database;

  private JdbcRegistryLog(DataSource database) {
    this.database = database;
  }

  /** Creates the table where it is missing. */
  public static JdbcRegistryLog migrated(DataSource database) {
    Flyway.configure(JdbcRegistryLog.class.getClassLoader())
        .dataSource(database)
        .locations("classpath:dev/ichido/registry/migration")
        .schemas("ichido")
        .table("flyway_registry")
        .baselineOnMigrate(true)
        .baselineVersion("0")
        .load()
        .migrate();
    return new JdbcRegistryLog(database);
  }

  @Override
  public List<String> read(long from) {
    try (Connection connection = database.getConnection();
        PreparedStatement select =
            connection.prepareStatement(
                "select event from ichido.registry_log where position >= ? order by position")) {
      select.setLong(1, from);
      List<String> events = new ArrayList<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          events.add(rows.getString(1));
        }
      }
      return events;
    } catch (SQLException e) {
      throw RegistryLogException.notRead(e);
    }
  }

  @Override
  public boolean tryAppend(long position, String event) {
    try (Connection connection = database.getConnection();
        PreparedStatement insert =
            connection.prepareStatement(
                "insert into ichido.registry_log (position, event) values (?, ?) on conflict do nothing")) {
      insert.setLong(1, position);
      insert.setString(2, event);
      boolean written = insert.executeUpdate() == 1;
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return written;
    } catch (SQLException e) {
      throw RegistryLogException.notWritten(e);
    }
  }
}
