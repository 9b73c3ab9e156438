package dev.ichido.readme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every command, statement, snippet and link of the README is taken at its word. */
class ReadmeIT {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w+)\\n(.*?)^```$");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)\\)");
  private static final Duration LIMIT = Duration.ofMinutes(4);

  @TempDir static Path home;
  private static String readme = "";

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

    assertThat(commands).contains("./ichido up");
    Process up = start("./ichido up --json");
    try {
      JsonNode endpoints = endpoints(up);
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
        if (command.startsWith("mvn")) {
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
    String located = command.replace("./ichido", "'" + ROOT.resolve("ichido") + "'");
    return new ProcessBuilder("bash", "-c", "exec " + located)
        .directory(home.toFile())
        .redirectError(home.resolve("stderr").toFile())
        .start();
  }

  private static Ran run(String command) throws IOException, InterruptedException {
    Process process = start(command);
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(command).isTrue();
    return new Ran(process.exitValue(), out, Files.readString(home.resolve("stderr")));
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
