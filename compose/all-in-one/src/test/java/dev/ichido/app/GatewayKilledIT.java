package dev.ichido.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ichido.app.DoorClient.Answer;
import dev.ichido.config.ConfigLoader;
import dev.ichido.embedded.DataFolder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A door of its own process, which is killed while clients wait. */
class GatewayKilledIT {
  private static final int WAITING = 500;
  private static final Duration LIMIT = Duration.ofMinutes(3);

  @TempDir Path temp;

  @Test
  @Tag("FR-14")
  void whoWaitedFindsTheSameOperationAtTheNextDoor() throws Exception {
    Path data = temp.resolve("data");
    try (DoorRemote remote = DoorRemote.start();
        DataFolder folder = DataFolder.open(data);
        Stack stack =
            Stack.start(
                folder,
                Stack.Ports.FREE,
                new ConfigLoader(name -> null)
                    .load("test", remote.config() + "executor: { concurrency_per_remote: 1000 }\n"),
                line -> {})) {
      int port = freePort();
      Path config = config(stack, data, port, remote);
      DoorClient client = DoorClient.of("http://127.0.0.1:" + port, data, "t1", "agent:a");
      List<CompletableFuture<Answer>> lost;
      try (Launched door = Launched.start(temp, "gateway", "--config", config.toString())) {
        door.awaitErr("gateway is ready");
        lost = ask(client);
        await().atMost(LIMIT).until(() -> claimed(stack) == WAITING);
        Answer full = client.post("slow", "one-too-many-waits-1", "{}");
        assertThat(full.status()).isEqualTo(503);
        assertThat(full.text("code")).isEqualTo("WAITING_FULL");
        assertThat(full.header("Retry-After")).isNotEmpty();
        door.kill();
      }
      assertThat(lost).allSatisfy(answer -> assertThat(answer).failsWithin(LIMIT));
      try (Launched door = Launched.start(temp, "gateway", "--config", config.toString())) {
        door.awaitErr("gateway is ready");
        List<CompletableFuture<Answer>> attached = ask(client);
        remote.open();
        for (CompletableFuture<Answer> answer : attached) {
          assertThat(answer.join().status()).as(answer.join().body().toString()).isEqualTo(200);
        }
      }
      assertThat(remote.book()).hasSize(WAITING);
      assertThat(remote.book().stream().map(DoorRemote.Effect::operationId).distinct())
          .hasSize(WAITING);
    }
  }

  private static List<CompletableFuture<Answer>> ask(DoorClient client) {
    return IntStream.range(0, WAITING)
        .mapToObj(
            i ->
                client.postAsync(
                    "slow", "waits-for-its-result-" + i, "{\"i\":" + i + "}", "Prefer", "wait=100"))
        .toList();
  }

  private static int claimed(Stack stack) throws SQLException {
    try (Connection connection = stack.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "select count(*) from ichido.inbox_reply where verdict = 'CLAIMED'")) {
      row.next();
      return row.getInt(1);
    }
  }

  private Path config(Stack stack, Path data, int port, DoorRemote remote) throws IOException {
    String database =
        "url: '%s', user: '%s', password: '${file:%s}'"
            .formatted(
                stack.endpoints().databaseUrl(),
                stack.endpoints().databaseUser(),
                data.resolve("postgres/password"));
    return Files.writeString(
        temp.resolve("ichido.yaml"),
        """
        outbox: { %s }
        inbox: { database: { %s } }
        gateway: { port: %d, max_waiting: %d, tokens: '%s' }
        """
                .formatted(database, database, port, WAITING, data.resolve(DevelopmentTokens.FILE))
            + remote.config());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
