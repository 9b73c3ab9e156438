package dev.ichido.app;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** The suite on containers: {@code mvn -Pcontainers verify}. */
@EnabledIfSystemProperty(
    named = "ichido.containers",
    matches = "true",
    disabledReason = "runs with -Pcontainers only")
@EnabledIf(value = "dockerAnswers", disabledReason = "no Docker engine answers here")
class ContainersWholePathIT extends WholePathSuite {
  private static @Nullable KafkaContainer kafka;
  private static @Nullable PostgreSQLContainer postgres;

  static boolean dockerAnswers() {
    return DockerClientFactory.instance().isDockerAvailable();
  }

  @BeforeAll
  static void start() {
    kafka = new KafkaContainer("apache/kafka:4.3.1");
    kafka.start();
    postgres =
        new PostgreSQLContainer("postgres:18")
            .withCommand("postgres", "-c", "wal_level=logical", "-c", "max_slot_wal_keep_size=1GB");
    postgres.start();
  }

  @AfterAll
  static void stop() {
    if (postgres != null) {
      postgres.stop();
    }
    if (kafka != null) {
      kafka.stop();
    }
  }

  @Override
  Servers servers() {
    if (kafka == null || postgres == null) {
      throw new IllegalStateException("Expected containers, but they were not started.");
    }
    return new Servers(
        kafka.getBootstrapServers(),
        postgres.getJdbcUrl(),
        postgres.getUsername(),
        postgres.getPassword());
  }
}
