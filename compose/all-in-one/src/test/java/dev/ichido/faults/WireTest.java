package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WireTest {
  private final CountDownLatch asked = new CountDownLatch(1);
  private HttpServer server;
  private Wire wire;
  private HttpClient client;

  @BeforeEach
  void begin() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          asked.countDown();
          byte[] answer = "answer".getBytes(UTF_8);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    wire = new Wire(server.getAddress().getPort());
    client = HttpClient.newHttpClient();
  }

  @AfterEach
  void end() {
    client.close();
    wire.close();
    server.stop(0);
  }

  @Test
  void anOpenWirePassesBothWays() throws Exception {
    assertThat(ask().get(20, TimeUnit.SECONDS).body()).isEqualTo("answer");
  }

  @Test
  void aCutWireResetsUntilItIsOpened() throws Exception {
    wire.cut();
    assertThatThrownBy(() -> ask().get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(IOException.class);
    wire.open();
    assertThat(ask().get(20, TimeUnit.SECONDS).body()).isEqualTo("answer");
  }

  @Test
  void aDeafWireBringsTheRequestAndNotTheAnswer() throws Exception {
    wire.deafen();
    CompletableFuture<HttpResponse<String>> answer = ask();
    assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(answer).isNotDone();
    wire.open();
    assertThat(answer.get(20, TimeUnit.SECONDS).body()).isEqualTo("answer");
  }

  @Test
  void aSilentWireBringsNothingUntilItIsOpened() throws Exception {
    wire.silence();
    CompletableFuture<HttpResponse<String>> answer = ask();
    assertThat(asked.getCount()).isEqualTo(1);
    wire.open();
    assertThat(answer.get(20, TimeUnit.SECONDS).body()).isEqualTo("answer");
  }

  @Test
  void whatWasHeldWhenAWireIsCutIsLost() throws Exception {
    wire.deafen();
    CompletableFuture<HttpResponse<String>> answer = ask();
    assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
    wire.cut();
    assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IOException.class);
  }

  private CompletableFuture<HttpResponse<String>> ask() {
    return client.sendAsync(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + wire.port() + "/"))
            .POST(HttpRequest.BodyPublishers.ofString("request"))
            .build(),
        BodyHandlers.ofString());
  }
}
