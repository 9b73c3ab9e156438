package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.schemas.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where a running all-in-one can be reached. It is kept in the data folder while it runs, so that
 * other commands find it; the password is not in it.
 *
 * @param databaseUrl {@code jdbc:postgresql://…}
 * @param httpUrl health and metrics
 * @param gatewayUrl the HTTP door
 * @param topicPrefix what the name of every topic begins with
 * @param config file of its tenants and actions; null for the built-in ones
 */
public record Endpoints(
    long pid,
    String bootstrapServers,
    String databaseUrl,
    String databaseUser,
    String registryUrl,
    String httpUrl,
    String gatewayUrl,
    String topicPrefix,
    @Nullable String config) {
  private static final String FILE = "endpoints.json";
  private static final String BEGUN = "started_at";

  /** The system counts from its start, and says when that was to the second only. */
  private static final Duration TOLERANCE = Duration.ofSeconds(2);

  private static final JsonMapper JSON = new JsonMapper();

  /** A document for machines. */
  public ObjectNode toJson() {
    return JSON.createObjectNode()
        .put("pid", pid)
        .put("bootstrap_servers", bootstrapServers)
        .put("database_url", databaseUrl)
        .put("database_user", databaseUser)
        .put("registry_url", registryUrl)
        .put("http_url", httpUrl)
        .put("gateway_url", gatewayUrl)
        .put("topic_prefix", topicPrefix)
        .put("config", config);
  }

  void write(Path folder) throws IOException {
    Path draft = folder.resolve(FILE + ".new");
    ObjectNode document = toJson();
    begun(ProcessHandle.current()).ifPresent(at -> document.put(BEGUN, at.toString()));
    Files.writeString(draft, document.toPrettyString() + "\n", UTF_8);
    Files.move(draft, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
  }

  static void delete(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(FILE));
  }

  /** After a kill or a loss of power the number may be another process's. */
  private static boolean isSame(ProcessHandle process, String begun) {
    return begun.isEmpty()
        || begun(process)
            .map(at -> Duration.between(Instant.parse(begun), at).abs().compareTo(TOLERANCE) <= 0)
            .orElse(true);
  }

  private static Optional<Instant> begun(ProcessHandle process) {
    return process.info().startInstant();
  }

  /** Those of the process that runs on the folder, if one does. */
  public static Optional<Endpoints> find(Path folder) {
    try {
      JsonNode node = JSON.readTree(Files.readString(folder.resolve(FILE), UTF_8));
      long pid = node.path("pid").asLong();
      if (ProcessHandle.of(pid)
          .filter(ProcessHandle::isAlive)
          .filter(process -> isSame(process, node.path(BEGUN).asText()))
          .isEmpty()) {
        return Optional.empty();
      }
      return Optional.of(
          new Endpoints(
              pid,
              node.path("bootstrap_servers").asText(),
              node.path("database_url").asText(),
              node.path("database_user").asText(),
              node.path("registry_url").asText(),
              node.path("http_url").asText(),
              node.path("gateway_url").asText(),
              node.path("topic_prefix").asText(Topics.DEFAULT_PREFIX),
              node.path("config").isTextual() ? node.path("config").asText() : null));
    } catch (IOException none) {
      return Optional.empty();
    }
  }
}
