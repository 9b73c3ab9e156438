package dev.ichido.app;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.EmbeddedDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;

/**
 * How much memory requests that wait cost: a gateway of its own process with a small heap, a
 * database, and as many clients as are asked for, each on its own connection. In the end all are
 * answered at once.
 *
 * <p>Run from the folder of this module, after {@code mvn -B package -DskipTests}: {@code mvn -B
 * dependency:build-classpath -Dmdep.outputFile=target/cp} and then {@code java -cp
 * target/test-classes:target/classes:$(cat target/cp) dev.ichido.app.GatewayBenchmark 10000}. The
 * limit of open files has to be above that number.
 */
final class GatewayBenchmark {
  private static final Duration LIMIT = Duration.ofMinutes(4);
  private static final int HEAP_MB = 352;
  private static final String TOKEN = "benchmark-token-0123456789abcdef0123";

  private GatewayBenchmark() {}

  public static void main(String[] args) throws Exception {
    int clients = Integer.parseInt(args[0]);
    Path folder = Files.createTempDirectory(Path.of("target"), "gateway-bench").toAbsolutePath();
    try (EmbeddedDatabase database = EmbeddedDatabase.start(folder.resolve("postgres"))) {
      int port = freePort();
      int health = freePort();
      Path file = config(folder, database, port, health, clients);
      IchidoConfig config = new ConfigLoader(name -> null).load(file);
      Migration migration = new Migration(config);
      migration.outbox();
      migration.inbox();
      migration.gateway();
      try (Launched door =
          Launched.start(folder, HEAP_MB, "gateway", "--config", file.toString())) {
        door.awaitErr("gateway is ready");
        say("at rest", door);
        measure(database, door, port, "http://127.0.0.1:" + health + "/metrics", clients);
      }
    }
  }

  private static void measure(
      EmbeddedDatabase database, Launched door, int port, String metrics, int clients)
      throws SQLException, InterruptedException {
    Map<String, Integer> answers = new ConcurrentHashMap<>();
    CountDownLatch done = new CountDownLatch(clients);
    long begun = System.nanoTime();
    for (int i = 0; i < clients; i++) {
      int number = i;
      Thread.ofVirtual()
          .start(
              () -> {
                String answer = ask(port, number);
                // In a burst some are told to come again: connections to the database are few.
                while (answer.endsWith("503")) {
                  answers.merge(answer, 1, Integer::sum);
                  answer = ask(port, number);
                }
                answers.merge(answer, 1, Integer::sum);
                done.countDown();
              });
      if (i % 200 == 199) {
        int most = i + 1;
        Awaitility.await().atMost(LIMIT).until(() -> written(database) >= most);
      }
    }
    Awaitility.await()
        .atMost(LIMIT)
        .until(() -> written(database) == clients && waiting(metrics) == clients);
    say(clients + " wait after " + (System.nanoTime() - begun) / 1_000_000 + " ms", door);
    begun = System.nanoTime();
    answerAll(database);
    done.await();
    say(answers + " after " + (System.nanoTime() - begun) / 1_000_000 + " ms", door);
  }

  private static String ask(int port, int number) {
    byte[] request =
        ("POST /v1/actions/pay HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                + TOKEN
                + "\r\nContent-Type: application/json\r\nContent-Length: 2\r\nPrefer: wait=600\r\n"
                + "Idempotency-Key: \"waits-in-the-benchmark-"
                + number
                + "\"\r\n\r\n{}")
            .getBytes(US_ASCII);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write(request);
      InputStream in = socket.getInputStream();
      return new String(in.readNBytes(12), US_ASCII);
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static void answerAll(EmbeddedDatabase database) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute(
          """
          insert into ichido.inbox_reply (tenant, scope, operation_id, delivery_id, principal, verdict, state,
                                          attempt, revision, final, marker, body, decided_at)
          select tenant, scope, aggregateid, id, principal, 'SETTLED', 'SUCCEEDED', 1, 2, true, 'EXECUTED',
                 '{"id":1}', now() from ichido.outbox
          """);
      statement.execute("select pg_notify('ichido_inbox', id) from ichido.outbox");
      connection.commit();
    }
  }

  /** Who has a place may still wait for a connection to the database. */
  private static int written(EmbeddedDatabase database) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("select count(*) from ichido.outbox")) {
      row.next();
      return row.getInt(1);
    }
  }

  private static int waiting(String metrics) throws IOException {
    try (InputStream in = URI.create(metrics).toURL().openStream()) {
      return new String(in.readAllBytes(), UTF_8)
          .lines()
          .filter(line -> line.startsWith("ichido_gateway_waiting "))
          .mapToInt(line -> (int) Double.parseDouble(line.substring(line.indexOf(' '))))
          .findFirst()
          .orElse(0);
    }
  }

  private static void say(String what, Launched door) {
    try {
      String memory =
          String.join(
              ", ",
              Files.readAllLines(Path.of("/proc", Long.toString(door.pid()), "status")).stream()
                  .filter(line -> line.startsWith("VmRSS") || line.startsWith("VmHWM"))
                  .map(line -> line.replaceAll("\\s+", " "))
                  .toList());
      System.out.println(what + ": " + memory);
    } catch (IOException e) {
      System.out.println(what + ": " + e.getMessage());
    }
  }

  private static Path config(
      Path folder, EmbeddedDatabase database, int port, int health, int clients)
      throws IOException {
    Path tokens = Files.writeString(folder.resolve("tokens"), TOKEN + " t1 agent:a\n");
    Path password = Files.writeString(folder.resolve("password"), database.password());
    String at =
        "url: '%s', user: '%s', password: '${file:%s}'"
            .formatted(database.url(), database.user(), password);
    return Files.writeString(
        folder.resolve("ichido.yaml"),
        """
        outbox: { %s }
        inbox: { database: { %s } }
        gateway: { port: %d, max_wait: 10m, rate_per_tenant: 100000, max_waiting: %d, tokens: '%s' }
        http: { port: %d }
        tenants: { t1: { principals: ['agent:a'] } }
        actions: { pay: { effect: write, http: { method: POST, url: 'http://127.0.0.1:9/pay' } } }
        """
            .formatted(at, at, port, clients, tokens, health));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
