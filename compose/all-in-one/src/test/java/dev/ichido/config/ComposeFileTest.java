package dev.ichido.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** There is no engine to start it with here, so its words are held to what they name. */
class ComposeFileTest {
  private static final Path COMPOSE = Path.of("..", "compose.yaml");
  private static JsonNode services = new YAMLMapper().createObjectNode();

  @BeforeAll
  static void read() throws IOException {
    services = new YAMLMapper().readTree(COMPOSE.toFile()).get("services");
  }

  @Test
  void everyRoleReadsTheShippedConfiguration() {
    for (String role : List.of("migrate", "relay", "processor", "executor", "inbox", "gateway")) {
      assertThat(services.path(role).path("command"))
          .as(role)
          .extracting(JsonNode::asText)
          .containsExactly(role, "--config", "/etc/ichido/ichido.yaml");
    }
    assertThat(Path.of("..", "config", "ichido.yaml")).exists();
  }

  @Test
  void theServersHaveTheNamesThatTheConfigurationUses() throws IOException {
    String config = Files.readString(Path.of("..", "config", "ichido.yaml"));
    assertThat(config).contains("broker:9092", "postgres:5432", "http://registry:8080");
    assertThat(services.fieldNames()).toIterable().contains("broker", "postgres", "registry");
  }

  @Test
  void whatIsToBeKeptIsWrittenToItsVolume() throws IOException {
    String logs = services.at("/broker/environment/KAFKA_LOG_DIRS").asText();
    assertThat(services.at("/broker/volumes/0").asText()).isEqualTo("broker:" + logs);
    assertThat(services.at("/registry/environment/APICURIO_STORAGE_KIND").asText())
        .isEqualTo("kafkasql");
    assertThat(Files.readString(COMPOSE)).contains("    - state:/var/lib/ichido\n");
    assertThat(Files.readString(Path.of("..", "config", "ichido.yaml")))
        .contains("state_dir: /var/lib/ichido/");
    assertThat(Files.readString(Path.of("..", "Dockerfile")))
        .contains("install -d -o ichido -g ichido /var/lib/ichido");
  }

  @Test
  void noSecretStandsInIt() throws IOException {
    try (Stream<String> lines = Files.lines(COMPOSE)) {
      assertThat(lines)
          .filteredOn(line -> line.matches(".*(?i)password.*[:=].*"))
          .allMatch(line -> line.contains("secrets/") || line.strip().equals("postgres_password:"));
    }
  }

  @Test
  void theImageHoldsWhatTheBuildMakes() throws IOException {
    String dockerfile = Files.readString(Path.of("..", "Dockerfile"));
    assertThat(dockerfile)
        .contains(
            "compose/all-in-one/target/lib",
            "compose/all-in-one/target/ichido.jar",
            "compose/compiler.options");
  }
}
