package dev.ichido.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.RegistryUnavailableException;
import dev.ichido.schemas.wire.UndecodableRecordException;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Confluent's serializers in the place of ours. */
class ConfluentSerializerTest {
  private static final String SERIALIZER = "io.confluent.kafka.serializers.KafkaAvroSerializer";
  private static final String TOPIC = "ichido.intents";

  private RegistryServer server;
  private RecordSerdes ours;
  private RecordSerdes confluents;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(
        present(), "Confluent's serializers are not on the class path; build with -Pconfluent");
    server = RegistryServer.start(new InMemoryRegistryLog(), 0);
    ours = RecordSerdes.from(Map.of("schema.registry.url", server.url()));
    confluents =
        RecordSerdes.from(
            Map.of(
                "schema.registry.url",
                server.url(),
                RecordSerdes.SERIALIZER_CLASS,
                SERIALIZER,
                RecordSerdes.DESERIALIZER_CLASS,
                SERIALIZER.replace("AvroSer", "AvroDeser")));
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  private static boolean present() {
    try {
      Class.forName(SERIALIZER);
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static ToolIntent intent() {
    return ToolIntent.newBuilder()
        .setTenant("t1")
        .setDeliveryId("d-1")
        .setPrincipal("agent:a")
        .setIssuedAt(Instant.parse("2026-01-01T00:00:00.123Z"))
        .build();
  }

  @Test
  void bytesAreTheSameAndEachReadsTheOthers() {
    byte[] fromOurs = ours.serializer(ToolIntent.class).serialize(TOPIC, intent());
    byte[] fromConfluents = confluents.serializer(ToolIntent.class).serialize(TOPIC, intent());

    assertThat(fromConfluents).isEqualTo(fromOurs);
    assertThat(confluents.deserializer(ToolIntent.class).deserialize(TOPIC, fromOurs))
        .isEqualTo(intent());
    OperationReply reply =
        OperationReply.newBuilder()
            .setTenant("t1")
            .setScope("global")
            .setDeliveryId("d-1")
            .setPrincipal("agent:a")
            .setVerdict("CLAIMED")
            .setDiffering(List.of("amount"))
            .setDecidedAt(Instant.EPOCH)
            .build();
    byte[] bytes = ours.serializer(OperationReply.class).serialize("r", reply);
    assertThat(
            confluents
                .deserializer(OperationReply.class)
                .deserialize("r", bytes)
                .getDiffering()
                .get(0))
        .isEqualTo("amount");
  }

  @Test
  void poisonAndAnAbsentRegistryAreToldApart() {
    byte[] bytes = ours.serializer(ToolIntent.class).serialize(TOPIC, intent());
    byte[] cutOff = Arrays.copyOf(bytes, bytes.length - 1);

    assertThatThrownBy(() -> confluents.deserializer(ToolIntent.class).deserialize(TOPIC, cutOff))
        .isInstanceOf(UndecodableRecordException.class);
    server.close();
    assertThatThrownBy(() -> confluents.deserializer(ToolIntent.class).deserialize(TOPIC, bytes))
        .isInstanceOf(RegistryUnavailableException.class);
  }
}
