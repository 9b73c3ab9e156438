package dev.ichido.junit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.inbox.InboxReply;
import dev.ichido.junit.BookedRemote.Fault;
import dev.ichido.outbox.OutboxIntent;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The page on testing shows this class. */
@IchidoStack(
    """
    tenants: { shop: { key: 'a key for tests only', principals: ['agent:booking'] } }
    actions:
      book_flight:
        effect: write
        lease: 5s
        remote: { status_read: true, absent_after: { reads: 2, over: 1s } }
    """)
class BookingIT {
  @Test
  void retryAfterALostAnswerBooksOneFlight(Ichido ichido) {
    BookedRemote airline = new BookedRemote();
    airline.failNext(Fault.LOSES_ANSWER);
    ichido.handle("book_flight", airline);
    OutboxIntent flight =
        OutboxIntent.execute()
            .tenant("shop")
            .principal("agent:booking")
            .action("book_flight")
            .operationId("trip-2026-000017.flight")
            .issuedAt(Instant.now())
            .arguments("{\"from\": \"HND\", \"to\": \"ITM\"}")
            .build();

    InboxReply first = ichido.await(ichido.publish(flight));
    InboxReply retry = ichido.await(ichido.publish(flight));

    assertThat(first.state()).isEqualTo("SUCCEEDED");
    assertThat(retry.verdict()).isEqualTo("REPLAYED");
    assertThat(airline.effects("trip-2026-000017.flight")).hasSize(1);
  }
}
