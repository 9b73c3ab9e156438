package dev.ichido.readme;

import dev.ichido.outbox.Lineage;
import dev.ichido.outbox.OperationIds;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import dev.ichido.outbox.TenantKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;

/** The Java example of the README, letter by letter. */
final class FirstIntent {
  private FirstIntent() {}

  static String publish(
      Connection connection,
      TenantKey tenantKey,
      String thread,
      String turn,
      String toolCallId,
      Instant issuedAt)
      throws SQLException {
    String operationId =
        OperationIds.fromLineage(tenantKey, new Lineage("order-bot", thread, turn, toolCallId, 0));
    String deliveryId =
        Outbox.publish(
            connection,
            OutboxIntent.execute()
                .tenant("demo")
                .principal("agent:demo")
                .action("demo.note")
                .operationId(operationId)
                .issuedAt(issuedAt)
                .arguments("{\"text\": \"the parcel has left\"}")
                .build());
    connection.commit();
    return deliveryId;
  }
}
