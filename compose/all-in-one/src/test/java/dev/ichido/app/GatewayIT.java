package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.app.DoorClient.Answer;
import dev.ichido.embedded.DataFolder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The HTTP door over real HTTP, with the whole stack behind it and the remote's own book. */
class GatewayIT {
  private static final String WAIT = "wait=60";
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final int WAITING = DoorRemote.AT_A_TIME;

  @TempDir private static Path temp;
  private static DoorRemote remote;
  private static DataFolder folder;
  private static Path config;
  private static LivePolicy policy;
  private static Stack stack;
  private static DoorClient agent;
  private static DoorClient colleague;
  private static DoorClient stranger;

  @BeforeAll
  static void start() throws Exception {
    Path data = temp.resolve("data");
    remote = DoorRemote.start();
    folder = DataFolder.open(data);
    config = Files.writeString(temp.resolve("ichido.yaml"), remote.config());
    policy = LivePolicy.of(config);
    stack = Stack.start(folder, Stack.Ports.FREE, policy, line -> {});
    String url = stack.endpoints().gatewayUrl();
    agent = DoorClient.of(url, data, "t1", "agent:a");
    colleague = DoorClient.of(url, data, "t1", "agent:b");
    stranger = DoorClient.of(url, data, "t2", "agent:a");
  }

  @AfterAll
  static void stop() {
    stack.close();
    policy.close();
    folder.close();
    remote.close();
  }

  /** Processor, executor and door take it while they run; what is settled stays so. */
  @Test
  void aChangedPolicyCountsWithoutARestartAndReopensNothing() throws IOException {
    Answer settled = agent.post("pay", "before-the-change-01", "{\"amount\":1}", "Prefer", WAIT);
    refused(agent.get("/v1/actions/late"), 404, "ACTION_UNKNOWN");

    Files.writeString(
        config,
        remote.config().replace("  pay: { ", "  pay: { retention: 2h, ")
            + remote
                .config()
                .lines()
                .filter(it -> it.startsWith("  pay: "))
                .findFirst()
                .orElseThrow()
                .replace("pay: ", "late: "));
    await().atMost(LIMIT).until(() -> agent.get("/v1/actions/late").status() == 200);
    Answer executed = agent.post("late", "after-the-change-01", "{\"amount\":1}", "Prefer", WAIT);
    assertThat(executed.text("state")).isEqualTo("SUCCEEDED");
    assertThat(remote.effects("t1", "after-the-change-01")).hasSize(1);
    Answer again = agent.post("pay", "before-the-change-01", "{\"amount\":1}", "Prefer", WAIT);
    assertThat(again.text("marker")).isEqualTo("REPLAYED");
    assertThat(again.body().get("result")).isEqualTo(settled.body().get("result"));
    assertThat(remote.effects("t1", "before-the-change-01")).hasSize(1);

    Files.writeString(config, remote.config());
    await().atMost(LIMIT).until(() -> agent.get("/v1/actions/late").status() == 404);
  }

  /** Cases of the IETF draft and of the agentic-commerce protocol: the second request of a key. */
  @ParameterizedTest(name = "{0}")
  @Tag("FR-03")
  @Tag("FR-04")
  @Tag("FR-41")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "same bytes              | {\"amount\":1,\"to\":\"x\"} | {\"amount\":1,\"to\":\"x\"}       | 200",
        "members in another order| {\"amount\":1,\"to\":\"x\"} | {\"to\":\"x\",\"amount\":1}       | 200",
        "blanks                  | {\"amount\":1}              | { \"amount\" : 1 }                | 200",
        "1.0 equals 1            | {\"amount\":1}              | {\"amount\":1.0}                  | 200",
        "1e0 equals 1            | {\"amount\":1}              | {\"amount\":1e0}                  | 200",
        "an escape is its letter | {\"to\":\"x\"}              | {\"to\":\"\\u0078\"}              | 200",
        "order of inner members  | {\"a\":{\"x\":1,\"y\":2}}  | {\"a\":{\"y\":2.00,\"x\":1}}    | 200",
        "null is null            | {\"note\":null}             | {\"note\":null}                   | 200",
        "another amount          | {\"amount\":1}              | {\"amount\":2}                    | 422",
        "a hair more             | {\"amount\":0.1}            | {\"amount\":0.10000000000000001}  | 422",
        "large integers differ   | {\"n\":9007199254740992}    | {\"n\":9007199254740993}          | 422",
        "null is not absent      | {\"amount\":1}              | {\"amount\":1,\"note\":null}      | 422",
        "absent is not null      | {\"amount\":1,\"note\":null} | {\"amount\":1}                    | 422",
        "empty is not absent     | {\"amount\":1,\"items\":[]}  | {\"amount\":1}                    | 422",
        "inner null is not absent| {\"a\":{\"x\":null}}          | {\"a\":{}}                        | 422",
        "text is no number       | {\"amount\":1}              | {\"amount\":\"1\"}                | 422",
        "text is not rounded     | {\"amount\":\"1.0\"}          | {\"amount\":\"1.00\"}              | 422",
        "arrays are ordered      | {\"items\":[1,2]}           | {\"items\":[2,1]}                 | 422",
        "a member more           | {\"amount\":1}              | {\"amount\":1,\"x\":{}}           | 422",
        "another case            | {\"to\":\"x\"}              | {\"to\":\"X\"}                    | 422",
        "a member twice          | {\"amount\":1}              | {\"amount\":1,\"amount\":1}       | 400",
        "no JSON                 | {\"amount\":1}              | {\"amount\":NaN}                  | 400",
      })
  void theSecondRequestOfAKeyIsTheFirstOrIsRefused(
      String name, String first, String second, int status) {
    String key = "ietf-case-" + Integer.toHexString(name.hashCode()) + "-0001";
    Answer executed = agent.post("pay", quoted(key), first, "Prefer", WAIT);
    assertThat(executed.status()).as(executed.body().toString()).isEqualTo(200);
    assertThat(executed.text("state")).isEqualTo("SUCCEEDED");
    assertThat(executed.text("marker")).isEqualTo("EXECUTED");
    assertThat(executed.header("Idempotent-Replayed")).isEmpty();

    Answer again = agent.post("pay", key, second, "Prefer", WAIT);
    assertThat(again.status()).as(again.body().toString()).isEqualTo(status);
    assertThat(again.header("Idempotent-Replayed")).isEqualTo(status == 200 ? "true" : "");
    if (status == 200) {
      assertThat(again.body().get("result")).isEqualTo(executed.body().get("result"));
      assertThat(again.text("original_at")).isEqualTo(executed.text("original_at"));
      assertThat(again.text("marker")).isEqualTo("REPLAYED");
    } else {
      assertThat(again.header("Content-Type")).isEqualTo("application/problem+json");
      assertThat(again.text("type")).startsWith("urn:ichido:problem:");
      assertThat(again.body().has("result")).isFalse();
    }
    if (status == 422) {
      assertThat(again.text("code")).isEqualTo("FINGERPRINT_MISMATCH");
      assertThat(again.body().get("differing")).isNotEmpty();
    }
    assertThat(remote.effects("t1", key)).hasSize(1);
    // What was refused has not touched the record.
    assertThat(agent.post("pay", quoted(key), first, "Prefer", WAIT).status()).isEqualTo(200);
  }

  @Test
  @Tag("FR-42")
  void aKeyThatIsMissingMalformedTwiceOrOutsideTheGrammarIsRefused() {
    refused(agent.post("pay", "", "{}"), 400, "KEY_MISSING");
    refused(agent.post("pay", "\"open", "{}"), 400, "KEY_MALFORMED");
    refused(agent.post("pay", "a, b", "{}"), 400, "KEY_MALFORMED");
    refused(
        agent.post("pay", quoted("repeated-key-0001"), "{}", "Idempotency-Key", "\"another\""),
        400,
        "KEY_REPEATED");
    refused(agent.post("pay", quoted("short"), "{}"), 400, "OPERATION_ID_TOO_SHORT");
    String longest = "k".repeat(255);
    refused(agent.post("pay", quoted(longest + "k"), "{}"), 400, "OPERATION_ID_TOO_LONG");
    assertThat(pay(longest).status()).isEqualTo(200);
    String noise =
        new Random(7).ints(4_000, 'a', 'z').mapToObj(Character::toString).collect(joining());
    refused(agent.post("pay", quoted(noise), "{}"), 400, "OPERATION_ID_TOO_LONG");
    refused(agent.post("pay", quoted(noise + noise), "{}"), 400, "FIELD_MALFORMED");
    for (String path : List.of("/v1/operations/%00", "/v1/operations/a?scope=%00")) {
      refused(agent.get(path), 400, "FIELD_MALFORMED");
      refused(agent.delete(path), 400, "FIELD_MALFORMED");
    }
    refused(agent.post("pay", quoted("with a blank 0001"), "{}"), 400, "OPERATION_ID_CHARACTER");
    refused(agent.post("pay", quoted("12345678901234567"), "{}"), 400, "OPERATION_ID_GUESSABLE");
    assertThat(remote.book()).noneMatch(e -> e.operationId().startsWith("repeated"));
  }

  @Test
  void meaningIsActionTargetAndConditionAndNotTransport() {
    String key = "meaning-of-a-request-0001";
    String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assertThat(pay(key, "Ichido-Target", "acct-1", "If-Match", "\"v7\"").status()).isEqualTo(200);
    assertThat(remote.effects("t1", key))
        .containsExactly(new DoorRemote.Effect("t1", key, "\"v7\""));
    Answer replayed =
        pay(key, "Ichido-Target", "acct-1", "If-Match", "\"v7\"", "traceparent", trace);
    assertThat(replayed.header("Idempotent-Replayed")).isEqualTo("true");
    refused(pay(key, "Ichido-Target", "acct-2", "If-Match", "\"v7\""), 422, "FINGERPRINT_MISMATCH");
    refused(pay(key, "Ichido-Target", "acct-1", "If-Match", "\"v8\""), 422, "FINGERPRINT_MISMATCH");
    refused(
        agent.post("refuse", key, "{}", "Prefer", WAIT, "Ichido-Target", "acct-1"),
        422,
        "FINGERPRINT_MISMATCH");

    String generation = "meaning-of-a-request-0002";
    assertThat(pay(generation, "X-Goog-If-Generation-Match", "17").status()).isEqualTo(200);
    assertThat(remote.effects("t1", generation).getFirst().condition()).isEqualTo("17");
    refused(
        pay("meaning-of-a-request-0003", "X-Goog-If-Generation-Match", "1", "If-Match", "\"a\""),
        400,
        "FIELD_MALFORMED");
    Answer upper = pay("Meaning-of-a-request-0001", "Ichido-Target", "acct-1");
    assertThat(upper.text("marker")).as("keys are case-sensitive").isEqualTo("EXECUTED");
  }

  @Test
  @Tag("FR-01")
  @Tag("FR-11")
  void whoComesWhileItRunsIsToldWhenToAskOrAttaches() {
    String key = "slow-operation-0001";
    Answer accepted = agent.post("slow", key, "{}");
    assertThat(accepted.status()).isEqualTo(202);
    assertThat(accepted.header("Location")).isEqualTo("/v1/operations/" + key);
    assertThat(accepted.text("state")).isEqualTo("IN_PROGRESS");

    Answer busy = agent.post("slow", key, "{}");
    refused(busy, 409, "DUPLICATE_IN_PROGRESS");
    assertThat(busy.text("lease_until")).isNotEmpty();
    assertThat(Integer.parseInt(busy.header("Retry-After"))).isBetween(1, 5);
    assertThat(busy.body().get("retry").asBoolean()).isTrue();

    CompletableFuture<Answer> attached = agent.postAsync("slow", key, "{}", "Prefer", WAIT);
    await().atMost(LIMIT).until(() -> told(key) >= 3);
    remote.open();
    Answer settled = attached.join();
    assertThat(settled.status()).isEqualTo(200);
    assertThat(settled.header("Preference-Applied")).isEqualTo(WAIT);
    assertThat(remote.effects("t1", key)).hasSize(1);

    Answer shown = agent.get(accepted.header("Location"));
    assertThat(shown.text("state")).isEqualTo("SUCCEEDED");
    assertThat(shown.text("action")).isEqualTo("slow");
    assertThat(shown.body().at("/result/id").asText()).isEqualTo("t1-" + key + "-1");
    assertThat(shown.body().get("replies").findValuesAsText("verdict"))
        .startsWith("CLAIMED")
        .contains("DUPLICATE_IN_PROGRESS", "SETTLED");
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        agent
                            .get("/v1/operations/" + key)
                            .body()
                            .get("timeline")
                            .findValuesAsText("state"))
                    .startsWith("IN_PROGRESS")
                    .endsWith("SUCCEEDED"));
  }

  @Test
  @Tag("FR-14")
  void whatNobodyKnowsIsSaidAndInvitesNoRetry() {
    String key = "lost-operation-0001";
    Answer unknown = agent.post("lost", key, "{}", "Prefer", "wait=5");
    assertThat(unknown.status()).isEqualTo(202);
    assertThat(unknown.text("state")).isEqualTo("UNKNOWN_RECONCILIATION");
    assertThat(unknown.body().get("retry").asBoolean(true)).isFalse();
    assertThat(unknown.text("status_address")).isEqualTo("/v1/operations/" + key);
    assertThat(unknown.header("Retry-After")).isEmpty();

    Answer held = agent.post("lost", key, "{}");
    assertThat(held.status()).isEqualTo(202);
    assertThat(held.text("verdict")).isEqualTo("HELD_UNKNOWN");
    await()
        .atMost(LIMIT)
        .until(
            () ->
                agent
                    .get("/v1/operations?state=UNKNOWN_RECONCILIATION,EXPIRED")
                    .body()
                    .findValuesAsText("operation_id")
                    .contains(key));

    Answer cancelled = agent.delete("/v1/operations/" + key);
    assertThat(cancelled.status()).isEqualTo(202);
    assertThat(cancelled.text("state")).isEqualTo("UNKNOWN_RECONCILIATION");
    assertThat(remote.effects("t1", key)).hasSize(1);
  }

  @Test
  void aRefusalForGoodIsNoSuccessAndIsReplayed() {
    String key = "refused-operation-0001";
    Answer failed = agent.post("refuse", key, "{}", "Prefer", WAIT);
    refused(failed, 424, "FAILED_TERMINAL");
    assertThat(failed.body().at("/result/error").asText()).isEqualTo("account closed");
    assertThat(failed.body().get("retry").asBoolean(true)).isFalse();
    Answer again = agent.post("refuse", key, "{}", "Prefer", WAIT);
    refused(again, 424, "FAILED_TERMINAL");
    assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
    refused(agent.delete("/v1/operations/" + key), 409, "REPLAYED");
  }

  @Test
  void whatIsCancelledBeforeItWasAskedForNeverRuns() {
    String key = "cancelled-operation-0001";
    Answer cancelled = agent.delete("/v1/operations/" + key);
    assertThat(cancelled.status()).isEqualTo(200);
    assertThat(cancelled.text("state")).isEqualTo("CANCELLED");
    refused(pay(key), 410, "CANCELLED");
    assertThat(remote.effects("t1", key)).isEmpty();
  }

  @Test
  @Tag("FR-16")
  void aReadNeedsNoKeyAndIsNotRemembered() {
    Answer read = agent.post("look", "", "{}");
    assertThat(read.status()).as(read.body().toString()).isEqualTo(200);
    assertThat(read.body().at("/result/balance").asInt()).isEqualTo(17);
    Answer terms = agent.get("/v1/actions/look");
    assertThat(terms.text("effect")).isEqualTo("read");
    assertThat(terms.body().get("key_required").asBoolean(true)).isFalse();
    JsonNode expiry = agent.get("/v1/actions/slow").body();
    assertThat(expiry.get("lease_seconds").asInt()).isEqualTo(120);
    assertThat(expiry.get("retention_seconds").asLong()).isPositive();
    refused(agent.get("/v1/actions/none"), 404, "ACTION_UNKNOWN");
    refused(agent.post("none", "no-such-action-0001", "{}"), 404, "ACTION_UNKNOWN");
  }

  @Test
  @Tag("FR-44")
  void anotherPrincipalLearnsNothingAndAnotherTenantHasItsOwn() {
    String key = "bound-operation-0001";
    assertThat(pay(key).status()).isEqualTo(200);
    refused(colleague.get("/v1/operations/" + key), 404, "OPERATION_UNKNOWN");
    Answer denied = colleague.post("pay", key, "{}", "Prefer", WAIT);
    refused(denied, 403, "UNAUTHORIZED");
    assertThat(denied.body().has("state") || denied.body().has("result")).isFalse();
    Answer own = colleague.get("/v1/operations/" + key);
    assertThat(own.body().get("state").isNull()).isTrue();
    assertThat(own.body().has("result")).isFalse();
    assertThat(colleague.get("/v1/operations").body().findValuesAsText("operation_id"))
        .doesNotContain(key);

    Answer others = stranger.post("pay", key, "{\"amount\":5}", "Prefer", WAIT);
    assertThat(others.text("marker")).isEqualTo("EXECUTED");
    assertThat(remote.effects("t1", key)).hasSize(1);
    assertThat(remote.effects("t2", key)).hasSize(1);
  }

  /** A reply under an operation's id need not tell of that operation. */
  @Test
  @Tag("FR-44")
  void whoWasToldOfNoOperationIsShownNone() throws SQLException {
    String key = "told-of-no-operation-0001";
    refused(
        colleague.post(
            "pay", key, "{}", "Prefer", WAIT, "Ichido-Issued-At", "2001-01-01T00:00:00Z"),
        410,
        "LATE_REPLAY");
    assertThat(pay(key).status()).isEqualTo(200);
    Answer read = colleague.post("look", key, "{}");
    assertThat(read.body().at("/result/balance").asInt()).isEqualTo(17);
    hidden(colleague.get("/v1/operations/" + key));

    sql("update ichido.inbox_operation set conflict = true where operation_id = '" + key + "'");
    refused(colleague.post("pay", key, "{}", "Prefer", WAIT), 403, "UNAUTHORIZED");
    assertThat(colleague.post("look", key, "{}").body().at("/result/balance").asInt())
        .as("another's conflict takes nothing away")
        .isEqualTo(17);
    hidden(colleague.get("/v1/operations/" + key));
    assertThat(pay(key).body().get("conflict").asBoolean()).isTrue();
  }

  private static void hidden(Answer shown) {
    assertThat(shown.body().get("state").isNull()).as(shown.body().toString()).isTrue();
    assertThat(shown.body().get("timeline")).isEmpty();
    assertThat(List.of("result", "remote_reference", "revision", "conflict"))
        .noneMatch(shown.body()::has);
  }

  @Test
  void whoMayShareAnOperationIsShownIt() {
    String key = "shared-operation-0001";
    assertThat(agent.post("shared", key, "{}", "Prefer", WAIT).status()).isEqualTo(200);
    refused(colleague.get("/v1/operations/" + key), 404, "OPERATION_UNKNOWN");
    Answer told = colleague.post("shared", key, "{}", "Prefer", WAIT);
    assertThat(told.text("marker")).isEqualTo("REPLAYED");
    Answer shown = colleague.get("/v1/operations/" + key);
    assertThat(shown.text("state")).isEqualTo("SUCCEEDED");
    assertThat(shown.body().get("result")).isEqualTo(told.body().get("result"));
    assertThat(remote.effects("t1", key)).hasSize(1);
  }

  @Test
  void aCompensationThatCannotBeginYetIsAskedForAgain() {
    String original = "undone-operation-0001";
    String key = "undoing-operation-0001";
    Answer later = pay(key, "Ichido-Compensates", original);
    refused(later, 409, "ORIGINAL_ABSENT");
    assertThat(later.body().get("retry").asBoolean()).isTrue();
    assertThat(later.header("Retry-After")).isNotEmpty();
    assertThat(agent.get("/v1/operations/" + key).body().get("retry").asBoolean()).isTrue();
    assertThat(remote.effects("t1", key)).isEmpty();

    assertThat(pay(original).status()).isEqualTo(200);
    assertThat(pay(key, "Ichido-Compensates", original).status()).isEqualTo(200);
    assertThat(agent.get("/v1/operations/" + key).body().get("retry").asBoolean(true)).isFalse();
    assertThat(remote.effects("t1", key)).hasSize(1);
  }

  /** Neither has taken effect: one waits to be sent again, for the other only a person helps. */
  @Test
  void whoAsksOfAProvenFailureIsToldWhetherToSendItAgain() {
    String asked = "begins-when-asked-0001";
    String stuck = "stuck-operation-00001";
    assertThat(agent.post("asked", asked, "{}").status()).isEqualTo(202);
    assertThat(agent.post("stuck", stuck, "{}").status()).isEqualTo(202);
    Answer due = awaitFailed(asked, true);
    assertThat(due.text("retry_at")).isNotEmpty();
    Answer over = awaitFailed(stuck, false);
    assertThat(over.body().has("retry_at")).as("no attempt is due").isFalse();
    assertThat(agent.get("/v1/operations?state=FAILED_RETRYABLE").body().get("operations"))
        .hasSize(2)
        .allSatisfy(
            it ->
                assertThat(it.has("retry_at"))
                    .isEqualTo(it.get("operation_id").asText().equals(asked)));
  }

  /** As reply and journal tell it, both of which have arrived. */
  private static Answer awaitFailed(String key, boolean retry) {
    return await()
        .atMost(LIMIT)
        .until(
            () -> agent.get("/v1/operations/" + key),
            it ->
                it.body().get("timeline").findValuesAsText("state").contains("FAILED_RETRYABLE")
                    && it.body().get("retry").asBoolean() == retry
                    && it.body().has("retry_at") == retry);
  }

  /** The door is a process of its own here. One in five is cut off before, and is back. */
  @Test
  @Tag("FR-14")
  void whoWaitedAtADoorThatIsKilledFindsTheSameOperationAtTheNext() throws Exception {
    int port = freePort();
    String file = configOfADoor(port).toString();
    DoorClient client =
        DoorClient.of("http://127.0.0.1:" + port, temp.resolve("data"), "t1", "agent:a");
    List<CompletableFuture<Answer>> callers;
    try (Launched door = Launched.start(temp, "gateway", "--config", file)) {
      door.awaitErr("gateway is ready");
      List<Socket> gone =
          IntStream.range(0, WAITING / 5).mapToObj(i -> ask(port, client.token(), i)).toList();
      await().atMost(LIMIT).until(() -> claimed() == gone.size());
      for (Socket socket : gone) {
        socket.close();
      }
      callers = IntStream.range(0, WAITING).mapToObj(i -> insist(client, i)).toList();
      await().atMost(LIMIT).until(() -> claimed() == WAITING);
      door.kill();
    }
    try (Launched door = Launched.start(temp, "gateway", "--config", file)) {
      door.awaitErr("gateway is ready");
      remote.release();
      for (int i = 0; i < WAITING; i++) {
        assertThat(callers.get(i)).succeedsWithin(LIMIT);
        Answer answer = callers.get(i).join();
        assertThat(answer.status()).as(answer.body().toString()).isEqualTo(200);
        assertThat(answer.body().at("/result/id").asText()).isEqualTo("t1-" + held(i) + "-1");
        assertThat(remote.effects("t1", held(i))).hasSize(1);
      }
    }
  }

  @Test
  void noCredentialNoAnswer() {
    String url = stack.endpoints().gatewayUrl();
    Answer none = new DoorClient(url, "").get("/v1/operations");
    refused(none, 401, "UNAUTHENTICATED");
    assertThat(none.header("WWW-Authenticate")).startsWith("Bearer");
    refused(new DoorClient(url, "wrong").get("/v1/operations"), 401, "UNAUTHENTICATED");
    assertThat(new DoorClient(url, "").get("/openapi.json").status()).isEqualTo(200);
    refused(agent.get("/v1/elsewhere"), 404, "ROUTE_UNKNOWN");
    refused(agent.delete("/v1/actions/pay"), 405, "METHOD_UNKNOWN");
  }

  @Test
  @Tag("FR-27")
  void theIssueTimeIsThatOfTheFirstRequest() throws Exception {
    String key = "issue-time-operation-0001";
    assertThat(pay(key).status()).isEqualTo(200);
    String later = "2999-01-01T00:00:00Z";
    assertThat(pay(key, "Ichido-Issued-At", later).header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(issueTimes(key)).hasSize(1);

    refused(pay("issue-time-operation-0002", "Ichido-Issued-At", later), 400, "CLOCK_SKEW");
    assertThat(pay("issue-time-operation-0002").status()).as("corrected").isEqualTo(200);

    refused(
        pay("issue-time-operation-0003", "Ichido-Issued-At", "2001-01-01T00:00:00Z"),
        410,
        "LATE_REPLAY");
    // A key of the year 2001 that carries its time.
    refused(pay("00e4e1c1-2c00-7abc-8def-0123456789ab"), 410, "LATE_REPLAY");
    for (String none : List.of("soon", "+300000-01-01T00:00:00Z", "1969-12-31T23:59:59Z")) {
      refused(pay("issue-time-operation-0004", "Ichido-Issued-At", none), 400, "FIELD_MALFORMED");
    }
    assertThat(pay("issue-time-operation-0004").status()).as("corrected").isEqualTo(200);
  }

  @Test
  void whatIsTooLargeNotJsonOrNotUtf8IsRefusedAtTheDoor() {
    String key = "refused-at-the-door-0001";
    refused(
        agent.post("pay", key, "{\"x\":\"" + "a".repeat(1_100_000) + "\"}"), 413, "BODY_TOO_LARGE");
    refused(
        agent
            .send(
                "POST",
                "/v1/actions/pay",
                BodyPublishers.ofString("a=1"),
                "Content-Type",
                "application/x-www-form-urlencoded",
                "Idempotency-Key",
                key)
            .join(),
        415,
        "MEDIA_TYPE");
    refused(
        agent
            .send(
                "POST",
                "/v1/actions/pay",
                BodyPublishers.ofByteArray(new byte[] {'"', (byte) 0xc3, '"'}),
                "Content-Type",
                "application/json",
                "Idempotency-Key",
                key)
            .join(),
        400,
        "BODY_NOT_UTF8");
    refused(agent.get("/v1/operations/" + key), 404, "OPERATION_UNKNOWN");
  }

  @Test
  void aRelayThatIsTooFarBehindRefusesBeforeAnythingIsWritten() throws Exception {
    String key = "back-pressure-operation-0001";
    sql("update ichido.relay_slot set refuse_above_bytes = 1");
    try {
      Answer refused =
          await()
              .atMost(LIMIT)
              .until(
                  () -> agent.post("pay", key, "{}", "Prefer", "respond-async"),
                  answer -> answer.status() == 503);
      refused(refused, 503, "OUTBOX_BEHIND");
      assertThat(refused.header("Retry-After")).isNotEmpty();
    } finally {
      sql("update ichido.relay_slot set refuse_above_bytes = null");
    }
    Answer accepted = agent.post("pay", key, "{}", "Prefer", "respond-async");
    assertThat(accepted.status()).isEqualTo(202);
    assertThat(accepted.body().has("verdict")).isFalse();
    await()
        .atMost(LIMIT)
        .until(() -> agent.get(accepted.header("Location")).text("state").equals("SUCCEEDED"));
    assertThat(remote.effects("t1", key)).hasSize(1);
  }

  @Test
  void operationsAreListedInPages() {
    for (int i = 0; i < 5; i++) {
      stranger.post("pay", "page-operation-000" + i, "{}", "Prefer", WAIT);
    }
    List<String> all =
        await()
            .atMost(LIMIT)
            .until(
                () ->
                    stranger
                        .get("/v1/operations?state=SUCCEEDED")
                        .body()
                        .findValuesAsText("operation_id"),
                ids -> ids.stream().filter(id -> id.startsWith("page-operation")).count() == 5);
    Answer first = stranger.get("/v1/operations?state=SUCCEEDED&limit=2");
    assertThat(first.body().get("operations")).hasSize(2);
    List<String> paged = new ArrayList<>();
    Answer page = first;
    while (true) {
      paged.addAll(page.body().findValuesAsText("operation_id"));
      if (!page.body().has("next")) {
        break;
      }
      page = stranger.get("/v1/operations?state=SUCCEEDED&limit=2&after=" + page.text("next"));
    }
    assertThat(paged).isEqualTo(all).hasSizeGreaterThanOrEqualTo(5).doesNotHaveDuplicates();
    assertThat(stranger.get("/v1/operations?state=EXPIRED").body().get("operations")).isEmpty();
    refused(stranger.get("/v1/operations?limit=many"), 400, "FIELD_MALFORMED");
    refused(stranger.get("/v1/operations?after=nowhere"), 400, "FIELD_MALFORMED");
  }

  @Test
  void aResultThatIsTooLargeForARecordIsToldWholeToWhoMaySeeIt() {
    String key = "large-result-0001";
    for (int i = 0; i < 2; i++) {
      Answer told = agent.post("large", key, "{}", "Prefer", WAIT);
      assertThat(told.status()).isEqualTo(200);
      assertThat(told.body().at("/result/text").asText()).isEqualTo(DoorRemote.LARGE);
      assertThat(told.body().has("result_handle")).isFalse();
    }
    assertThat(agent.get("/v1/operations/" + key).body().at("/result/text").asText())
        .isEqualTo(DoorRemote.LARGE);
    refused(colleague.get("/v1/operations/" + key), 404, "OPERATION_UNKNOWN");
    assertThat(agent.post("look-at-all", "", "{}").body().at("/result/text").asText())
        .isEqualTo(DoorRemote.LARGE);
    Answer bytes = agent.post("bytes", "bytes-result-0001", "{}", "Prefer", WAIT);
    assertThat(bytes.body().has("result")).isFalse();
    assertThat(bytes.body().at("/result_handle/sha256").asText()).hasSize(64);
    assertThat(remote.effects("t1", key)).hasSize(1);
  }

  @Test
  void repliesAreStreamedAndAStreamGoesOnWhereItBroke() throws Exception {
    String first = streamed("", "pay", "streamed-operation-0001");
    String id = first.lines().filter(l -> l.startsWith("id: ")).reduce((a, b) -> b).orElseThrow();
    assertThat(first).contains("event: reply", "\"verdict\":\"SETTLED\"");
    String second = streamed(id.substring(4), "wrapped", "streamed-operation-0002");
    assertThat(second)
        .contains("streamed-operation-0002")
        .doesNotContain("streamed-operation-0001");
    // A reader of events joins the lines of one again.
    String last = second.substring(second.lastIndexOf("event: reply\n"));
    JsonNode told =
        new JsonMapper()
            .readTree(
                last.lines()
                    .filter(l -> l.startsWith("data: "))
                    .map(l -> l.substring("data: ".length()))
                    .collect(joining("\n")));
    assertThat(last.lines().skip(1)).allMatch(l -> l.startsWith("data: "));
    assertThat(told.at("/result/n").asInt()).isEqualTo(1);
  }

  @Test
  void theDocumentThatIsServedIsTheOneInTheDocs() throws IOException {
    assertThat(agent.get("/openapi.json").response().body() + "\n")
        .isEqualTo(Files.readString(Path.of("..", "..", "topology-docs", "openapi.json")));
  }

  /** Types from the served document, checked by TypeScript; npm has to be in reach. */
  @Test
  void aClientOfAnotherLanguageIsMadeOfTheDocument() throws Exception {
    Path project = temp.resolve("node");
    Files.createDirectories(project);
    for (String file : List.of("package.json", "package-lock.json", "tsconfig.json", "client.ts")) {
      Files.copy(Path.of("src", "test", "node", file), project.resolve(file));
    }
    Files.writeString(
        project.resolve("openapi.json"), agent.get("/openapi.json").response().body());
    Ended installed = npm(project, "npm", "ci", "--no-audit", "--no-fund");
    assumeTrue(installed.code() == 0, "npm is not in reach: " + installed.out());
    succeeded(npm(project, "npm", "run", "generate"));
    succeeded(npm(project, "npm", "run", "check"));
    String key = "generated-client-0001";
    Ended ran =
        npm(project, "node", "out/client.js", stack.endpoints().gatewayUrl(), agent.token(), key);
    succeeded(ran);
    JsonNode told = new JsonMapper().readTree(ran.out());
    assertThat(told.at("/executed/status").asInt()).isEqualTo(200);
    assertThat(told.at("/executed/replayed").isNull()).isTrue();
    assertThat(told.at("/replayed/replayed").asText()).isEqualTo("true");
    assertThat(told.at("/replayed/result")).isEqualTo(told.at("/executed/result"));
    assertThat(told.at("/refused/status").asInt()).isEqualTo(422);
    assertThat(told.at("/refused/differing")).isNotEmpty();
    assertThat(told.at("/malformed/code").asText()).isEqualTo("KEY_MALFORMED");
    assertThat(told.at("/state").asText()).isEqualTo("SUCCEEDED");
    assertThat(told.get("verdicts")).hasSizeGreaterThan(3);
    assertThat(told.get("listed").asBoolean()).isTrue();
    assertThat(told.get("retention").asLong()).isPositive();
    assertThat(remote.effects("t1", key)).hasSize(1);
  }

  private static String held(int i) {
    return "waits-for-its-result-" + i;
  }

  /** Asks until it is answered, and always with the same key. */
  private static CompletableFuture<Answer> insist(DoorClient client, int i) {
    return CompletableFuture.supplyAsync(
        () -> {
          while (true) {
            Optional<Answer> answer =
                client
                    .postAsync("held", held(i), "{\"i\":" + i + "}", "Prefer", "wait=100")
                    .handle((told, connectionLost) -> Optional.ofNullable(told))
                    .join();
            if (answer.isPresent() && answer.get().header("Retry-After").isEmpty()) {
              return answer.get();
            }
            LockSupport.parkNanos(RETRY.toNanos());
          }
        },
        task -> Thread.ofVirtual().start(task));
  }

  /** A client that need not stay. */
  private static Socket ask(int port, String token, int i) {
    String body = "{\"i\":" + i + "}";
    String request =
        """
        POST /v1/actions/held HTTP/1.1
        Host: localhost
        Authorization: Bearer %s
        Idempotency-Key: "%s"
        Prefer: wait=100
        Content-Type: application/json
        Content-Length: %d

        %s"""
            .formatted(token, held(i), body.length(), body)
            .replace("\n", "\r\n");
    try {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoLinger(true, 0);
      socket.getOutputStream().write(request.getBytes(UTF_8));
      return socket;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int claimed() throws SQLException {
    try (Connection connection = stack.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "select count(*) from ichido.inbox_reply"
                    + " where verdict = 'CLAIMED' and operation_id like 'waits-for-its-result-%'")) {
      row.next();
      return row.getInt(1);
    }
  }

  private static Path configOfADoor(int port) throws IOException {
    Path data = temp.resolve("data");
    String database =
        "url: '%s', user: '%s', password: '${file:%s}'"
            .formatted(
                stack.endpoints().databaseUrl(),
                stack.endpoints().databaseUser(),
                data.resolve("postgres/password"));
    return Files.writeString(
        temp.resolve("door.yaml"),
        """
        outbox: { %s }
        inbox: { database: { %s } }
        gateway: { port: %d, tokens: '%s' }
        """
                .formatted(database, database, port, data.resolve(DevelopmentTokens.FILE))
            + remote.config());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private record Ended(int code, String out) {}

  private static void succeeded(Ended ended) {
    assertThat(ended.code()).as(ended.out()).isZero();
  }

  private static Ended npm(Path folder, String... command) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
      String out = new String(process.getInputStream().readAllBytes(), UTF_8);
      return new Ended(process.waitFor(), out);
    } catch (IOException e) {
      return new Ended(127, e.toString());
    }
  }

  /** Lines of a stream until the operation's last reply. */
  private static String streamed(String after, String action, String key) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(stack.endpoints().gatewayUrl() + "/v1/replies"))
            .header("Authorization", "Bearer " + agent.token());
    if (!after.isEmpty()) {
      request.header("Last-Event-ID", after);
    }
    try (HttpClient http = HttpClient.newHttpClient()) {
      var response = http.send(request.build(), BodyHandlers.ofInputStream());
      assertThat(response.headers().firstValue("Content-Type")).contains("text/event-stream");
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(response.body(), UTF_8))) {
        // The first line says that the stream is open.
        lines.readLine();
        assertThat(agent.post(action, key, "{}", "Prefer", WAIT).status()).isEqualTo(200);
        StringBuilder text = new StringBuilder();
        while (true) {
          String line = lines.readLine();
          text.append(line).append('\n');
          if (line == null || (text.indexOf(key) >= 0 && line.contains("\"final\":true"))) {
            return text.toString();
          }
        }
      }
    }
  }

  private static Answer pay(String key, String... fields) {
    List<String> all = new ArrayList<>(List.of("Prefer", WAIT));
    all.addAll(List.of(fields));
    return agent.post("pay", quoted(key), "{}", all.toArray(String[]::new));
  }

  private static String quoted(String key) {
    return '"' + key + '"';
  }

  private static void refused(Answer answer, int status, String code) {
    assertThat(answer.status()).as(answer.body().toString()).isEqualTo(status);
    assertThat(answer.text("code")).isEqualTo(code);
    assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    assertThat(answer.body().get("status").asInt()).isEqualTo(status);
    assertThat(answer.text("title")).isNotEmpty();
  }

  private static int told(String key) {
    return agent.get("/v1/operations/" + key).body().get("replies").size();
  }

  private static List<Long> issueTimes(String key) throws SQLException {
    List<Long> times = new ArrayList<>();
    try (Connection connection = stack.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "select distinct issued_at from ichido.outbox where aggregateid = '" + key + "'")) {
      while (rows.next()) {
        times.add(rows.getLong(1));
      }
    }
    return times;
  }

  private static void sql(String text) throws SQLException {
    try (Connection connection = stack.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(text);
    }
  }
}
