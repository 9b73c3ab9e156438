package dev.ichido.gateway;

import dev.ichido.outbox.InvalidIntentException;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxException;
import dev.ichido.outbox.OutboxIntent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Writes intents into the outbox, and remembers what was asked for. */
final class Intake {
  /**
   * A retry that says a later time, or none, keeps the first; one that says an earlier is believed.
   */
  private static final String REMEMBER =
      """
      insert into ichido.gateway_operation as g
             (tenant, principal, scope, operation_id, action, issued_at, delivery_id)
      values (?, ?, ?, ?, ?, ?, ?)
      on conflict (tenant, principal, scope, operation_id) do update
         set issued_at = least(g.issued_at, excluded.issued_at), delivery_id = excluded.delivery_id
      returning issued_at
      """;

  private static final String FIND =
      """
      select action, issued_at, delivery_id from ichido.gateway_operation
       where tenant = ? and principal = ? and scope = ? and operation_id = ?
      """;

  /** What is longer is refused when it is decided, and fits no index. */
  private static final int LONGEST_REMEMBERED = 255;

  private static final Duration RETRY_AFTER_LAG = Duration.ofSeconds(5);

  private final DataSource outbox;

  /** An operation that a caller asked for. */
  record Asked(@Nullable String action, Instant issuedAt, String deliveryId) {}

  Intake(DataSource outbox) {
    this.outbox = outbox;
  }

  /** An id by which the inbox knows that its delivery is to be told everything. */
  static String newDelivery() {
    return "every." + UUID.randomUUID();
  }

  /**
   * Writes one intent; when this returns it is committed.
   *
   * @param intent made for the issue time that holds: that of the first request with this operation
   * @throws ProblemException FIELD_MALFORMED, OUTBOX_BEHIND, DATABASE_UNAVAILABLE
   */
  void write(
      Caller caller,
      String scope,
      @Nullable String operationId,
      @Nullable String action,
      String deliveryId,
      Instant issuedAt,
      Function<Instant, OutboxIntent> intent) {
    // What can't be an intent must not be remembered as one.
    OutboxIntent asSaid = checked(intent, issuedAt);
    try (Connection connection = outbox.getConnection()) {
      connection.setAutoCommit(false);
      try {
        OutboxIntent issued =
            operationId == null
                    || operationId.length() > LONGEST_REMEMBERED
                    || scope.length() > LONGEST_REMEMBERED
                ? asSaid
                : checked(
                    intent,
                    remember(connection, caller, scope, operationId, action, deliveryId, issuedAt));
        Outbox.publish(connection, issued);
        connection.commit();
      } catch (SQLException | RuntimeException e) {
        rollBack(connection, e);
        throw e;
      }
    } catch (OutboxException e) {
      throw switch (e.code()) {
        case OUTBOX_BEHIND ->
            new ProblemException(
                ProblemCode.OUTBOX_BEHIND, String.valueOf(e.getMessage()), RETRY_AFTER_LAG, e);
        case REFUSED -> ProblemCode.FIELD_MALFORMED.because(String.valueOf(e.getMessage()));
        case NO_TRANSACTION, OUTBOX_MISSING, PERMISSION_DENIED -> e;
      };
    } catch (SQLException e) {
      throw ProblemException.of(e);
    }
  }

  private static OutboxIntent checked(Function<Instant, OutboxIntent> intent, Instant issuedAt) {
    try {
      return intent.apply(issuedAt);
    } catch (InvalidIntentException e) {
      throw ProblemCode.FIELD_MALFORMED.because(String.valueOf(e.getMessage()));
    }
  }

  /**
   * What this caller asked for under an operation id.
   *
   * @throws ProblemException FIELD_MALFORMED, DATABASE_UNAVAILABLE
   */
  Optional<Asked> find(Caller caller, String scope, String operationId) {
    try (Connection connection = outbox.getConnection();
        PreparedStatement statement = connection.prepareStatement(FIND)) {
      statement.setString(1, caller.tenant());
      statement.setString(2, caller.principal());
      statement.setString(3, scope);
      statement.setString(4, operationId);
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? Optional.of(new Asked(row.getString(1), instant(row.getLong(2)), row.getString(3)))
            : Optional.empty();
      }
    } catch (SQLException e) {
      throw ProblemException.of(e);
    }
  }

  private static Instant remember(
      Connection connection,
      Caller caller,
      String scope,
      String operationId,
      @Nullable String action,
      String deliveryId,
      Instant issuedAt)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(REMEMBER)) {
      statement.setString(1, caller.tenant());
      statement.setString(2, caller.principal());
      statement.setString(3, scope);
      statement.setString(4, operationId);
      statement.setString(5, action);
      statement.setLong(6, ChronoUnit.MICROS.between(Instant.EPOCH, issuedAt));
      statement.setString(7, deliveryId);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return instant(row.getLong(1));
      }
    }
  }

  private static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  private static void rollBack(Connection connection, Exception reason) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      reason.addSuppressed(e);
    }
  }
}
