package dev.ichido.outbox;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * Writes intents into the outbox of the runtime's own PostgreSQL database, in the runtime's own
 * transaction: the intent is there exactly when the runtime's state is.
 */
public final class Outbox {
  private static final String PUBLISH =
      "select ichido.publish_intent(tenant => ?, principal => ?, action => ?, operation_id => ?, issued_at => ?,"
          + " arguments => ?, target => ?, scope => ?, action_version => ?, precondition => ?, discriminator => ?,"
          + " workflow_id => ?, step => ?, compensates => ?, kind => ?, delivery_id => ?, traceparent => ?)";

  private Outbox() {}

  /**
   * Writes one intent. Joins the transaction of {@code callersConnection}; never commits, rolls
   * back or closes.
   *
   * @return the delivery id, which the reply carries
   * @throws OutboxException when the outbox refuses, with a stable code
   * @throws SQLException what the driver says otherwise
   */
  public static String publish(Connection callersConnection, OutboxIntent intent)
      throws SQLException {
    if (callersConnection.getAutoCommit()) {
      throw OutboxException.noTransaction();
    }
    try (PreparedStatement statement = callersConnection.prepareStatement(PUBLISH)) {
      int i = 1;
      setText(statement, i++, intent.tenant());
      setText(statement, i++, intent.principal());
      setText(statement, i++, intent.action());
      setText(statement, i++, intent.operationId());
      statement.setObject(i++, OffsetDateTime.ofInstant(intent.issuedAt(), ZoneOffset.UTC));
      setText(statement, i++, intent.arguments());
      setText(statement, i++, intent.target());
      setText(statement, i++, intent.scope());
      setText(statement, i++, intent.actionVersion());
      setText(statement, i++, intent.precondition());
      setText(statement, i++, intent.discriminator());
      setText(statement, i++, intent.workflowId());
      setText(statement, i++, intent.step());
      setText(statement, i++, intent.compensates());
      setText(statement, i++, intent.kind().name());
      setText(statement, i++, intent.deliveryId());
      setText(statement, i, intent.traceparent());
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        return result.getString(1);
      }
    } catch (SQLException e) {
      throw OutboxException.typedOrThrow(e);
    }
  }

  private static void setText(PreparedStatement statement, int index, @Nullable String value)
      throws SQLException {
    if (value == null) {
      statement.setNull(index, Types.VARCHAR);
    } else {
      statement.setString(index, value);
    }
  }
}
