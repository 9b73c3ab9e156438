package dev.ichido.remotes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.remotes.Raw.Reply;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StripeContractTest {
  private static final String BODY = "{\"amount\":100,\"currency\":\"eur\"}";

  @TempDir Path folder;
  private RemoteServer server;

  @BeforeEach
  void start() {
    server = RemoteServer.start(config());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private RemoteConfig config() {
    return RemoteConfig.of(RemoteKind.STRIPE, folder.resolve("book"))
        .withNaturalKey(KeySource.body("/metadata/order"))
        .withClock(FixedClock.clock());
  }

  private Reply charge(String key, String body) throws Exception {
    return Raw.call(
        server, "POST", "/v1/charges", body, "Idempotency-Key", key, "X-Business-Key", "b1");
  }

  @Test
  void repeatedRequestIsReplayedAndSaysSo() throws Exception {
    Reply first = charge("k1", BODY);
    Reply second = charge("k1", BODY);

    assertThat(first.status()).isEqualTo(200);
    assertThat(first.header("Idempotent-Replayed")).isEmpty();
    assertThat(first.json().path("object").asText()).isEqualTo("charge");
    assertThat(first.json().path("amount").asInt()).isEqualTo(100);
    assertThat(second.status()).isEqualTo(200);
    assertThat(second.body()).isEqualTo(first.body());
    assertThat(second.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(server.book().countByKey()).containsEntry("b1", 1);
    assertThat(server.book().effects().getFirst().reference())
        .isEqualTo(first.json().path("id").asText());
    assertThat(server.book().effects().getFirst().downstreamKey()).isEqualTo("k1");
    assertThat(server.calls().writes("b1")).isEqualTo(2);
  }

  @Test
  void orderOfParametersDoesNotMatterAndTheFormIsTaken() throws Exception {
    charge("k1", BODY);
    assertThat(charge("k1", "{\"currency\":\"eur\",\"amount\":100}").header("Idempotent-Replayed"))
        .isEqualTo("true");

    Reply form =
        Raw.call(
            server,
            "POST",
            "/v1/refunds",
            "amount=5&metadata[order]=o%201",
            "Content-Type",
            "application/x-www-form-urlencoded",
            "Idempotency-Key",
            "k2");
    assertThat(form.json().path("metadata").path("order").asText()).isEqualTo("o 1");
    assertThat(server.book().reading().byNaturalKey("o 1")).hasSize(1);
    assertThat(server.book().reading().byBusinessKey("o 1")).hasSize(1);
  }

  @Test
  void otherParametersOrEndpointUnderOneKeyAre400() throws Exception {
    charge("k1", BODY);
    Reply amount = charge("k1", "{\"amount\":200,\"currency\":\"eur\"}");
    Reply endpoint =
        Raw.call(
            server, "POST", "/v1/refunds", BODY, "Idempotency-Key", "k1", "X-Business-Key", "b1");

    for (Reply refused : new Reply[] {amount, endpoint}) {
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.json().path("error").path("type").asText()).isEqualTo("idempotency_error");
    }
    assertThat(charge("k1", BODY).header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(server.book().effects()).hasSize(1);
  }

  @Test
  void sameKeyIs409WhileTheFirstIsInFlight() throws Exception {
    server.faults().add(FaultKind.HOLD_BEFORE_COMMIT);
    CompletableFuture<Reply> first = CompletableFuture.supplyAsync(() -> unchecked("k1"));
    assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();

    Reply second = charge("k1", BODY);
    assertThat(second.status()).isEqualTo(409);
    assertThat(second.json().path("error").path("code").asText())
        .isEqualTo("idempotency_key_in_use");
    assertThat(server.book().effects()).isEmpty();

    server.faults().release();
    assertThat(first.get().status()).isEqualTo(200);
    assertThat(charge("k1", BODY).header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(server.book().effects()).hasSize(1);
  }

  @Test
  void failureOfTheFirstExecutionIsKeptAndReplayed() throws Exception {
    Map<String, FaultKind> faults =
        Map.of(
            "before", FaultKind.ERROR_BEFORE_COMMIT,
            "after", FaultKind.ERROR_AFTER_COMMIT,
            "refused", FaultKind.REFUSAL);
    for (Map.Entry<String, FaultKind> fault : faults.entrySet()) {
      String key = fault.getKey();
      int status = key.equals("refused") ? 402 : 500;
      server.faults().add(fault.getValue());
      Reply first = charge(key, BODY);
      Reply again = charge(key, BODY);
      assertThat(first.status()).as(key).isEqualTo(status);
      assertThat(again.status()).as(key).isEqualTo(status);
      assertThat(again.body()).as(key).isEqualTo(first.body());
      assertThat(again.header("Idempotent-Replayed")).as(key).isEqualTo("true");
    }
    assertThat(server.book().effects()).extracting(Effect::downstreamKey).containsExactly("after");
  }

  @Test
  void whatAGatewayAnswersIsNotKept() throws Exception {
    server
        .faults()
        .add(
            Fault.of(FaultKind.ERROR_BEFORE_COMMIT).withStatus(503),
            Fault.of(FaultKind.ERROR_AFTER_COMMIT).withStatus(502),
            Fault.of(FaultKind.TOO_MANY_REQUESTS));
    assertThat(charge("k1", BODY).status()).isEqualTo(503);
    assertThat(server.book().effects()).isEmpty();
    assertThat(charge("k1", BODY).status()).isEqualTo(502);
    assertThat(server.book().effects()).hasSize(1);
    assertThat(charge("k1", BODY).status()).isEqualTo(429);

    Reply last = charge("k1", BODY);
    assertThat(last.status()).isEqualTo(200);
    assertThat(last.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(server.book().effects()).hasSize(1);
  }

  @Test
  void keyProtectsForTwentyFourHoursAndNotLonger() throws Exception {
    charge("k1", BODY);
    server.clock().advance(Duration.ofHours(24).minusNanos(1));
    assertThat(charge("k1", BODY).header("Idempotent-Replayed")).isEqualTo("true");
    server.clock().advance(Duration.ofNanos(1));
    assertThat(charge("k1", BODY).header("Idempotent-Replayed")).isEmpty();
    assertThat(server.book().duplicates()).containsEntry("b1", 2);
  }

  @Test
  void keyHasUpTo255CharactersAndMayBeMissing() throws Exception {
    assertThat(charge("k".repeat(255), BODY).status()).isEqualTo(200);
    assertThat(charge("k".repeat(256), BODY).status()).isEqualTo(400);
    assertThat(server.book().effects()).hasSize(1);

    for (int i = 0; i < 2; i++) {
      Raw.call(server, "POST", "/v1/charges", BODY, "X-Business-Key", "keyless");
    }
    assertThat(server.book().duplicates()).containsEntry("keyless", 2);
  }

  @Test
  void keyIsIgnoredOnDelete() throws Exception {
    for (int i = 0; i < 2; i++) {
      Raw.call(
          server,
          "DELETE",
          "/v1/customers/c1",
          "",
          "Idempotency-Key",
          "k1",
          "X-Business-Key",
          "deleted");
    }
    assertThat(server.book().countByKey()).containsEntry("deleted", 2);
  }

  @Test
  void accountsAreWorldsOfTheirOwn() throws Exception {
    for (String account : new String[] {"acct_1", "acct_2", "acct_1"}) {
      Raw.call(
          server,
          "POST",
          "/v1/charges",
          BODY,
          "Idempotency-Key",
          "k1",
          "Stripe-Account",
          account,
          "X-Business-Key",
          "b1");
    }
    assertThat(server.book().effects())
        .extracting(Effect::scope)
        .containsExactly("acct_1", "acct_2");
    assertThat(server.book().duplicates()).isEmpty();
  }

  @Test
  void keysAreRememberedAcrossARestart() throws Exception {
    Reply first = charge("k1", BODY);
    server.faults().add(FaultKind.ERROR_BEFORE_COMMIT);
    charge("k2", BODY);
    server.close();
    server = RemoteServer.start(config());

    Reply again = charge("k1", BODY);
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(charge("k2", BODY).status()).isEqualTo(500);
    assertThat(charge("k1", "{\"amount\":7}").status()).isEqualTo(400);
    assertThat(server.book().effects()).hasSize(1);

    server.clock().advance(Duration.ofHours(24));
    assertThat(charge("k2", BODY).status()).isEqualTo(200);
  }

  @Test
  void chargeIsReadByIdAndSearchedByMetadata() throws Exception {
    Reply made = charge("k1", "{\"amount\":1,\"metadata\":{\"order\":\"o1\"}}");
    String id = made.json().path("id").asText();

    assertThat(Raw.get(server, "/v1/charges/" + id).json().path("id").asText()).isEqualTo(id);
    assertThat(Raw.get(server, "/v1/charges/ch_none").status()).isEqualTo(404);
    Reply found = Raw.get(server, "/v1/charges/search?query=metadata%5B%22order%22%5D:%22o1%22");
    assertThat(found.json().at("/data/0/id").asText()).isEqualTo(id);
    Reply none = Raw.get(server, "/v1/charges/search?query=metadata%5B%22order%22%5D:%22o2%22");
    assertThat(none.status()).isEqualTo(200);
    assertThat(none.json().path("data")).isEmpty();
    assertThat(Raw.get(server, "/status?key=k1").json().path("reference").asText()).isEqualTo(id);
  }

  private Reply unchecked(String key) {
    try {
      return charge(key, BODY);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
