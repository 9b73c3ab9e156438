package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.remotes.Raw.Reply;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each fault as a client sees it that hides nothing, and what the book says of it. */
@Tag("FR-17")
final class FaultTest {
  private static final String BODY = "{\"amount\":100}";

  @TempDir Path folder;
  private RemoteServer server;

  @BeforeEach
  void start() {
    server = RemoteServer.start(RemoteConfig.of(RemoteKind.LEGACY, folder.resolve("book")));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Reply pay(String businessKey) throws IOException {
    return Raw.call(server, "POST", "/payments", BODY, "X-Business-Key", businessKey);
  }

  private Raw sent(String businessKey) throws IOException {
    Raw raw = new Raw(server);
    raw.send("POST", "/payments", BODY, "X-Business-Key", businessKey);
    return raw;
  }

  private void assertEffects(int count) {
    assertThat(server.book().effects()).hasSize(count);
  }

  @Test
  void cleanRequestCommitsAndAnswers() throws Exception {
    server.faults().add(FaultKind.CLEAN);
    Reply reply = pay("b1");
    assertThat(reply.status()).isEqualTo(201);
    assertThat(server.book().reading().byReference(reply.json().path("reference").asText()))
        .hasSize(1);
    assertThat(server.faults().pending()).isEmpty();
  }

  @Test
  void acceptThenTimeoutCommitsAndNeverAnswers() throws Exception {
    server.faults().add(FaultKind.ACCEPT_THEN_TIMEOUT);
    try (Raw raw = sent("b1")) {
      assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();
      assertEffects(1);
      raw.socket().setSoTimeout(1);
      assertThatThrownBy(raw::receive).isInstanceOf(SocketTimeoutException.class);
      server.faults().release();
      raw.socket().setSoTimeout(20_000);
      assertThatThrownBy(raw::receive).isInstanceOf(EOFException.class);
    }
    assertEffects(1);
  }

  @Test
  void timeoutBeforeCommitNeverCommits() throws Exception {
    server.faults().add(FaultKind.TIMEOUT_BEFORE_COMMIT);
    try (Raw raw = sent("b1")) {
      assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();
      server.faults().release();
      assertThatThrownBy(raw::receive).isInstanceOf(EOFException.class);
    }
    assertEffects(0);
  }

  @Test
  void heldRequestCommitsAfterTheClientIsGone() throws Exception {
    server.faults().add(FaultKind.HOLD_BEFORE_COMMIT);
    try (Raw raw = sent("b1")) {
      assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();
      assertThat(raw.socket().isConnected()).isTrue();
    }
    assertEffects(0);
    server.faults().release();
    Awaitility.await().untilAsserted(() -> assertEffects(1));
  }

  @Test
  void heldRequestDoesNotCommitWhenTheRemoteIsClosed() throws Exception {
    server.faults().add(FaultKind.HOLD_BEFORE_COMMIT);
    try (Raw raw = sent("b1")) {
      assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();
      server.close();
      assertThatThrownBy(raw::receive).isInstanceOf(IOException.class);
    }
    assertThat(Book.read(folder.resolve("book")).effects()).isEmpty();
  }

  @Test
  void errorsBeforeAndAfterTheCommitLookTheSame() throws Exception {
    for (int status : new int[] {500, 502, 503, 504}) {
      server.faults().add(Fault.of(FaultKind.ERROR_BEFORE_COMMIT).withStatus(status));
      server.faults().add(Fault.of(FaultKind.ERROR_AFTER_COMMIT).withStatus(status));
      Reply before = pay("before");
      Reply after = pay("after");
      assertThat(before.status()).isEqualTo(status);
      assertThat(after.status()).isEqualTo(status);
      assertThat(after.body()).isEqualTo(before.body());
    }
    assertThat(server.book().countByKey()).isEqualTo(Map.of("after", 4));
  }

  @Test
  void answerComesTwiceAndTheEffectOnce() throws Exception {
    server.faults().add(FaultKind.ANSWER_TWICE);
    try (Raw raw = sent("b1")) {
      Reply first = raw.receive();
      Reply second = raw.receive();
      assertThat(second.status()).isEqualTo(201);
      assertThat(second.body()).isEqualTo(first.body());
    }
    assertEffects(1);
  }

  @Test
  void slowAnswerComesAfterTheCommit() throws Exception {
    server.faults().add(Fault.of(FaultKind.SLOW).withDelay(Duration.ZERO));
    try (Raw raw = sent("b1")) {
      assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();
      assertEffects(1);
      raw.socket().setSoTimeout(1);
      assertThatThrownBy(raw::receive).isInstanceOf(SocketTimeoutException.class);
      server.faults().release();
      raw.socket().setSoTimeout(20_000);
      assertThat(raw.receive().status()).isEqualTo(201);
    }
    server.faults().add(Fault.of(FaultKind.SLOW).withDelay(Duration.ofMillis(1)));
    assertThat(pay("b2").status()).isEqualTo(201);
    assertEffects(2);
  }

  @Test
  void slowLorisSendsTheHeadersAtOnceAndTheBodyByteByByte() throws Exception {
    server.faults().add(Fault.of(FaultKind.SLOW_LORIS_BODY).withDelay(Duration.ZERO));
    try (Raw raw = sent("b1")) {
      Map<String, String> headers = new HashMap<>();
      assertThat(raw.receiveHead(headers)).isEqualTo(201);
      assertEffects(1);
      int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
      assertThat(length).isGreaterThan(10);
      for (int i = 0; i < length; i++) {
        assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();
        assertThat(raw.stream().available()).isZero();
        server.faults().release();
        assertThat(raw.stream().read()).isPositive();
      }
    }
  }

  @Test
  void resetBeforeReadHappensWithTheBodyUnsent() throws Exception {
    server.faults().add(FaultKind.RESET_BEFORE_READ);
    try (Raw raw = new Raw(server)) {
      raw.socket()
          .getOutputStream()
          .write(
              "POST /payments HTTP/1.1\r\nX-Business-Key: b1\r\nContent-Length: 1000\r\n\r\n"
                  .getBytes(ISO_8859_1));
      assertThatThrownBy(raw::receive).isInstanceOf(SocketException.class);
    }
    assertEffects(0);
    assertThat(server.calls().writes("b1")).isEqualTo(1);
    assertThat(pay("b1").status()).isEqualTo(201);
  }

  @Test
  void resetAfterCommitLeavesTheEffectAndNoByte() throws Exception {
    server.faults().add(FaultKind.RESET_AFTER_COMMIT);
    try (Raw raw = sent("b1")) {
      assertThatThrownBy(raw::receive).isInstanceOf(SocketException.class);
    }
    assertEffects(1);
  }

  @Test
  void resetMidBodyLeavesTheEffectAndHalfAnAnswer() throws Exception {
    server.faults().add(FaultKind.RESET_MID_BODY);
    try (Raw raw = sent("b1")) {
      Map<String, String> headers = new HashMap<>();
      assertThat(raw.receiveHead(headers)).isEqualTo(201);
      int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
      assertThatThrownBy(() -> raw.stream().readNBytes(length)).isInstanceOf(SocketException.class);
    }
    assertEffects(1);
  }

  @Test
  void refusedConnectionsEndPooledOnesAndComeBackWhenAccepted() throws Exception {
    try (Raw pooled = sent("b1")) {
      assertThat(pooled.receive().status()).isEqualTo(201);
      server.refuseConnections(Duration.ZERO);
      assertThatThrownBy(() -> pay("b2")).isInstanceOf(ConnectException.class);
      assertThatThrownBy(
              () -> {
                pooled.send("POST", "/payments", BODY, "X-Business-Key", "b3");
                pooled.receive();
              })
          .isInstanceOf(IOException.class);
    }
    server.acceptConnections();
    assertThat(pay("b4").status()).isEqualTo(201);
    assertThat(server.book().countByKey()).containsOnlyKeys("b1", "b4");
  }

  @Test
  void refusedConnectionsComeBackAfterTheirTime() {
    server.faults().add(Fault.of(FaultKind.REFUSE_CONNECTION).withDelay(Duration.ofMillis(200)));
    assertThat(server.faults().met()).containsEntry(FaultKind.REFUSE_CONNECTION, 1);
    Awaitility.await().ignoreExceptions().until(() -> pay("b1").status() == 201);
    assertEffects(1);
  }

  @Test
  void answersWithoutACommit() throws Exception {
    Map<FaultKind, Integer> statuses =
        Map.of(
            FaultKind.TOO_MANY_REQUESTS, 429,
            FaultKind.REFUSAL, 402,
            FaultKind.STALE_PRECONDITION, 412,
            FaultKind.REDIRECT, 307,
            FaultKind.ERROR_BEFORE_COMMIT, 500);
    for (Map.Entry<FaultKind, Integer> expected : statuses.entrySet()) {
      server.faults().add(expected.getKey());
      assertThat(pay("b1").status()).as("%s", expected.getKey()).isEqualTo(expected.getValue());
    }
    assertEffects(0);
    assertThat(server.faults().met()).containsOnlyKeys(statuses.keySet());
  }

  @Test
  void tooManyRequestsSaysWhenToComeBack() throws Exception {
    server.faults().add(Fault.of(FaultKind.TOO_MANY_REQUESTS).withDelay(Duration.ofSeconds(7)));
    assertThat(pay("b1").header("Retry-After")).isEqualTo("7");
  }

  @Test
  void invitedRetryDoublesWhereNoKeyProtects() throws Exception {
    server.faults().add(FaultKind.RETRY_INVITED);
    Reply invited = pay("b1");
    assertThat(invited.status()).isEqualTo(503);
    assertThat(invited.header("Stripe-Should-Retry")).isEqualTo("true");
    pay("b1");
    assertThat(server.book().duplicates()).containsEntry("b1", 2);
  }

  @Test
  void followedRedirectWouldHaveItsEffect() throws Exception {
    server.faults().add(FaultKind.REDIRECT);
    Reply redirect = pay("b1");
    assertThat(redirect.header("Location")).isEqualTo(server.uri() + "/payments?redirected=1");
    Raw.call(server, "POST", "/payments?redirected=1", BODY, "X-Business-Key", "b1");
    assertEffects(1);
  }

  @Test
  void oversizeAnswerHasTheSizeAskedForAndIsStillJson() throws Exception {
    server.faults().add(Fault.of(FaultKind.OVERSIZE_BODY).withBytes(3_000_001));
    Reply reply = pay("b1");
    assertThat(reply.bytes()).hasSize(3_000_001);
    assertThat(reply.json().path("reference").asText()).startsWith("L-");
    assertEffects(1);
  }

  @Test
  void faultMeetsOnlyItsBusinessKeyAndAsOftenAsAsked() throws Exception {
    server.faults().add(Fault.of(FaultKind.REFUSAL).forBusinessKey("b2").times(2));
    assertThat(pay("b1").status()).isEqualTo(201);
    assertThat(pay("b2").status()).isEqualTo(402);
    assertThat(pay("b1").status()).isEqualTo(201);
    assertThat(pay("b2").status()).isEqualTo(402);
    assertThat(pay("b2").status()).isEqualTo(201);

    server.faults().add(Fault.of(FaultKind.REFUSAL).times(0));
    for (int i = 0; i < 3; i++) {
      assertThat(pay("b3").status()).isEqualTo(402);
    }
    server.faults().clear();
    assertThat(pay("b3").status()).isEqualTo(201);
  }

  @Test
  void drawnFaultsDependOnSeedAndKeyAndNotOnTheOrderOfKeys() throws Exception {
    List<Faults.Rule> rules =
        List.of(
            new Faults.Rule(0.3, Fault.of(FaultKind.REFUSAL)),
            new Faults.Rule(0.3, Fault.of(FaultKind.STALE_PRECONDITION)));
    List<Integer> forward = drawn(7, rules, IntStream.range(0, 100).boxed().toList());
    List<Integer> backward =
        drawn(7, rules, IntStream.range(0, 100).map(i -> 99 - i).boxed().toList());
    assertThat(backward.reversed()).isEqualTo(forward);
    assertThat(drawn(8, rules, IntStream.range(0, 100).boxed().toList())).isNotEqualTo(forward);
    for (int status : new int[] {402, 412, 201}) {
      assertThat(forward.stream().filter(s -> s == status).count()).isBetween(15L, 60L);
    }
  }

  private List<Integer> drawn(long seed, List<Faults.Rule> rules, List<Integer> keys)
      throws IOException {
    server.faults().random(seed, rules);
    List<Integer> statuses = new ArrayList<>();
    for (int key : keys) {
      statuses.add(pay("b" + key).status());
    }
    return statuses;
  }

  @ParameterizedTest
  @EnumSource(FaultKind.class)
  void kindSaysWhetherTheEffectHappens(FaultKind kind) throws Exception {
    Set<FaultKind> untilReleased =
        EnumSet.of(
            FaultKind.ACCEPT_THEN_TIMEOUT,
            FaultKind.TIMEOUT_BEFORE_COMMIT,
            FaultKind.HOLD_BEFORE_COMMIT);
    server
        .faults()
        .add(
            kind == FaultKind.SLOW
                    || kind == FaultKind.SLOW_LORIS_BODY
                    || kind == FaultKind.REFUSE_CONNECTION
                ? Fault.of(kind).withDelay(Duration.ofMillis(1))
                : Fault.of(kind));
    if (kind == FaultKind.REFUSE_CONNECTION || kind.ofReads()) {
      assertThat(kind.commits()).isFalse();
      return;
    }
    CompletableFuture<Void> call =
        CompletableFuture.runAsync(
            () -> {
              try {
                pay("b1");
              } catch (IOException e) {
                // Most of them have no answer.
              }
            });
    if (untilReleased.contains(kind)) {
      assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();
      server.faults().release();
    }
    call.get();
    Awaitility.await().untilAsserted(() -> assertEffects(kind.commits() ? 1 : 0));
    assertThat(server.faults().met()).containsOnlyKeys(kind);
  }

  @Test
  void requestWithoutAnyKeyForTheBookIsRefusedLoudly() throws Exception {
    Reply reply = Raw.call(server, "POST", "/payments", BODY);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.json().path("error").asText()).isEqualTo("business_key_missing");
    assertEffects(0);
  }

  @Test
  void chunkedBodiesAndExpectedContinuesAreRead() throws Exception {
    try (Raw raw = new Raw(server)) {
      raw.socket()
          .getOutputStream()
          .write(
              String.join(
                      "\r\n",
                      "POST /payments HTTP/1.1",
                      "X-Business-Key: b1",
                      "Expect: 100-continue",
                      "Transfer-Encoding: chunked",
                      "",
                      "5",
                      "{\"nat",
                      "11",
                      "ural_key\":\"n1\"  }",
                      "0",
                      "",
                      "")
                  .getBytes(ISO_8859_1));
      assertThat(raw.receiveHead(new HashMap<>())).isEqualTo(100);
      assertThat(raw.receive().status()).isEqualTo(201);
    }
    assertThat(server.book().reading().byNaturalKey("n1")).hasSize(1);
  }
}
