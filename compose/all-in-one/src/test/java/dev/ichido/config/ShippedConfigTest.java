package dev.ichido.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.executor.http.ExecutorContracts;
import dev.ichido.topology.policy.Ages;
import dev.ichido.topology.policy.PolicyLoader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file that the compose stack mounts is one that the roles can read. */
class ShippedConfigTest {
  @TempDir Path temp;

  @Test
  void theFileOfTheComposeStackLoadsWhole() throws IOException {
    Path secret = Files.writeString(temp.resolve("password"), "from-file\n");
    String text =
        Files.readString(Path.of("..", "config", "ichido.yaml"))
            .replace("/run/secrets/postgres_password", secret.toString());
    IchidoConfig config = new ConfigLoader(name -> null).load("ichido.yaml", text);
    assertThat(config.outbox().password()).isEqualTo("from-file");
    assertThat(config.http().port()).isEqualTo(8080);
    assertThat(
            PolicyLoader.released()
                .loadFrom(config.policy(), new Ages(Optional.empty(), Optional.empty()))
                .actions())
        .containsOnlyKeys("demo.note", "demo.look");
    assertThat(ExecutorContracts.parse(config.policy().root().path("actions")))
        .containsOnlyKeys("demo.note", "demo.look");
  }

  @Test
  void noSecretStandsInIt() throws IOException {
    assertThat(Files.readAllLines(Path.of("..", "config", "ichido.yaml")))
        .filteredOn(line -> line.contains("password:"))
        .isNotEmpty()
        .allMatch(line -> line.contains("${file:"));
  }
}
