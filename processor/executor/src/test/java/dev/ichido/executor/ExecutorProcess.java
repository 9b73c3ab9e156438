package dev.ichido.executor;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.executor.http.ExecutorContracts;
import dev.ichido.executor.http.HttpRemotes;
import dev.ichido.schemas.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * An executor in a process of its own, to be killed. It is the role as it ships, with the time of a
 * clock that the test sets. A member of the group by name, so that the next process of that name
 * has its partitions at once.
 */
final class ExecutorProcess {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final String name;

  private ExecutorProcess(Process process, String name) {
    this.process = process;
    this.name = name;
  }

  /** As it signs its claims and its connections. */
  String name() {
    return name;
  }

  /** Starts it and waits until it consumes. */
  static ExecutorProcess start(
      Path folder, Stack stack, Topics topics, JsonNode actions, Path clock, String name)
      throws IOException {
    ObjectNode settings = JSON.createObjectNode();
    settings.set("kafka", JSON.valueToTree(stack.kafka()));
    settings.set("registry", JSON.valueToTree(stack.registrySettings()));
    settings
        .put("url", stack.database.url())
        .put("user", stack.database.user())
        .put("password", stack.database.password())
        .put("prefix", topics.prefix())
        .put("clock", clock.toString())
        .put("name", name)
        .set("actions", actions);
    Path file = Files.writeString(folder.resolve(name + ".json"), settings.toString());
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                ExecutorProcess.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    if (!"ready".equals(out.readLine())) {
      process.destroyForcibly();
      throw new IllegalStateException("Expected an executor that is ready, but it ended.");
    }
    return new ExecutorProcess(process, name);
  }

  /** kill -9. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  public static void main(String[] arguments) throws IOException {
    JsonNode settings = JSON.readTree(Files.readString(Path.of(arguments[0])));
    String name = settings.path("name").textValue();
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(settings.path("url").textValue());
    pool.setUsername(settings.path("user").textValue());
    pool.setPassword(settings.path("password").textValue());
    pool.setMaximumPoolSize(4);
    pool.addDataSourceProperty("ApplicationName", name);
    Map<String, String> kafka = new HashMap<>(texts(settings.path("kafka")));
    kafka.put("group.instance.id", "executor");
    SharedClock clock = SharedClock.at(Path.of(settings.path("clock").textValue()));
    HttpRemotes remotes = HttpRemotes.of(ExecutorContracts.parse(settings.path("actions")), clock);
    ExecutorRole role =
        new ExecutorRole(
            new ExecutorConfig(
                name,
                kafka,
                texts(settings.path("registry")),
                settings.path("prefix").textValue(),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                false),
            new HikariDataSource(pool),
            remotes.handlers(),
            new SimpleMeterRegistry(),
            clock);
    role.start();
    await().atMost(Duration.ofSeconds(60)).until(role::ready);
    System.out.println("ready");
    // Whoever started it holds the other end; it must not outlive the tests.
    while (System.in.read() >= 0) {}
    Runtime.getRuntime().halt(1);
  }

  private static Map<String, String> texts(JsonNode node) {
    Map<String, String> texts = new HashMap<>();
    node.properties().forEach(e -> texts.put(e.getKey(), e.getValue().asText()));
    return texts;
  }
}
