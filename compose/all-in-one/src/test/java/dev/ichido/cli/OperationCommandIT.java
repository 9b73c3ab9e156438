package dev.ichido.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.app.Stack;
import dev.ichido.config.ConfigLoader;
import dev.ichido.embedded.DataFolder;
import dev.ichido.executor.claim.ClaimRequest;
import dev.ichido.executor.claim.ClaimStore;
import dev.ichido.executor.claim.ExecutorMigration;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** A person settles what nobody can ask the remote about. */
class OperationCommandIT {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String ID = "silent-operation-0001";
  private static final String EVIDENCE = "the bank's ledger has it, entry 17";

  @TempDir Path temp;

  @Test
  @Tag("FR-17")
  void aPersonSettlesWhatTheRemoteNeverAnswered() throws Exception {
    Path data = temp.resolve("data");
    try (SilentRemote remote = SilentRemote.start();
        DataFolder folder = DataFolder.open(data);
        Stack stack =
            Stack.start(
                folder,
                Stack.Ports.FREE,
                new ConfigLoader(name -> null).load("test", config(remote.port())),
                line -> {})) {
      InboxReader inbox = new InboxReader(stack.dataSource());
      String delivery = publish(data);
      becomesUnknown(inbox, delivery);

      await()
          .atMost(PATIENCE)
          .until(() -> json(0, "list", "--state", "UNKNOWN_RECONCILIATION").size() == 1);
      JsonNode listed = json(0, "list", "--state", "UNKNOWN_RECONCILIATION", "--tenant", "demo");
      assertThat(listed.at("/0/state_since").asText()).isNotEmpty();
      assertThat(listed.at("/0/operation_id").asText()).isEqualTo(ID);
      assertThat(json(0, "list", "--state", "SUCCEEDED")).isEmpty();
      assertThat(json(0, "list", "--before", listed.at("/0/seq").asText())).isEmpty();
      assertThat(json(0, "list", "--tenant", "other")).isEmpty();

      JsonNode shown = json(0, "show", "demo", ID);
      assertThat(shown.path("state").asText()).isEqualTo("UNKNOWN_RECONCILIATION");
      assertThat(shown.path("attempts")).hasSize(1);
      assertThat(shown.at("/attempts/0/kind").asText()).isEqualTo("CLAIM");
      assertThat(shown.at("/attempts/0/outcome").asText()).isEqualTo("UNKNOWN");
      assertThat(shown.at("/attempts/0/recorded_at").asText()).isNotEmpty();
      assertThat(shown.path("fingerprint_version").asInt()).isEqualTo(1);
      assertThat(shown.path("events").findValuesAsText("verdict")).startsWith("CLAIMED", "SETTLED");
      assertThat(shown.at("/events/1/reported").asText()).isEqualTo("UNKNOWN");
      assertThat(shown.at("/events/1/reason").asText()).isNotEmpty();
      assertThat(shown.path("replies").findValuesAsText("delivery_id")).contains(delivery);
      Ran unknown = run("show", "other", ID);
      assertThat(unknown.code()).isEqualTo(1);
      assertThat(unknown.err()).contains("OPERATION_UNKNOWN");

      refused(resolve("agent:demo", EVIDENCE), "UNAUTHORIZED");
      refused(resolve("person:maria", " "), "EVIDENCE_MISSING");
      refused(resolve("person:maria", EVIDENCE, "--attempt", "2"), "NOT_RESOLVABLE");
      assertThat(json(0, "show", "demo", ID).path("state").asText())
          .isEqualTo("UNKNOWN_RECONCILIATION");
      assertThat(inbox.findFinal(delivery)).isEmpty();

      JsonNode resolved =
          json(
              0,
              "resolve",
              "demo",
              ID,
              "--as",
              "SUCCEEDED",
              "--by",
              "person:maria",
              "--evidence",
              EVIDENCE,
              "--remote-reference",
              "entry-17",
              "--body",
              "{\"entry\":17}");
      assertThat(resolved.path("verdict").asText()).isEqualTo("RESOLVED");
      assertThat(resolved.path("state").asText()).isEqualTo("SUCCEEDED");

      InboxReply reply = inbox.awaitFinal(delivery, PATIENCE).orElseThrow();
      assertThat(reply.verdict()).isEqualTo("RESOLVED");
      assertThat(reply.state()).isEqualTo("SUCCEEDED");
      assertThat(reply.marker()).isEqualTo("RECONCILED");
      assertThat(reply.remoteReference()).isEqualTo("entry-17");
      assertThat(reply.body()).isEqualTo("{\"entry\":17}");

      await()
          .atMost(PATIENCE)
          .until(() -> json(0, "list", "--state", "UNKNOWN_RECONCILIATION").isEmpty());
      Ran again = resolve("person:maria", EVIDENCE);
      refused(again, "NOT_RESOLVABLE");
      refused(resolveBy(configFile(stack)), "NOT_RESOLVABLE");
      assertThat(again.err()).contains("SUCCEEDED");
      String text = run("show", "demo", ID).out();
      assertThat(text)
          .contains("SUCCEEDED", "attempt 1", "RESOLVED", "entry-17", delivery)
          .contains("person:maria " + EVIDENCE);
      assertThat(remote.calls()).isEqualTo(1);
      claimsMayBeInAnotherDatabase(stack, data);
    }
    // Without a stack the database is started for the command.
    assertThat(json(0, "show", "demo", ID).path("attempts")).hasSize(1);
    Ran down = resolve("person:maria", EVIDENCE);
    assertThat(down.code()).isEqualTo(1);
    assertThat(down.err()).contains("STACK_DOWN");
  }

  private void claimsMayBeInAnotherDatabase(Stack stack, Path data) throws Exception {
    try (Connection connection = stack.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("create database claims");
    }
    PGSimpleDataSource claims = new PGSimpleDataSource();
    claims.setUrl(stack.endpoints().databaseUrl().replaceFirst("/[^/?]+(?=\\?|$)", "/claims"));
    claims.setUser(stack.endpoints().databaseUser());
    claims.setPassword(Files.readString(data.resolve("postgres/password")).strip());
    ExecutorMigration.migrate(claims);
    new ClaimStore(claims, "elsewhere/1")
        .take(
            List.of(new ClaimRequest("k1/demo/global/" + ID, 7, "command", "pay", null, null)),
            Instant.now());
    Path config =
        Files.writeString(
            temp.resolve("apart.yaml"),
            """
            inbox: { database: { url: '%1$s', user: '%3$s', password: '%4$s' } }
            executor: { database: { url: '%2$s', user: '%3$s', password: '%4$s' } }
            """
                .formatted(
                    stack.endpoints().databaseUrl(),
                    claims.getUrl(),
                    claims.getUser(),
                    claims.getPassword()));
    Ran ran = Ran.of("operation", "show", "demo", ID, "--config", config.toString(), "--json");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(JSON.readTree(ran.out()).path("attempts").findValuesAsText("owner"))
        .containsExactly("elsewhere/1");
  }

  private static void becomesUnknown(InboxReader inbox, String delivery)
      throws InterruptedException {
    long cursor = 0;
    while (true) {
      List<InboxReply> page = inbox.awaitAfter(cursor, 100, PATIENCE);
      assertThat(page).as("replies until the operation is unknown").isNotEmpty();
      for (InboxReply reply : page) {
        cursor = reply.seq();
        if (reply.deliveryId().equals(delivery) && "UNKNOWN_RECONCILIATION".equals(reply.state())) {
          return;
        }
      }
    }
  }

  private String publish(Path data) {
    Ran ran = Ran.of("publish", "--action", "pay", "--operation-id", ID, "--data", data.toString());
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out().strip();
  }

  private Ran resolve(String by, String evidence, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "resolve", "demo", ID, "--as", "SUCCEEDED", "--by", by, "--evidence", evidence));
    arguments.addAll(List.of(more));
    return run(arguments.toArray(String[]::new));
  }

  /** A stack that is not in a data folder is found by its configuration. */
  private Path configFile(Stack stack) throws IOException {
    return Files.writeString(
        temp.resolve("ichido.yaml"),
        """
        kafka: { bootstrap.servers: '%s' }
        registry: { schema.registry.url: '%s' }
        topics: { prefix: silent }
        """
            .formatted(stack.endpoints().bootstrapServers(), stack.endpoints().registryUrl()));
  }

  private static Ran resolveBy(Path config) {
    return Ran.of(
        "operation",
        "resolve",
        "demo",
        ID,
        "--as",
        "FAILED_TERMINAL",
        "--by",
        "person:maria",
        "--evidence",
        EVIDENCE,
        "--config",
        config.toString());
  }

  private JsonNode json(int code, String... arguments) throws IOException {
    String[] all = List.of(arguments).toArray(new String[arguments.length + 1]);
    all[arguments.length] = "--json";
    Ran ran = run(all);
    assertThat(ran.code()).as(ran.err()).isEqualTo(code);
    return JSON.readTree(ran.out());
  }

  private Ran run(String... arguments) {
    String[] all = new String[arguments.length + 3];
    all[0] = "operation";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[arguments.length + 1] = "--data";
    all[arguments.length + 2] = temp.resolve("data").toString();
    return Ran.of(all);
  }

  private static void refused(Ran ran, String code) {
    assertThat(ran.code()).as(ran.err()).isEqualTo(1);
    assertThat(ran.err()).contains("ichido: " + code + ": Expected").doesNotContain("\tat ");
    assertThat(ran.out()).isEmpty();
  }

  private static String config(int port) {
    return """
    topics: { prefix: silent, partitions: 2 }
    tenants: { demo: { principals: ['agent:demo'] } }
    actions:
      pay:
        effect: write
        lease: 5s
        http:
          url: 'http://127.0.0.1:%d/pay'
          reference: $.id
          timeouts: { connect: 1s, first_byte: 1s, total: 2s }
    """
        .formatted(port);
  }

  /** Reads requests to their end, answers none. */
  private static final class SilentRemote implements AutoCloseable {
    private final ServerSocket server;
    private final AtomicInteger calls = new AtomicInteger();
    private final List<Socket> open = new CopyOnWriteArrayList<>();

    private SilentRemote(ServerSocket server) {
      this.server = server;
    }

    static SilentRemote start() throws IOException {
      SilentRemote remote =
          new SilentRemote(new ServerSocket(0, 16, InetAddress.getLoopbackAddress()));
      Thread.ofVirtual().start(remote::accept);
      return remote;
    }

    private void accept() {
      try {
        while (true) {
          Socket socket = server.accept();
          open.add(socket);
          Thread.ofVirtual().start(() -> swallow(socket));
        }
      } catch (IOException closed) {
        // The test is over.
      }
    }

    private void swallow(Socket socket) {
      try (socket) {
        InputStream in = socket.getInputStream();
        byte[] first = in.readNBytes(4);
        if (new String(first, UTF_8).equals("POST")) {
          calls.incrementAndGet();
        }
        in.readAllBytes();
      } catch (IOException closed) {
        // The caller gave up.
      }
    }

    int calls() {
      return calls.get();
    }

    int port() {
      return server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
      server.close();
      for (Socket socket : open) {
        socket.close();
      }
    }
  }
}
