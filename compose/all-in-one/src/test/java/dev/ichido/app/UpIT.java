package dev.ichido.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.cli.Ran;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The stack as a process, and other commands beside it. */
class UpIT {
  @TempDir Path temp;

  @Test
  void theStackServesOtherCommandsRefusesASecondOneAndEndsSoon() throws Exception {
    String data = temp.resolve("data").toString();
    try (Launched up = Launched.start(temp, "up", "--data", data, "--json")) {
      up.awaitErr("all up");
      JsonNode endpoints = new JsonMapper().readTree(up.out());
      assertThat(endpoints.path("bootstrap_servers").asText()).startsWith("127.0.0.1:");

      Ran second = Ran.of("up", "--data", data);
      assertThat(second.code()).isEqualTo(2);
      assertThat(second.err()).contains("DATA_FOLDER_IN_USE").contains("--data");

      Ran first = publish(data, "{\"text\":\"hello\"}");
      assertThat(first.code()).as(first.err()).isZero();
      assertThat(first.out()).contains("SETTLED").contains("effect-1");
      assertThat(publish(data, "{ \"text\" : \"hello\" }").out())
          .contains("REPLAYED")
          .contains("effect-1");
      assertThat(publish(data, "{\"text\":\"changed\"}").out()).contains("FINGERPRINT_MISMATCH");

      assertThat(Ran.of("health", "--data", data).code()).isZero();
      assertThat(Ran.of("replies", "--data", data).out())
          .contains("SETTLED", "REPLAYED")
          .doesNotContain("CLAIMED");

      long asked = System.nanoTime();
      up.terminate();
      assertThat(up.awaitExit()).isIn(0, 143);
      assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(10));
    }
    // No stack runs now: the database in the folder is started for the command alone.
    assertThat(Ran.of("operation", "show", "demo", "hello-operation-0001", "--data", data).out())
        .contains("SUCCEEDED");
  }

  private static Ran publish(String data, String arguments) {
    return Ran.of(
        "publish",
        "--data",
        data,
        "--action",
        "demo.note",
        "--operation-id",
        "hello-operation-0001",
        "--issued-at",
        Instant.now().truncatedTo(ChronoUnit.HOURS).toString(),
        "--arguments",
        arguments,
        "--wait",
        "60");
  }
}
