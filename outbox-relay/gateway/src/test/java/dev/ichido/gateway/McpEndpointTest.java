package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.outbox.TenantKey;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** The address before a server that answers the handshake and nothing else. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class McpEndpointTest {
  private static final McpConfig CONFIG =
      new McpConfig(
          "t",
          "agent:a",
          tenant -> TenantKey.of("a key of a tenant in a test".getBytes(UTF_8)),
          "near",
          Map::of,
          McpConfig.Unidentified.REFUSE,
          Duration.ofMinutes(10),
          Duration.ofSeconds(1));

  private final CompletableFuture<Void> asked = new CompletableFuture<>();

  @Test
  void whoWaitsTakesAPlaceAndWhatAsksForNothingDoesNot() throws Exception {
    try (McpEndpoint endpoint = endpoint(1_000, 1);
        HttpClient http = HttpClient.newHttpClient()) {
      String session =
          http.send(request(endpoint, "initialize", 1, null), BodyHandlers.ofString())
              .headers()
              .firstValue("Mcp-Session-Id")
              .orElseThrow();
      CompletableFuture<HttpResponse<String>> waiting;
      do {
        // The place of the handshake may be given back a moment after its answer.
        waiting = http.sendAsync(request(endpoint, "ping", 2, session), BodyHandlers.ofString());
        CompletableFuture.anyOf(asked, waiting).join();
      } while (!asked.isDone());
      HttpResponse<String> refused =
          http.send(request(endpoint, "ping", 3, session), BodyHandlers.ofString());
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.headers().firstValue("Retry-After")).isPresent();
      assertThat(
              http.send(
                      request(endpoint, "notifications/cancelled", null, session),
                      BodyHandlers.ofString())
                  .statusCode())
          .isEqualTo(202);
      assertThat(waiting.join().body()).as("ends, since it was cancelled").isEmpty();
    }
  }

  @Test
  void aTenantThatAsksTooOftenIsRefused() throws Exception {
    try (McpEndpoint endpoint = endpoint(1, 10);
        HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest unknown = request(endpoint, "ping", 1, "no such session");
      List<Integer> statuses = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        statuses.add(http.send(unknown, BodyHandlers.ofString()).statusCode());
      }
      assertThat(statuses).startsWith(404).contains(429).doesNotContain(500, 503);
    }
  }

  private static HttpRequest request(
      McpEndpoint endpoint, String method, @Nullable Integer id, @Nullable String session) {
    ObjectNode message = McpJson.object().put("jsonrpc", "2.0").put("method", method);
    if (id == null) {
      message.putObject("params").put("requestId", 2);
    } else {
      message.put("id", id);
    }
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(endpoint.url()))
            .POST(BodyPublishers.ofString(message.toString()));
    if (session != null) {
      request.header("Mcp-Session-Id", session);
    }
    return request.build();
  }

  private McpEndpoint endpoint(int ratePerTenant, int maxWaiting) {
    GatewayConfig given = GatewayConfig.DEFAULT;
    GatewayConfig config =
        new GatewayConfig(
            "127.0.0.1",
            0,
            false,
            null,
            null,
            null,
            List.of(),
            given.maxBodyBytes(),
            ratePerTenant,
            maxWaiting,
            given.maxWait(),
            given.decisionWait());
    PGSimpleDataSource none = new PGSimpleDataSource();
    McpDoor door =
        new McpDoor(
            CONFIG,
            new Intake(none),
            new ReplyStore(none),
            new ReplyFeed(none),
            sha256 -> Optional.empty(),
            Clock.systemUTC());
    McpEndpoint endpoint =
        new McpEndpoint(
            config,
            false,
            CONFIG,
            (caller, client) -> new McpSession(caller, this::open, door, client),
            session -> {});
    endpoint.start();
    return endpoint;
  }

  private McpUpstream.Session open(Consumer<ObjectNode> received) {
    return new McpUpstream.Session() {
      @Override
      public void send(ObjectNode message) {
        if (McpJson.method(message).equals("initialize")) {
          received.accept(McpJson.result(message.get("id"), McpJson.object()));
        } else {
          asked.complete(null);
        }
      }

      @Override
      public CompletableFuture<ObjectNode> request(String method, ObjectNode params) {
        return new CompletableFuture<>();
      }

      @Override
      public boolean isOpen() {
        return true;
      }

      @Override
      public void close() {}
    };
  }
}
