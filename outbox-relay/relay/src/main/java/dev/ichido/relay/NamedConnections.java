package dev.ichido.relay;

import io.debezium.jdbc.JdbcConfiguration;
import io.debezium.jdbc.JdbcConnection;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;

/**
 * Opens Debezium's connections under the relay's own name, which Debezium overwrites with its own:
 * by that name the relay tells whether it is the one that streams from the slot.
 */
public final class NamedConnections implements JdbcConnection.ConnectionFactory {
  static final String NAME = "ichido.name";

  private static final String APPLICATION_NAME = "ApplicationName";

  @Override
  public Connection connect(JdbcConfiguration config) throws SQLException {
    Properties properties = config.asProperties();
    String url =
        "jdbc:postgresql://"
            + OutboxSource.bracketed(config.getHostname())
            + ":"
            + config.getPortAsString()
            + "/"
            + config.getDatabase();
    properties
        .keySet()
        .removeAll(List.of("hostname", "port", "dbname", "connection.factory.class"));
    Object name = properties.remove(NAME);
    if (name != null) {
      properties.setProperty(APPLICATION_NAME, name.toString());
    }
    return DriverManager.getConnection(url, properties);
  }
}
