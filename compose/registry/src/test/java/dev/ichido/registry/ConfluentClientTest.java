package dev.ichido.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.schemas.PublishedSchema;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.TopicSpec;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.ParsedSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.SchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.Config;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumReader;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumWriter;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.avro.shaded.org.apache.avro.io.BinaryEncoder;
import org.apache.flink.avro.shaded.org.apache.avro.io.DecoderFactory;
import org.apache.flink.avro.shaded.org.apache.avro.io.EncoderFactory;
import org.apache.flink.formats.avro.registry.confluent.ConfluentSchemaRegistryCoder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Confluent's own client (7.5.3, with an Avro of its own) against this registry and our bytes. */
class ConfluentClientTest {
  private static final List<TopicSpec> TOPICS = Topics.withDefaultPrefix().specs(1, (short) 1);
  private static final TopicSpec INTENTS = TOPICS.get(0);
  private static final Instant AT = Instant.parse("2026-01-01T00:00:00.123Z");

  private RegistryServer server;
  private SchemaRegistryClient confluent;
  private RecordSerdes ours;

  @BeforeEach
  void start() throws IOException {
    server = RegistryServer.start(new InMemoryRegistryLog(), 0);
    confluent = client();
    ours = RecordSerdes.from(Map.of("schema.registry.url", server.url()));
  }

  private SchemaRegistryClient client() {
    return new CachedSchemaRegistryClient(server.url(), 100);
  }

  @AfterEach
  void stop() throws IOException {
    confluent.close();
    server.close();
  }

  private static AvroSchema confluents(TopicSpec topic) {
    return new AvroSchema(topic.schema().toString());
  }

  private static ToolIntent intent() {
    return ToolIntent.newBuilder()
        .setTenant("t1")
        .setOperationId("op-0000000000000001")
        .setDeliveryId("d-1")
        .setPrincipal("agent:a")
        .setAction("pay.transfer")
        .setArguments("{\"note\":\"一度 €\"}")
        .setIssuedAt(AT)
        .build();
  }

  private static GenericRecord sameIntent(Schema schema) {
    GenericRecord record = new GenericData.Record(schema);
    for (Schema.Field field : schema.getFields()) {
      if (field.hasDefaultValue()) {
        record.put(field.name(), GenericData.get().getDefaultValue(field));
      }
    }
    record.put("tenant", "t1");
    record.put("operation_id", "op-0000000000000001");
    record.put("delivery_id", "d-1");
    record.put("principal", "agent:a");
    record.put("action", "pay.transfer");
    record.put("arguments", "{\"note\":\"一度 €\"}");
    record.put("issued_at", AT.toEpochMilli());
    return record;
  }

  @Test
  void schemasOfAllTopicsAreRegisteredAndComeBack() throws Exception {
    for (TopicSpec topic : TOPICS) {
      int id = confluent.register(topic.subject(), confluents(topic));

      assertThat(client().getSchemaById(id).canonicalString())
          .isEqualTo(confluents(topic).canonicalString());
      assertThat(client().getId(topic.subject(), confluents(topic))).isEqualTo(id);
      assertThat(client().getVersion(topic.subject(), confluents(topic))).isEqualTo(1);
      assertThat(client().getLatestSchemaMetadata(topic.subject()).getId()).isEqualTo(id);
      assertThat(client().getAllVersions(topic.subject())).containsExactly(1);
      assertThat(client().getAllSubjectsById(id)).containsExactly(topic.subject());
    }
    assertThat(confluent.getAllSubjects())
        .containsExactlyInAnyOrderElementsOf(TOPICS.stream().map(TopicSpec::subject).toList());
    assertThat(confluent.getSchemas("ichido.", false, true)).hasSize(TOPICS.size());
  }

  @Test
  void oursFindsWhatConfluentsRegistered() throws Exception {
    int id = confluent.register(INTENTS.subject(), confluents(INTENTS));
    RecordSerdes careful =
        RecordSerdes.from(
            Map.of("schema.registry.url", server.url(), "auto.register.schemas", false));

    byte[] bytes = careful.serializer(ToolIntent.class).serialize(INTENTS.name(), intent());

    assertThat(bytes[4]).isEqualTo((byte) id);
    assertThat(confluent.getAllVersions(INTENTS.subject())).containsExactly(1);
  }

  @Test
  void bytesAreTheSame() throws Exception {
    byte[] fromOurs = ours.serializer(ToolIntent.class).serialize(INTENTS.name(), intent());

    Schema schema = confluents(INTENTS).rawSchema();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new ConfluentSchemaRegistryCoder(INTENTS.subject(), client()).writeSchema(schema, out);
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(schema).write(sameIntent(schema), encoder);
    encoder.flush();

    assertThat(fromOurs).isEqualTo(out.toByteArray());
    assertThat(ours.deserializer(ToolIntent.class).deserialize(INTENTS.name(), out.toByteArray()))
        .isEqualTo(intent());
  }

  @Test
  void confluentsReadsWhatOursWrote() throws Exception {
    byte[] bytes = ours.serializer(ToolIntent.class).serialize(INTENTS.name(), intent());

    ByteArrayInputStream in = new ByteArrayInputStream(bytes);
    Schema writer = new ConfluentSchemaRegistryCoder(client()).readSchema(in);
    GenericRecord read =
        new GenericDatumReader<GenericRecord>(writer)
            .read(null, DecoderFactory.get().binaryDecoder(in, null));

    assertThat(read).isEqualTo(sameIntent(writer));
  }

  @Test
  void compatibilityAndItsLevelsAreUnderstood() throws Exception {
    confluent.register("s", parsed("{'name':'a','type':'string'}"));
    ParsedSchema wider = parsed("{'name':'a','type':'string'},{'name':'b','type':'int'}");

    assertThat(confluent.getConfig("").getCompatibilityLevel()).isEqualTo("FULL_TRANSITIVE");
    assertThat(confluent.testCompatibility("s", wider)).isFalse();
    assertThat(confluent.testCompatibilityVerbose("s", wider)).isNotEmpty();
    assertRefused(() -> confluent.register("s", wider), 409, 409);

    assertThat(confluent.updateCompatibility("s", "NONE")).isEqualTo("NONE");
    assertThat(confluent.getCompatibility("s")).isEqualTo("NONE");
    assertThat(confluent.register("s", wider)).isEqualTo(2);
    confluent.deleteConfig("s");
    assertRefused(() -> confluent.getCompatibility("s"), 404, 40408);
    assertThat(confluent.updateConfig("t", new Config("BACKWARD")).getCompatibilityLevel())
        .isEqualTo("BACKWARD");
  }

  private static AvroSchema parsed(String fields) {
    return new AvroSchema(
        ("{'type':'record','name':'R','fields':[" + fields + "]}").replace('\'', '"'));
  }

  @Test
  void modesAndDeletionAreUnderstood() throws Exception {
    confluent.register("s", parsed("{'name':'a','type':'string'}"));

    assertThat(confluent.getMode()).isEqualTo("READWRITE");
    assertThat(confluent.setMode("READONLY", "s")).isEqualTo("READONLY");
    assertThat(confluent.getMode("s")).isEqualTo("READONLY");
    confluent.deleteMode("s");
    assertThat(confluent.deleteSchemaVersion("s", "1")).isEqualTo(1);
    assertThat(client().getSchemaById(1)).isNotNull();
    assertRefused(() -> client().getLatestSchemaMetadata("s"), 404, 40401);
  }

  @Test
  void errorsCarryTheCodesThatItExpects() {
    assertRefused(() -> confluent.getSchemaById(77), 404, 40403);
    assertRefused(() -> confluent.getLatestSchemaMetadata("none"), 404, 40401);
    assertRefused(() -> confluent.getSchemaMetadata("none", 3), 404, 40401);
    assertRefused(() -> confluent.getId("none", confluents(INTENTS)), 404, 40401);
  }

  @Test
  void generatedClassAndSourceFileAreOneVersion() throws Exception {
    confluent.register(
        INTENTS.subject(),
        new AvroSchema(PublishedSchema.of(ToolIntent.getClassSchema()).toString()));
    ours.serializer(ToolIntent.class).serialize(INTENTS.name(), intent());

    assertThat(confluent.getAllVersions(INTENTS.subject())).containsExactly(1);
  }

  private static void assertRefused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, int status, int code) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            RestClientException.class,
            e -> {
              assertThat(e.getStatus()).isEqualTo(status);
              assertThat(e.getErrorCode()).isEqualTo(code);
            });
  }
}
