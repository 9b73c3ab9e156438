package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.app.Launched;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short form of the battery, from the built jar. */
class FaultsIT {
  @TempDir Path temp;

  @Test
  @Tag("FR-09")
  @Tag("FR-11")
  @Tag("FR-14")
  void theShortFormHolds() throws Exception {
    try (Launched faults =
        Launched.start(
            temp,
            "faults",
            "--only",
            "concurrent-duplicate,key-reuse-mismatch,timeout-after-commit,crash-executor",
            "--operations",
            "200",
            "--json")) {
      assertThat(faults.awaitExit()).as(faults.err()).isZero();
      JsonNode report = new JsonMapper().readTree(faults.out());
      assertThat(report.path("scenarios")).hasSize(4);
      assertThat(report.path("failed").asInt()).isZero();
      assertThat(report.path("duplicate_effects").asInt()).isZero();
      assertThat(report.path("lost").asInt()).isZero();
      assertThat(report.path("operations").asInt()).isEqualTo(236);
    }
  }
}
