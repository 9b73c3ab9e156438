package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.remotes.Raw.Reply;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contracts of the kinds but Stripe's, case by case. */
final class KindContractTest {
  private static final String ID = "8e03978e-40d5-43e8-bc93-6894a57f9324";
  private static final String BODY = "{\"amount\":1}";
  private static final String OTHER = "{\"amount\":2}";

  @TempDir Path folder;
  private @Nullable RemoteServer running;

  @AfterEach
  void stop() {
    if (running != null) {
      running.close();
    }
  }

  private RemoteServer start(RemoteKind kind) {
    RemoteServer server =
        RemoteServer.start(
            RemoteConfig.of(kind, folder.resolve("book")).withClock(FixedClock.clock()));
    running = server;
    return server;
  }

  private RemoteServer restart(RemoteServer server) {
    server.close();
    return start(server.kind());
  }

  private static Reply post(RemoteServer server, String target, String body, String... headers)
      throws IOException {
    List<String> all = new ArrayList<>(List.of("X-Business-Key", "b1"));
    all.addAll(Arrays.asList(headers));
    return Raw.call(server, "POST", target, body, all.toArray(String[]::new));
  }

  private static CompletableFuture<Reply> held(
      RemoteServer server, String target, String body, String... headers) throws Exception {
    server.faults().add(FaultKind.HOLD_BEFORE_COMMIT);
    CompletableFuture<Reply> reply =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return post(server, target, body, headers);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    assertThat(server.faults().awaitHeld(1, Duration.ofSeconds(20))).isTrue();
    return reply;
  }

  private static String quoted(String key) {
    return "\"" + key + "\"";
  }

  // IETF

  @Test
  void ietfRepeatsTheFirstAnswerWhateverItWas() throws Exception {
    RemoteServer server = start(RemoteKind.IETF);
    Reply first = post(server, "/payments", BODY, "Idempotency-Key", quoted("k1"));
    Reply again = post(server, "/payments", BODY, "Idempotency-Key", quoted("k1"));
    assertThat(first.status()).isEqualTo(201);
    assertThat(again.status()).isEqualTo(201);
    assertThat(again.body()).isEqualTo(first.body());

    server.faults().add(FaultKind.REFUSAL);
    assertThat(post(server, "/payments", BODY, "Idempotency-Key", quoted("k2")).status())
        .isEqualTo(402);
    RemoteServer restarted = restart(server);
    assertThat(post(restarted, "/payments", BODY, "Idempotency-Key", quoted("k2")).status())
        .isEqualTo(402);
    assertThat(post(restarted, "/payments", BODY, "Idempotency-Key", quoted("k1")).body())
        .isEqualTo(first.body());
    assertThat(restarted.book().effects()).hasSize(1);
    assertThat(restarted.book().effects().getFirst().downstreamKey()).isEqualTo("k1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"k1", "\"k1", "\"\"", "\"k\u00e9\"", "\"a\"b\"", "\"k1\";p=1", "'k1'"})
  void ietfRefusesAMalformedKey(String value) throws Exception {
    RemoteServer server = start(RemoteKind.IETF);
    Reply reply = post(server, "/payments", BODY, "Idempotency-Key", value);
    assertProblem(reply, 400, "Idempotency-Key is malformed");
    assertThat(server.book().effects()).isEmpty();
  }

  @Test
  void ietfRefusesAMissingOrRepeatedKey() throws Exception {
    RemoteServer server = start(RemoteKind.IETF);
    assertProblem(post(server, "/payments", BODY), 400, "Idempotency-Key is missing");
    assertProblem(
        post(server, "/payments", BODY, "Idempotency-Key", "\"a\"", "Idempotency-Key", "\"a\""),
        400,
        "Idempotency-Key is malformed");
    assertThat(server.book().effects()).isEmpty();
  }

  @Test
  void ietfTakesEscapesInAKey() throws Exception {
    RemoteServer server = start(RemoteKind.IETF);
    assertThat(post(server, "/payments", BODY, "Idempotency-Key", "\"a\\\"b\\\\c\"").status())
        .isEqualTo(201);
    assertThat(server.book().effects().getFirst().downstreamKey()).isEqualTo("a\"b\\c");
  }

  @Test
  void ietfTellsInFlightFromOtherPayload() throws Exception {
    RemoteServer server = start(RemoteKind.IETF);
    CompletableFuture<Reply> first =
        held(server, "/payments", BODY, "Idempotency-Key", quoted("k1"));
    assertProblem(
        post(server, "/payments", BODY, "Idempotency-Key", quoted("k1")),
        409,
        "A request is outstanding for this Idempotency-Key");
    for (String target : List.of("/payments", "/refunds")) {
      assertProblem(
          post(
              server,
              target,
              target.equals("/refunds") ? BODY : OTHER,
              "Idempotency-Key",
              quoted("k1")),
          422,
          "Idempotency-Key is already used");
    }
    server.faults().release();
    assertThat(first.get().status()).isEqualTo(201);
    assertProblem(
        post(server, "/payments", OTHER, "Idempotency-Key", quoted("k1")),
        422,
        "Idempotency-Key is already used");
    assertThat(server.book().effects()).hasSize(1);
  }

  private static void assertProblem(Reply reply, int status, String title) {
    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.header("Content-Type")).isEqualTo("application/problem+json");
    assertThat(reply.json().path("title").asText()).isEqualTo(title);
    assertThat(reply.json().path("status").asInt()).isEqualTo(status);
    assertThat(reply.json().path("type").asText()).startsWith("https://");
  }

  // EC2

  private static Reply run(RemoteServer server, String region, String parameters)
      throws IOException {
    return post(
        server,
        "/" + region + "/",
        "Action=RunInstances&" + parameters,
        "Content-Type",
        "application/x-www-form-urlencoded");
  }

  @Test
  void ec2TokenHasOneEffectPerRegion() throws Exception {
    RemoteServer server = start(RemoteKind.EC2);
    for (int i = 0; i < 2; i++) {
      assertThat(run(server, "us-east-1", "ClientToken=t1&ImageId=a").status()).isEqualTo(200);
      assertThat(run(server, "eu-central-1", "ClientToken=t1&ImageId=a").status()).isEqualTo(200);
    }
    assertThat(server.book().effects())
        .extracting(Effect::scope)
        .containsExactly("us-east-1", "eu-central-1");
    assertThat(server.book().countByKey()).containsOnlyKeys("us-east-1/b1", "eu-central-1/b1");
    assertThat(server.book().duplicates()).isEmpty();

    String describe = "?Action=DescribeInstances&Filter.1.Name=client-token&Filter.1.Value.1=t1";
    for (String region : List.of("us-east-1", "eu-central-1")) {
      Reply found = Raw.get(server, "/" + region + "/" + describe, "Accept", "application/json");
      assertThat(found.json().at("/DescribeInstancesResponse/instancesSet")).hasSize(1);
    }
    Reply none = Raw.get(server, "/ap-east-1/" + describe, "Accept", "application/json");
    assertThat(none.status()).isEqualTo(200);
    assertThat(none.json().at("/DescribeInstancesResponse/instancesSet")).isEmpty();
  }

  @Test
  void ec2RegionIsTakenFromTheHostNameToo() throws Exception {
    RemoteServer server = start(RemoteKind.EC2);
    try (Raw raw = new Raw(server)) {
      raw.socket()
          .getOutputStream()
          .write(
              String.join(
                      "\r\n",
                      "GET /?Action=RunInstances&ClientToken=t1 HTTP/1.1",
                      "Host: ec2.eu-west-1.amazonaws.com",
                      "X-Business-Key: b1",
                      "",
                      "")
                  .getBytes(ISO_8859_1));
      assertThat(raw.receive().status()).isEqualTo(200);
    }
    assertThat(server.book().effects()).extracting(Effect::scope).containsExactly("eu-west-1");
  }

  @Test
  void ec2OtherParametersAreAMismatch() throws Exception {
    RemoteServer server = start(RemoteKind.EC2);
    Reply first = run(server, "us-east-1", "ClientToken=t1&ImageId=a");
    Reply other = run(server, "us-east-1", "ClientToken=t1&ImageId=b");
    assertThat(other.status()).isEqualTo(400);
    assertThat(other.header("Content-Type")).startsWith("text/xml");
    assertThat(other.body()).contains("<Code>IdempotentParameterMismatch</Code>");
    Reply again = run(restart(server), "us-east-1", "ClientToken=t1&ImageId=a");
    assertThat(again.body()).isEqualTo(first.body()).contains("<instanceId>i-0");
  }

  @ParameterizedTest
  @CsvSource({"64, 200, 1", "65, 400, 0"})
  void ec2TokenHasAtMost64Characters(int length, int status, int effects) throws Exception {
    RemoteServer server = start(RemoteKind.EC2);
    assertThat(run(server, "us-east-1", "ClientToken=" + "t".repeat(length)).status())
        .isEqualTo(status);
    assertThat(server.book().effects()).hasSize(effects);
  }

  @Test
  void ec2TokenIsAsciiCaseSensitiveAndOptional() throws Exception {
    RemoteServer server = start(RemoteKind.EC2);
    assertThat(run(server, "us-east-1", "ClientToken=%C3%A9").status()).isEqualTo(400);
    run(server, "us-east-1", "ClientToken=t1");
    run(server, "us-east-1", "ClientToken=T1");
    run(server, "us-east-1", "ImageId=a");
    run(server, "us-east-1", "ImageId=a");
    assertThat(server.book().effects()).hasSize(4);
  }

  @Test
  void ec2FailureIsNotRememberedAndAnEffectIs() throws Exception {
    RemoteServer server = start(RemoteKind.EC2);
    server.faults().add(FaultKind.ERROR_BEFORE_COMMIT, FaultKind.ERROR_AFTER_COMMIT);
    assertThat(run(server, "us-east-1", "ClientToken=t1").status()).isEqualTo(500);
    assertThat(run(server, "us-east-1", "ClientToken=t1").status()).isEqualTo(500);
    Reply last = run(server, "us-east-1", "ClientToken=t1");
    assertThat(last.status()).isEqualTo(200);
    assertThat(last.body()).contains(server.book().effects().getFirst().reference());
    assertThat(server.book().effects()).hasSize(1);
  }

  @Test
  void ec2SecondOfTwoConcurrentWaitsForTheFirst() throws Exception {
    RemoteServer server = start(RemoteKind.EC2);
    CompletableFuture<Reply> first =
        held(server, "/us-east-1/", "{\"Action\":\"RunInstances\",\"ClientToken\":\"t1\"}");
    CompletableFuture<Reply> second =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return post(
                    server, "/us-east-1/", "{\"Action\":\"RunInstances\",\"ClientToken\":\"t1\"}");
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    server.faults().release();
    assertThat(second.get().body()).isEqualTo(first.get().body());
    assertThat(server.book().effects()).hasSize(1);
  }

  // Google Cloud

  @Test
  void gcloudSecondRequestWithOneIdIsIgnoredWhateverItSays() throws Exception {
    RemoteServer server = start(RemoteKind.GCLOUD);
    String target = "/compute/v1/projects/p/zones/z/instances?requestId=" + ID;
    Reply first = post(server, target, BODY);
    Reply second = post(server, target, OTHER);
    assertThat(first.json().path("kind").asText()).isEqualTo("compute#operation");
    assertThat(first.json().path("targetId").asText())
        .isEqualTo(server.book().effects().getFirst().reference());
    assertThat(second.body()).isEqualTo(first.body());
    server.clock().advance(Duration.ofMinutes(60).minusNanos(1));
    assertThat(post(server, target, BODY).body()).isEqualTo(first.body());
    server.clock().advance(Duration.ofNanos(1));
    assertThat(post(server, target, BODY).body()).isNotEqualTo(first.body());
    assertThat(server.book().duplicates()).containsEntry("b1", 2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"k1", "00000000-0000-0000-0000-000000000000", "8e03978e40d543e8bc936894a57f9324"})
  void gcloudRequestIdIsAUuidAndNotZero(String id) throws Exception {
    RemoteServer server = start(RemoteKind.GCLOUD);
    Reply reply = post(server, "/compute/v1/projects/p/zones/z/instances?requestId=" + id, BODY);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(server.book().effects()).isEmpty();
  }

  @Test
  void gcloudGenerationPreconditionHoldsOnce() throws Exception {
    RemoteServer server = start(RemoteKind.GCLOUD);
    String create = "/upload/storage/v1/b/bucket/o?name=a&ifGenerationMatch=0";
    Reply created = post(server, create, BODY);
    assertThat(created.status()).isEqualTo(200);
    assertThat(created.json().path("generation").asText()).isEqualTo("1");
    Reply again = post(server, create, BODY);
    assertThat(again.status()).isEqualTo(412);
    assertThat(again.json().at("/error/errors/0/reason").asText()).isEqualTo("conditionNotMet");

    for (int status : new int[] {200, 412}) {
      Reply put =
          Raw.call(
              server,
              "PUT",
              "/bucket/a",
              BODY,
              "x-goog-if-generation-match",
              "1",
              "X-Business-Key",
              "b2");
      assertThat(put.status()).isEqualTo(status);
    }
    assertThat(server.book().countByKey()).containsEntry("b1", 1).containsEntry("b2", 1);
    Reply read = Raw.get(restart(server), "/storage/v1/b/bucket/o/a");
    assertThat(read.json().path("generation").asText()).isEqualTo("2");
    RemoteServer now = Objects.requireNonNull(running);
    assertThat(Raw.get(now, "/bucket/a").header("x-goog-generation")).isEqualTo("2");
    assertThat(Raw.get(now, "/storage/v1/b/bucket/o/none").status()).isEqualTo(404);
  }

  @Test
  void gcloudWriteWithoutAConditionIsDoubled() throws Exception {
    RemoteServer server = start(RemoteKind.GCLOUD);
    for (int i = 0; i < 2; i++) {
      post(server, "/upload/storage/v1/b/bucket/o?name=a", BODY);
    }
    assertThat(server.book().duplicates()).containsEntry("b1", 2);
  }

  // Azure

  private static String date(Instant instant) {
    return DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
        .format(instant.atOffset(ZoneOffset.UTC));
  }

  private static Reply repeatable(RemoteServer server, String id, String firstSent, String body)
      throws IOException {
    return post(
        server,
        "/emails:send",
        body,
        "Repeatability-Request-ID",
        id,
        "Repeatability-First-Sent",
        firstSent);
  }

  @Test
  void azureRepeatsTheFirstAnswerAndAcceptsBoth() throws Exception {
    RemoteServer server = start(RemoteKind.AZURE);
    String sent = date(FixedClock.START);
    Reply first = repeatable(server, ID, sent, BODY);
    Reply again = repeatable(restart(server), ID, sent, BODY);
    for (Reply reply : List.of(first, again)) {
      assertThat(reply.status()).isEqualTo(201);
      assertThat(reply.header("Repeatability-Result")).isEqualTo("accepted");
      assertThat(reply.body()).isEqualTo(first.body());
    }
    Reply other = repeatable(Objects.requireNonNull(running), ID, sent, OTHER);
    assertThat(other.status()).isEqualTo(400);
    assertThat(other.header("Repeatability-Result")).isEqualTo("rejected");
    assertThat(Book.read(folder.resolve("book")).effects()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "not-a-guid | Mon, 05 Jan 2026 12:00:00 GMT | 400",
        ID + " | 2026-01-05T12:00:00Z | 400",
        ID + " | Mon, 5 Jan 2026 12:00:00 GMT | 400",
        ID + " | Tue, 05 Jan 2026 12:00:00 GMT | 400",
        ID + " | Mon, 05 Jan 2026 11:55:00 GMT | 412",
        ID + " | Mon, 05 Jan 2026 12:05:00 GMT | 412"
      })
  void azureRejectsWhatItCannotTrack(String id, String firstSent, int status) throws Exception {
    RemoteServer server = start(RemoteKind.AZURE);
    Reply reply = repeatable(server, id, firstSent, BODY);
    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.header("Repeatability-Result")).isEqualTo("rejected");
    assertThat(server.book().effects()).isEmpty();
  }

  @Test
  void azureNeedsBothHeadersOrNeither() throws Exception {
    RemoteServer server = start(RemoteKind.AZURE);
    assertThat(post(server, "/emails:send", BODY, "Repeatability-Request-ID", ID).status())
        .isEqualTo(400);
    assertThat(
            post(server, "/emails:send", BODY, "Repeatability-First-Sent", date(FixedClock.START))
                .status())
        .isEqualTo(400);
    assertThat(server.book().effects()).isEmpty();
    Reply plain = post(server, "/emails:send", BODY);
    assertThat(plain.status()).isEqualTo(201);
    assertThat(plain.header("Repeatability-Result")).isEmpty();
  }

  @Test
  void azureSaysConflictWhileTheFirstIsInFlight() throws Exception {
    RemoteServer server = start(RemoteKind.AZURE);
    String sent = date(FixedClock.START);
    CompletableFuture<Reply> first =
        held(
            server,
            "/emails:send",
            BODY,
            "Repeatability-Request-ID",
            ID,
            "Repeatability-First-Sent",
            sent);
    assertThat(repeatable(server, ID, sent, BODY).status()).isEqualTo(409);
    server.faults().release();
    assertThat(first.get().status()).isEqualTo(201);
    assertThat(server.book().effects()).hasSize(1);
  }

  @Test
  void azureExecutesAgainAfterItsOwn5xxButNotAfterAGateways() throws Exception {
    RemoteServer server = start(RemoteKind.AZURE);
    String sent = date(FixedClock.START);
    server.faults().add(Fault.of(FaultKind.ERROR_AFTER_COMMIT).withStatus(504));
    assertThat(repeatable(server, ID, sent, BODY).status()).isEqualTo(504);
    assertThat(repeatable(server, ID, sent, BODY).status()).isEqualTo(201);
    assertThat(server.book().effects()).hasSize(1);

    String other = ID.replace('8', '9');
    server.faults().add(FaultKind.ERROR_AFTER_COMMIT);
    assertThat(repeatable(server, other, sent, BODY).status()).isEqualTo(500);
    assertThat(repeatable(server, other, sent, BODY).status()).isEqualTo(201);
    assertThat(server.book().reading().byDownstreamKey(other)).hasSize(2);
  }

  @Test
  void azureNeverForgetsAnIdThatItWouldStillAccept() throws Exception {
    RemoteServer server = start(RemoteKind.AZURE);
    String ahead = date(FixedClock.START.plusSeconds(299));
    assertThat(repeatable(server, ID, ahead, BODY).status()).isEqualTo(201);
    server.clock().advance(Duration.ofSeconds(598));
    assertThat(repeatable(server, ID, ahead, BODY).status()).isEqualTo(201);
    server.clock().advance(Duration.ofSeconds(1));
    assertThat(repeatable(server, ID, ahead, BODY).status()).isEqualTo(412);
    assertThat(server.book().effects()).hasSize(1);
  }

  // Legacy

  @Test
  void legacyDoublesWhateverKeyIsSent() throws Exception {
    RemoteServer server = start(RemoteKind.LEGACY);
    String body = "{\"natural_key\":\"n1\"}";
    for (int i = 0; i < 3; i++) {
      Reply reply =
          post(server, "/payments", body, "Idempotency-Key", quoted("k1"), "ClientToken", "k1");
      assertThat(reply.status()).isEqualTo(201);
    }
    assertThat(server.book().duplicates()).containsEntry("b1", 3);
    assertThat(server.book().effects().getFirst().downstreamKey()).isNull();
    assertThat(Raw.get(server, "/payments/n1").json().path("count").asInt()).isEqualTo(3);
  }

  @Test
  void legacyIsAskedByNaturalKeyOnly() throws Exception {
    RemoteServer server = start(RemoteKind.LEGACY);
    Reply made = post(server, "/payments", "{\"natural_key\":\"n1\"}");
    String reference = made.json().path("reference").asText();
    assertThat(Raw.get(server, "/status?natural_key=n1").json().path("reference").asText())
        .isEqualTo(reference);
    assertThat(Raw.get(server, "/status?key=k1").status()).isEqualTo(400);
    assertThat(Raw.get(server, "/status?reference=" + reference).status()).isEqualTo(400);
    assertThat(Raw.get(server, "/payments/n2").status()).isEqualTo(404);
  }
}
