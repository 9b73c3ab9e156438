package dev.ichido.readme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ichido.app.BookedTools;
import dev.ichido.app.McpTalk;
import dev.ichido.outbox.TenantKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every command, statement, snippet and link of the README is taken at its word. */
class ReadmeIT {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w+)\\n(.*?)^```$");
  private static final Pattern INLINE = Pattern.compile("`(\\./ichido [^`]+)`");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)\\)");
  private static final int ENDED_BY_SIGTERM = 128 + 15;
  private static final Duration LIMIT = Duration.ofMinutes(4);

  private static final String README_DOOR = "http://127.0.0.1:8787";

  @TempDir static Path home;
  private static String readme = "";
  private static String door = README_DOOR;

  private record Ran(int code, String out, String err) {}

  @BeforeAll
  static void read() throws IOException {
    readme = Files.readString(ROOT.resolve("README.md"));
    // Commands name files from the top of the repository, but keep their data elsewhere.
    Files.createSymbolicLink(home.resolve("processor"), ROOT.resolve("processor"));
  }

  @Test
  void everyCommandAndStatementDoesWhatIsSaid() throws Exception {
    List<String> commands = blocks("sh").stream().flatMap(String::lines).toList();
    assertThat(commands).first().isEqualTo("./ichido demo");
    assertThat(run(commands.get(0)).code()).isZero();

    Files.writeString(
        home.resolve("calls.jsonl"),
        """
        {"tool":"send","arguments":{"to":"desk 4"},"run":"run-1","step":"1","tool_call_id":"call-1"}
        """);
    runFromTheText(command -> command.startsWith("./ichido demo"));

    assertThat(commands).contains("./ichido up");
    Process up = start("./ichido up --json");
    try {
      JsonNode endpoints = endpoints(up);
      door = endpoints.get("gateway_url").asText();
      writeConfig(endpoints);
      runFromTheText(command -> !command.matches("./ichido (demo|faults)\\b.*"));
      try (Connection runtime = connect(endpoints)) {
        String statement = blocks("sql").get(0);
        String first = deliver(runtime, statement);
        assertThat(lastVerdict(runtime, first)).isEqualTo("SETTLED");
        assertThat(lastVerdict(runtime, deliver(runtime, statement))).isEqualTo("REPLAYED");
        assertThat(lastVerdict(runtime, deliver(runtime, statement.replace("left", "come"))))
            .isEqualTo("FINGERPRINT_MISMATCH");

        runtime.setAutoCommit(false);
        String fromJava =
            FirstIntent.publish(
                runtime,
                TenantKey.of("a key of the readme's own".getBytes(UTF_8)),
                "thread-1",
                "turn-1",
                "call-1",
                Instant.now());
        runtime.setAutoCommit(true);
        assertThat(lastVerdict(runtime, fromJava)).isEqualTo("SETTLED");
      }
      for (String command : commands.subList(1, commands.size())) {
        // The build itself, and what fetches the runtimes of others, are run beside this test.
        if (command.startsWith("mvn") || command.startsWith("compose/examples/")) {
          assertThat(Files.readString(ROOT.resolve(".ci/run"))).contains(command);
        } else if (!command.equals("./ichido up")) {
          Ran ran = run(command);
          assertThat(ran.code()).as("%s%n%s%n%s", command, ran.out(), ran.err()).isZero();
          assertThat(ran.out()).as(command).isNotBlank();
        }
      }
    } finally {
      up.destroy();
      assertThat(up.waitFor(10, TimeUnit.SECONDS)).as("stopped within 10 s").isTrue();
    }
  }

  /** As a client starts it, but before a tool server that is here. */
  @Test
  void theMcpClientsConfigurationStandsInFrontOfAServer() throws Exception {
    Path tools = Files.createDirectory(home.resolve("tools"));
    JsonNode named =
        new ObjectMapper().readTree(blocks("json").get(0)).path("mcpServers").path("files");
    List<String> command = new ArrayList<>();
    command.add(
        named.path("command").asText().replace("./ichido", ROOT.resolve("ichido").toString()));
    for (JsonNode argument : named.path("args")) {
      command.add(
          argument.asText().startsWith("npx ")
              ? String.join(" ", BookedTools.command(tools))
              : argument.asText());
    }
    Process door =
        new ProcessBuilder(command)
            .directory(home.toFile())
            .redirectError(home.resolve("stderr").toFile())
            .start();
    try (McpTalk client = new McpTalk(door.getInputStream(), door.getOutputStream())) {
      client.initialized();
      for (String marker : List.of("EXECUTED", "REPLAYED")) {
        JsonNode result = client.call("pay", "", "{\"operation_id\":\"readme-order-17-pay\"}");
        assertThat(result.path("_meta").path("dev.ichido/marker").asText()).isEqualTo(marker);
      }
      assertThat(BookedTools.book(tools)).containsExactly("pay {}");
    }
    assertThat(door.waitFor(30, TimeUnit.SECONDS)).as("ends with its client").isTrue();
    assertThat(door.exitValue()).as(stderr()).isZero();
  }

  /**
   * Those with a configuration run against the servers of {@code up}, in a database of their own.
   */
  private static void runFromTheText(Predicate<String> chosen) throws Exception {
    List<String> commands =
        INLINE
            .matcher(readme)
            .results()
            .map(it -> it.group(1))
            .flatMap(ReadmeIT::spread)
            .filter(chosen)
            .toList();
    assertThat(commands).hasSizeGreaterThan(1);
    for (String command : commands) {
      Process process = start(command.replace("FILE", "alone.yaml"));
      boolean stays = command.endsWith("--config FILE") && !command.contains(" migrate ");
      if (stays) {
        await()
            .atMost(LIMIT)
            .until(() -> !process.isAlive() || stderr().contains(" is ready; health and metrics"));
        process.destroy();
      }
      assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(command).isTrue();
      assertThat(process.exitValue())
          .as("%s%n%s", command, stderr())
          .isEqualTo(stays ? ENDED_BY_SIGTERM : 0);
    }
  }

  /** {@code ./ichido a|b c} says two commands. */
  private static Stream<String> spread(String command) {
    String[] words = command.split(" ", 3);
    String rest = words.length > 2 ? " " + words[2] : "";
    return Pattern.compile("\\|").splitAsStream(words[1]).map(it -> words[0] + " " + it + rest);
  }

  private static void writeConfig(JsonNode endpoints) throws IOException, SQLException {
    try (Connection admin = connect(endpoints);
        Statement sql = admin.createStatement()) {
      sql.execute("create database alone");
    }
    String database =
        "url: '%s', user: '%s', password: '${file:.ichido/postgres/password}'"
            .formatted(
                endpoints.get("database_url").asText().replaceFirst("/[^/?]+(\\?|$)", "/alone$1"),
                endpoints.get("database_user").asText());
    Files.writeString(
        home.resolve("alone.yaml"),
        """
        kafka: { bootstrap.servers: '%s' }
        registry: { schema.registry.url: '%s' }
        topics: { prefix: alone, partitions: 1 }
        outbox: { %s, slot: alone }
        processor: { application_id: alone, state_dir: alone }
        executor: { database: { %s } }
        inbox: { database: { %s } }
        """
            .formatted(
                endpoints.get("bootstrap_servers").asText(),
                endpoints.get("registry_url").asText(),
                database,
                database,
                database));
  }

  @Test
  void theJavaExampleIsTheOneThatRuns() throws IOException {
    String source =
        Files.readString(Path.of("src/test/java/dev/ichido/readme/FirstIntent.java"), UTF_8)
            .stripIndent();
    String shown = blocks("java").get(0).strip().indent(4).stripTrailing();
    assertThat(source).contains(shown);
  }

  @Test
  void everyLinkLeadsSomewhere() {
    List<String> links =
        LINK.matcher(readme).results().map(it -> it.group(1)).filter(it -> !it.isBlank()).toList();
    assertThat(links).hasSizeGreaterThan(5);
    assertThat(links).allSatisfy(link -> assertThat(ROOT.resolve(link)).exists());
  }

  private static List<String> blocks(String language) {
    List<String> found = new ArrayList<>();
    for (MatchResult block : BLOCK.matcher(readme).results().toList()) {
      if (block.group(1).equals(language)) {
        found.add(block.group(2).strip());
      }
    }
    assertThat(found).as(language).isNotEmpty();
    return found;
  }

  private static Process start(String command) throws IOException {
    String located =
        command.replace("./ichido", "'" + ROOT.resolve("ichido") + "'").replace(README_DOOR, door);
    return new ProcessBuilder("bash", "-c", "exec " + located)
        .directory(home.toFile())
        .redirectError(home.resolve("stderr").toFile())
        .start();
  }

  private static Ran run(String command) throws IOException, InterruptedException {
    Process process = start(command);
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(command).isTrue();
    return new Ran(process.exitValue(), out, stderr());
  }

  private static String stderr() throws IOException {
    return Files.readString(home.resolve("stderr"));
  }

  private static JsonNode endpoints(Process up) throws IOException {
    try (var parser = new ObjectMapper().createParser(up.getInputStream())) {
      return parser.readValueAsTree();
    }
  }

  private static Connection connect(JsonNode endpoints) throws IOException, SQLException {
    return DriverManager.getConnection(
        endpoints.get("database_url").asText(),
        endpoints.get("database_user").asText(),
        Files.readString(home.resolve(".ichido/postgres/password")).strip());
  }

  private static String deliver(Connection connection, String statement) throws SQLException {
    try (Statement sql = connection.createStatement();
        ResultSet row = sql.executeQuery(statement)) {
      assertThat(row.next()).isTrue();
      return row.getString(1);
    }
  }

  private static String lastVerdict(Connection connection, String delivery) {
    return await()
        .atMost(LIMIT)
        .until(() -> findLastVerdict(connection, delivery), it -> !it.isEmpty());
  }

  private static String findLastVerdict(Connection connection, String delivery)
      throws SQLException {
    try (var sql =
        connection.prepareStatement(
            "select verdict from ichido.inbox_reply where delivery_id = ? and final")) {
      sql.setString(1, delivery);
      try (ResultSet row = sql.executeQuery()) {
        return row.next() ? row.getString(1) : "";
      }
    }
  }
}
