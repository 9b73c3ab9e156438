package dev.ichido.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.executor.ToolOutcome;
import dev.ichido.inbox.InboxReply;
import dev.ichido.junit.BookedRemote.Fault;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Uses the extension as a team would that tests its tools. */
@IchidoStack(resource = "tools.yaml")
class IchidoStackIT {
  private final BookedRemote remote = new BookedRemote();
  private final String operation = "order-" + UUID.randomUUID();
  private final Ichido ichido;

  IchidoStackIT(Ichido ichido) {
    this.ichido = ichido;
  }

  @BeforeEach
  void handle() {
    ichido.handle("charge", remote);
  }

  @Test
  void oneRunOfThreeDeliveriesAtOnceTakesEffect() {
    List<String> deliveries = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      deliveries.add(ichido.publish(charge("{\"amount\": 5}")));
    }
    for (String delivery : deliveries) {
      InboxReply reply = ichido.await(delivery);
      assertThat(reply.state()).isEqualTo("SUCCEEDED");
      assertThat(reply.body()).isEqualTo("{\"effect\":\"effect-1\"}");
    }
    assertThat(remote.effects(operation)).hasSize(1);
    assertThat(ichido.findOperation("shop", "global", operation)).isPresent();

    InboxReply changed = ichido.await(ichido.publish(charge("{\"amount\": 6}")));
    assertThat(changed.verdict()).isEqualTo("FINGERPRINT_MISMATCH");
    assertThat(remote.effects()).hasSize(1);
  }

  @Test
  @Tag("FR-09")
  void killOfTheExecutorAfterTheEffectIsReconciled() {
    remote.failNext(Fault.KILLS_EXECUTOR);
    String delivery = ichido.publish(charge("{}"));
    assertThatThrownBy(() -> ichido.await(delivery, Duration.ofSeconds(2)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Expected a final reply to " + delivery);
    ichido.restart(Role.EXECUTOR);

    InboxReply reply = ichido.await(delivery);
    assertThat(reply.state()).isEqualTo("SUCCEEDED");
    assertThat(reply.marker()).isEqualTo("RECONCILED");
    assertThat(remote.effects(operation)).hasSize(1);
  }

  @Test
  void whatWasNotAcceptedIsTriedAgainAndWhatWasRefusedIsNot() {
    remote.failNext(Fault.REFUSES_CONNECTION, Fault.REFUSES_CONNECTION, Fault.REFUSES);
    InboxReply reply = ichido.await(ichido.publish(charge("{}")));
    assertThat(reply.state()).isEqualTo("FAILED_TERMINAL");
    assertThat(reply.attempt()).isEqualTo(3);
    assertThat(remote.effects()).isEmpty();
  }

  @Test
  void rollbackPublishesNothingAndRestartsLoseNothing() throws SQLException {
    try (Connection connection = ichido.database().getConnection()) {
      assertThat(Outbox.publish(connection, charge("{}"))).isNotBlank();
      connection.rollback();
    }
    ichido.stop(Role.RELAY);
    ichido.stop(Role.RELAY);
    String delivery = ichido.publish(charge("{}"));
    ichido.restart(Role.PROCESSOR);
    ichido.restart(Role.INBOX);
    assertThat(ichido.replies(delivery)).isEmpty();
    ichido.start(Role.RELAY);
    assertThat(ichido.await(delivery).state()).isEqualTo("SUCCEEDED");
    assertThat(remote.effects(operation)).hasSize(1);
    assertThatThrownBy(() -> ichido.start(Role.RELAY))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("relay");
  }

  @Test
  void handlerIsALambdaAndOnlyForActionsThatHaveNoContract() {
    ichido.handle("look_up", command -> ToolOutcome.succeeded(null, command.arguments()));
    OutboxIntent look =
        OutboxIntent.execute()
            .tenant("shop")
            .principal("agent:booking")
            .action("look_up")
            .operationId(operation)
            .issuedAt(Instant.now())
            .arguments("{\"id\":7}")
            .build();
    assertThat(ichido.await(ichido.publish(look)).body()).isEqualTo("{\"id\":7}");
    assertThatThrownBy(() -> ichido.handle("charge_over_http", remote))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has one");
    assertThatThrownBy(() -> ichido.handle("pay", remote))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not there");
  }

  @Nested
  class InsideAnotherClass {
    @Test
    void stackIsTheSame(Ichido inner) {
      assertThat(inner).isSameAs(ichido);
    }
  }

  private OutboxIntent charge(String arguments) {
    return OutboxIntent.execute()
        .tenant("shop")
        .principal("agent:booking")
        .action("charge")
        .operationId(operation)
        .issuedAt(Instant.now())
        .arguments(arguments)
        .build();
  }
}
