package dev.ichido.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;

/**
 * One run of the agents of the demo. Its name goes into the lineage of every call and its start is
 * the time at which every call was issued, so both are kept in the data folder: a run that was cut
 * short goes on as the same run, with the same operations.
 *
 * @param input digest of the input
 * @param finished whether it was seen to its end
 * @param begun whether it is new now
 */
record DemoRun(String name, String input, Instant issuedAt, boolean finished, boolean begun) {
  private static final String FILE = "run.json";
  private static final JsonMapper JSON = new JsonMapper();

  /**
   * Below the retention of the demo's actions, so that a repeated run replays and is not refused.
   */
  private static final Duration REPEATABLE = Duration.ofHours(20);

  /**
   * The run to go on with: the last one when it used the same input and was cut short, or is to be
   * repeated; else a new one.
   *
   * @param repeat whether a finished run is repeated: the same operations once more
   */
  static DemoRun resumeOrBegin(Path folder, byte[] input, boolean repeat, Instant now)
      throws IOException {
    String digest = sha256(input);
    Optional<DemoRun> last = find(folder);
    if (last.isPresent()
        && last.get().input().equals(digest)
        && (repeat || !last.get().finished())
        && last.get().issuedAt().plus(REPEATABLE).isAfter(now)) {
      return last.get();
    }
    DemoRun run = new DemoRun("demo-" + UUID.randomUUID(), digest, now, false, true);
    run.write(folder);
    return run;
  }

  /** Remembers that all of it was answered. */
  DemoRun finish(Path folder) throws IOException {
    DemoRun done = new DemoRun(name, input, issuedAt, true, false);
    done.write(folder);
    return done;
  }

  private void write(Path folder) throws IOException {
    Files.createDirectories(folder);
    Path draft = folder.resolve(FILE + ".new");
    Files.writeString(
        draft,
        JSON.createObjectNode()
                .put("name", name)
                .put("input_sha256", input)
                .put("issued_at", issuedAt.toString())
                .put("finished", finished)
                .toPrettyString()
            + "\n",
        UTF_8);
    Files.move(draft, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
  }

  private static Optional<DemoRun> find(Path folder) throws IOException {
    Path file = folder.resolve(FILE);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    JsonNode node = JSON.readTree(Files.readString(file, UTF_8));
    return Optional.of(
        new DemoRun(
            node.path("name").asText(),
            node.path("input_sha256").asText(),
            Instant.parse(node.path("issued_at").asText()),
            node.path("finished").asBoolean(),
            false));
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected SHA-256, which every JDK has.", e);
    }
  }
}
