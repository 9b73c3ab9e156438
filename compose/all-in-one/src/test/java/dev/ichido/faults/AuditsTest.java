package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditsTest {
  @TempDir Path temp;

  @Test
  void whatARelayFoundOutlivesItAndOneThatDoesNotTellIsNamed() throws Exception {
    AtomicReference<String> meters = new AtomicReference<>("");
    HttpServer listener =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    listener.createContext(
        "/metrics",
        exchange -> {
          // An exchange that is closed without an answer is a connection that breaks.
          try (exchange) {
            byte[] body = meters.get().getBytes(UTF_8);
            if (body.length > 0) {
              exchange.sendResponseHeaders(200, body.length);
              exchange.getResponseBody().write(body);
            }
          }
        });
    listener.start();
    try (Guard guard = new Guard(temp.resolve("no-database"));
        Jvm jvm =
            new Jvm(
                guard,
                "relay",
                32,
                temp.resolve("log"),
                Map.of(),
                RigTest.Waiting.class.getName(),
                List.of());
        HttpClient http = HttpClient.newHttpClient()) {
      Audits audits = new Audits(http);
      audits.watch(new Rig.Instance(jvm, listener.getAddress().getPort()));
      assertThat(audits.found()).isZero();
      jvm.start();
      meters.set("ichido_relay_audit_missing_total{slot=\"s\"} 3.0\n");
      assertThat(audits.found()).isEqualTo(3);
      jvm.kill();
      assertThat(audits.found()).isEqualTo(3);
      meters.set("ichido_relay_audit_missing_total{slot=\"s\"} 2.0\n");
      jvm.start();
      assertThat(audits.found()).isEqualTo(5);
      jvm.end();
      assertThat(audits.found()).isEqualTo(5);
      assertThat(audits.takeUnread()).isEmpty();
      jvm.start();
      meters.set("");
      jvm.kill();
      assertThat(audits.takeUnread()).containsExactly("relay");
      assertThat(audits.takeUnread()).isEmpty();
    } finally {
      listener.stop(0);
    }
  }
}
