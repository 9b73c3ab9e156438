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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RigTest {
  @TempDir Path temp;

  /** It once was, and a scenario was judged without an inbox. */
  @Test
  void aRoleIsNotReadyBecauseAnotherProcessAnswersAtItsPort() throws Exception {
    long[] pid = {ProcessHandle.current().pid()};
    HttpServer listener =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    listener.createContext(
        "/health",
        exchange -> {
          try (exchange) {
            byte[] body = "{\"healthy\":true,\"pid\":%d}".formatted(pid[0]).getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
          }
        });
    listener.start();
    try (Guard guard = new Guard(temp.resolve("no-database"));
        Jvm jvm =
            new Jvm(
                guard,
                "role",
                32,
                temp.resolve("log"),
                Map.of(),
                Waiting.class.getName(),
                List.of());
        HttpClient http = HttpClient.newHttpClient()) {
      Rig.Instance role = new Rig.Instance(jvm, listener.getAddress().getPort());
      assertThat(role.isReady(http)).as("it does not run").isFalse();
      jvm.start();
      assertThat(role.isReady(http)).as("this process answers for it").isFalse();
      pid[0] =
          ProcessHandle.current()
              .children()
              .filter(it -> jvm.isProcess(it.pid()))
              .findAny()
              .orElseThrow()
              .pid();
      assertThat(role.isReady(http)).as("it answers itself").isTrue();
    } finally {
      listener.stop(0);
    }
  }

  /** A process that does nothing. */
  static final class Waiting {
    public static void main(String[] arguments) throws InterruptedException {
      Thread.currentThread().join();
    }
  }
}
