package dev.ichido.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.wire.RecordSerdes;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

@TestMethodOrder(org.junit.jupiter.api.MethodOrderer.MethodName.class)
class JdbcRegistryLogIT {
  @TempDir static Path temp;
  private static EmbeddedDatabase database;

  @BeforeAll
  static void start() {
    database = EmbeddedDatabase.start(temp.resolve("pg"));
  }

  @AfterAll
  static void stop() {
    database.close();
  }

  @Test
  void positionIsWrittenOnceAndReadInOrder() {
    JdbcRegistryLog log = JdbcRegistryLog.migrated(database.dataSource());
    long end = log.read(0).size();

    String event = "{\"event\":\"mode_set\"}";
    assertThat(log.tryAppend(end, event)).isTrue();
    assertThat(log.tryAppend(end, "other")).isFalse();
    assertThat(log.tryAppend(end + 1, event)).isTrue();

    assertThat(JdbcRegistryLog.migrated(database.dataSource()).read(end))
        .containsExactly(event, event);
  }

  @Test
  void idsSurviveARestart() throws Exception {
    ToolIntent intent =
        ToolIntent.newBuilder().setTenant("t").setDeliveryId("d").setPrincipal("p").build();
    byte[] bytes;
    try (RegistryServer server =
        RegistryServer.start(JdbcRegistryLog.migrated(database.dataSource()), 0)) {
      bytes = serdes(server).serializer(ToolIntent.class).serialize("x", intent);
    }
    try (RegistryServer server =
        RegistryServer.start(JdbcRegistryLog.migrated(database.dataSource()), 0)) {
      assertThat(serdes(server).deserializer(ToolIntent.class).deserialize("x", bytes))
          .isEqualTo(intent);
      assertThat(serdes(server).serializer(ToolIntent.class).serialize("x", intent))
          .isEqualTo(bytes);
    }
  }

  @Test
  void zzzDatabaseThatIsGoneIsNamed() {
    JdbcRegistryLog log = JdbcRegistryLog.migrated(database.dataSource());
    database.close();

    assertThatThrownBy(() -> log.read(0))
        .isInstanceOf(RegistryLogException.class)
        .hasMessageContaining("Check the database");
    assertThatThrownBy(() -> log.tryAppend(0, "x"))
        .isInstanceOf(RegistryLogException.class)
        .hasMessageContaining("Check the database");
  }

  private static RecordSerdes serdes(RegistryServer server) {
    return RecordSerdes.from(Map.of("schema.registry.url", server.url()));
  }
}
