package dev.ichido.schemas.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.PublishedSchema;
import dev.ichido.schemas.Samples;
import dev.ichido.schemas.ToolIntent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordSerdesTest {
  private static final String TOPIC = "ichido.intents";
  private static final String SUBJECT = "ichido.intents-value";

  private ScriptedRegistry registry;
  private Serializer<ToolIntent> serializer;
  private Deserializer<ToolIntent> deserializer;

  @BeforeEach
  void start() {
    registry = new ScriptedRegistry();
    serializer = serdes(Map.of()).serializer(ToolIntent.class);
    deserializer = serdes(Map.of()).deserializer(ToolIntent.class);
  }

  @AfterEach
  void stop() {
    registry.close();
  }

  private RecordSerdes serdes(Map<String, ?> more) {
    Map<String, Object> config = new HashMap<>();
    config.put("schema.registry.url", registry.url());
    config.put("retries.wait.ms", 0);
    config.putAll(more);
    return RecordSerdes.from(config);
  }

  @Test
  void recordComesBackEqual() {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());

    assertThat(deserializer.deserialize(TOPIC, bytes)).isEqualTo(Samples.intent());
    assertThat(deserializer.deserialize(TOPIC, null, ByteBuffer.wrap(bytes)))
        .isEqualTo(Samples.intent());
  }

  @Test
  void textsOfAListComeBackAsText() {
    OperationReply reply = Samples.reply();
    byte[] bytes = serdes(Map.of()).serializer(OperationReply.class).serialize("r", reply);

    OperationReply back =
        serdes(Map.of()).deserializer(OperationReply.class).deserialize("r", bytes);

    assertThat(back.getDiffering())
        .containsExactly("amount", "note")
        .hasOnlyElementsOfType(String.class);
  }

  @Test
  void bytesAreMagicIdAndAvro() throws IOException {
    for (int i = 0; i < 300; i++) {
      registry.knows("other", "\"filler" + i + "\"");
    }

    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());

    assertThat(HexFormat.of().formatHex(bytes, 0, 5)).isEqualTo("000000012d");
    assertThat(Arrays.copyOfRange(bytes, 5, bytes.length))
        .isEqualTo(
            Arrays.copyOfRange(
                ToolIntent.getEncoder().encode(Samples.intent()).array(), 10, bytes.length + 5));
  }

  @Test
  void noValueIsNoBytes() {
    assertThat(serializer.serialize(TOPIC, null)).isNull();
    assertThat(deserializer.deserialize(TOPIC, (byte[]) null)).isNull();
    assertThat(registry.calls()).isEmpty();
  }

  @Test
  void registryIsAskedOnceForEachSchema() {
    for (int i = 0; i < 10; i++) {
      deserializer.deserialize(TOPIC, serializer.serialize(TOPIC, Samples.intent()));
    }

    assertThat(registry.calls())
        .extracting(ScriptedRegistry.Call::request)
        .containsExactly("POST /subjects/" + SUBJECT + "/versions", "GET /schemas/ids/1");
  }

  @Test
  void registeredSchemaIsTheOneThatOtherLanguagesKnow() {
    serializer.serialize(TOPIC, Samples.intent());

    assertThat(registry.schemas())
        .singleElement()
        .asString()
        .doesNotContain("avro.java.string")
        .contains("\"name\":\"ToolIntent\"");
  }

  @Test
  void recordsOfDifferentSizesDoNotMixInTheReusedBuffer() {
    ToolIntent large =
        ToolIntent.newBuilder(Samples.intent()).setArguments("x".repeat(100_000)).build();

    for (ToolIntent intent : new ToolIntent[] {Samples.intent(), large, Samples.intent()}) {
      assertThat(deserializer.deserialize(TOPIC, serializer.serialize(TOPIC, intent)))
          .isEqualTo(intent);
    }
  }

  @Test
  void olderAndNewerWritersAreRead() throws IOException {
    Schema current = PublishedSchema.of(ToolIntent.getClassSchema());
    Schema newer = withField(current, "added_later", "more");
    GenericRecord record = new GenericData.Record(newer);
    newer.getFields().forEach(f -> record.put(f.name(), defaultOf(f)));
    record.put("tenant", "t1");
    record.put("delivery_id", "d");
    record.put("principal", "p");
    byte[] fromNewer = encoded(registry.knows(SUBJECT, newer.toString()), newer, record);

    Schema older = withoutFields(current, "discriminator", "compensates", "arguments");
    GenericRecord old = new GenericData.Record(older);
    older.getFields().forEach(f -> old.put(f.name(), defaultOf(f)));
    old.put("tenant", "t2");
    old.put("delivery_id", "d");
    old.put("principal", "p");
    byte[] fromOlder = encoded(registry.knows(SUBJECT, older.toString()), older, old);

    assertThat(deserializer.deserialize(TOPIC, fromNewer).getTenant()).isEqualTo("t1");
    assertThat(deserializer.deserialize(TOPIC, fromOlder).getTenant()).isEqualTo("t2");
    assertThat(deserializer.deserialize(TOPIC, fromOlder).getArguments()).isEqualTo("{}");
  }

  @Test
  void fewerThanFiveBytesCanNeverBeDecoded() {
    for (int length = 0; length < 5; length++) {
      assertUndecodable(new byte[length], "RECORD_TOO_SHORT");
    }
    assertThat(registry.calls()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(bytes = {1, 0x7b, -1})
  void foreignMagicByteCanNeverBeDecoded(byte magic) {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());
    bytes[0] = magic;

    assertUndecodable(bytes, "RECORD_MAGIC");
  }

  @Test
  void unknownIdUnderAKnownTopicCanNeverBeDecoded() {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());
    bytes[4] = 77;

    assertUndecodable(bytes, "RECORD_SCHEMA_UNKNOWN");
  }

  @Test
  void registryThatForgotTheTopicIsNoReasonToDropARecord() {
    byte[] bytes = {0, 0, 0, 0, 77, 1, 2, 3};

    assertUnavailable(() -> deserializer.deserialize(TOPIC, bytes), "REGISTRY_FORGOT");
  }

  @Test
  void recordOfAnotherTypeCanNeverBeDecoded() {
    byte[] reply =
        serdes(Map.of()).serializer(OperationReply.class).serialize(TOPIC, Samples.reply());

    assertUndecodable(reply, "RECORD_SCHEMA_FOREIGN");
  }

  @Test
  void primitiveSchemaIsForeign() {
    int id = registry.knows(SUBJECT, "\"string\"");

    assertUndecodable(new byte[] {0, 0, 0, 0, (byte) id, 2, 'x'}, "RECORD_SCHEMA_FOREIGN");
  }

  @Test
  void schemaThatLacksARequiredFieldIsIncompatible() {
    Schema other =
        SchemaBuilder.record("ToolIntent")
            .namespace("dev.ichido.schemas")
            .fields()
            .requiredLong("tenant")
            .endRecord();
    int id = registry.knows(SUBJECT, other.toString());

    assertUndecodable(new byte[] {0, 0, 0, 0, (byte) id, 2}, "RECORD_SCHEMA_INCOMPATIBLE");
  }

  @Test
  void schemaOfAnotherLanguageIsUnusable() {
    registry.knows(SUBJECT, "anything");
    registry.answerNext(200, "{\"schemaType\":\"PROTOBUF\",\"schema\":\"syntax\"}");

    assertUndecodable(new byte[] {0, 0, 0, 0, 9, 2}, "RECORD_SCHEMA_UNUSABLE");

    registry.answerNext(200, "{\"schema\":\"{\\\"type\\\":\\\"nonsense\\\"}\"}");
    assertUndecodable(new byte[] {0, 0, 0, 0, 9, 2}, "RECORD_SCHEMA_UNUSABLE");
  }

  @Test
  void bytesAfterTheRecordAreRefused() {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 3);

    assertThat(assertUndecodable(longer, "RECORD_TRAILING_BYTES")).hasMessageContaining("3 bytes");
  }

  @Test
  void everyCutOffRecordIsMalformed() {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());

    for (int length = 5; length < bytes.length; length++) {
      assertUndecodable(Arrays.copyOf(bytes, length), "RECORD_MALFORMED");
    }
  }

  @Test
  void damagedBytesNeverThrowAnythingElse() {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());
    Random random = new Random(20260101);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] damaged = bytes.clone();
      for (int n = random.nextInt(1, 6); n > 0; n--) {
        damaged[random.nextInt(5, damaged.length)] = (byte) random.nextInt();
      }
      try {
        deserializer.deserialize(TOPIC, damaged);
      } catch (UndecodableRecordException e) {
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(1_000);
    assertThat(deserializer.deserialize(TOPIC, bytes)).isEqualTo(Samples.intent());
  }

  @Test
  void lengthOfGigabytesIsRefusedWithoutTakingThem() {
    registry.knows(SUBJECT, PublishedSchema.of(ToolIntent.getClassSchema()).toString());
    // kind = EXECUTE, then a tenant of 2,147,483,000 bytes.
    byte[] bytes = HexFormat.of().parseHex("0000000001" + "02" + "f0f5ffff0f" + "78");

    assertUndecodable(bytes, "RECORD_MALFORMED");
  }

  @Test
  void messagesDoNotCarryValues() {
    ToolIntent secret = ToolIntent.newBuilder(Samples.intent()).setArguments("hunter2").build();
    byte[] bytes = serializer.serialize(TOPIC, secret);

    Throwable cutOff =
        assertUndecodable(Arrays.copyOf(bytes, bytes.length - 1), "RECORD_MALFORMED");
    Throwable trailing =
        assertUndecodable(Arrays.copyOf(bytes, bytes.length + 1), "RECORD_TRAILING_BYTES");
    Throwable unwritable =
        catchThrowableOfType(
            SchemaRefusedException.class, () -> serializer.serialize(TOPIC, broken("hunter2")));

    assertThat(cutOff).hasStackTraceContaining("Undecodable").message().doesNotContain("hunter2");
    for (Throwable t : new Throwable[] {cutOff, trailing, unwritable}) {
      java.io.StringWriter text = new java.io.StringWriter();
      t.printStackTrace(new java.io.PrintWriter(text));
      assertThat(text.toString()).doesNotContain("hunter2");
    }
    assertThat(((WireException) unwritable).code()).isEqualTo("RECORD_UNWRITABLE");
  }

  /** A record whose tenant is missing, as only the generated constructor allows. */
  private static ToolIntent broken(String arguments) {
    ToolIntent intent = new ToolIntent();
    intent.put("arguments", arguments);
    return intent;
  }

  @Test
  void serializerGoesOnAfterARecordItCouldNotWrite() {
    assertThatThrownBy(() -> serializer.serialize(TOPIC, broken("{}")))
        .isInstanceOf(SchemaRefusedException.class);

    assertThat(deserializer.deserialize(TOPIC, serializer.serialize(TOPIC, Samples.intent())))
        .isEqualTo(Samples.intent());
  }

  @Test
  void unreachableRegistryIsNoReasonToDropARecord() {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());
    registry.close();

    assertUnavailable(() -> deserializer.deserialize(TOPIC, bytes), "REGISTRY_UNREACHABLE");
    assertUnavailable(
        () -> serializer.serialize("another", Samples.intent()), "REGISTRY_UNREACHABLE");
    assertThat(serializer.serialize(TOPIC, Samples.intent())).as("id is known").isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 502, 503, 429, 408})
  void failingRegistryIsAskedAgainAndThenUnavailable(int status) {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());
    registry.answerNext(status, "{\"error_code\":50001,\"message\":\"no\"}");
    registry.answerNext(status, "<html>gateway</html>");

    assertThat(deserializer.deserialize(TOPIC, bytes)).isEqualTo(Samples.intent());

    Deserializer<ToolIntent> second =
        serdes(Map.of("max.retries", "1")).deserializer(ToolIntent.class);
    registry.answerNext(status, "");
    registry.answerNext(status, "");
    assertUnavailable(() -> second.deserialize(TOPIC, bytes), "REGISTRY_FAILING");
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 403})
  void refusedCredentialsAreNoReasonToDropARecord(int status) {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());
    registry.answerNext(status, "{\"error_code\":401,\"message\":\"no\"}");

    assertUnavailable(() -> deserializer.deserialize(TOPIC, bytes), "REGISTRY_ACCESS");
  }

  @Test
  void webServerThatIsNoRegistryIsNoReasonToDropARecord() {
    byte[] bytes = serializer.serialize(TOPIC, Samples.intent());
    Deserializer<ToolIntent> fresh =
        serdes(Map.of("max.retries", 0)).deserializer(ToolIntent.class);

    for (String page : new String[] {"<html/>", "{}", "{\"id\":1}", ""}) {
      registry.answerNext(200, page);
      assertUnavailable(() -> fresh.deserialize(TOPIC, bytes), "REGISTRY_NOT_UNDERSTOOD");
    }
    registry.answerNext(404, "{\"error_code\":404,\"message\":\"HTTP 404 Not Found\"}");
    assertUnavailable(() -> fresh.deserialize(TOPIC, bytes), "REGISTRY_NOT_UNDERSTOOD");
  }

  @Test
  void incompatibleSchemaIsRefusedWithTheReason() {
    registry.answerNext(409, "{\"error_code\":409,\"message\":\"READER_FIELD_MISSING\"}");

    assertThatThrownBy(() -> serializer.serialize(TOPIC, Samples.intent()))
        .isInstanceOfSatisfying(
            SchemaRefusedException.class,
            e -> assertThat(e.code()).isEqualTo("SCHEMA_INCOMPATIBLE"))
        .hasMessageContaining(SUBJECT)
        .hasMessageContaining("READER_FIELD_MISSING");
  }

  @Test
  void withoutAutoRegisterTheSchemaMustBeThere() {
    Serializer<ToolIntent> careful =
        serdes(Map.of("auto.register.schemas", "false")).serializer(ToolIntent.class);

    assertThatThrownBy(() -> careful.serialize(TOPIC, Samples.intent()))
        .isInstanceOfSatisfying(
            SchemaRefusedException.class,
            e -> assertThat(e.code()).isEqualTo("SCHEMA_NOT_REGISTERED"));

    serializer.serialize(TOPIC, Samples.intent());
    assertThat(deserializer.deserialize(TOPIC, careful.serialize(TOPIC, Samples.intent())))
        .isEqualTo(Samples.intent());
  }

  @Test
  void secondRegistryAnswersWhenTheFirstDoesNot() {
    ScriptedRegistry gone = new ScriptedRegistry();
    gone.close();

    byte[] bytes =
        serdes(Map.of("schema.registry.url", gone.url() + "," + registry.url() + "/"))
            .serializer(ToolIntent.class)
            .serialize(TOPIC, Samples.intent());

    assertThat(deserializer.deserialize(TOPIC, bytes)).isEqualTo(Samples.intent());
  }

  @Test
  void credentialsAreSentAndNotShown() {
    String withUser = registry.url().replace("//", "//me:hunter2@");
    serdes(Map.of("schema.registry.url", withUser))
        .serializer(ToolIntent.class)
        .serialize(TOPIC, Samples.intent());
    serdes(
            Map.of(
                "basic.auth.credentials.source", "USER_INFO", "basic.auth.user.info", "me:hunter2"))
        .serializer(ToolIntent.class)
        .serialize(TOPIC, Samples.intent());
    serdes(Map.of("bearer.auth.token", "hunter2"))
        .serializer(ToolIntent.class)
        .serialize(TOPIC, Samples.intent());

    assertThat(registry.calls())
        .extracting(ScriptedRegistry.Call::authorization)
        .containsExactly("Basic bWU6aHVudGVyMg==", "Basic bWU6aHVudGVyMg==", "Bearer hunter2");

    registry.close();
    assertThatThrownBy(
            () ->
                serdes(Map.of("schema.registry.url", withUser))
                    .serializer(ToolIntent.class)
                    .serialize(TOPIC, Samples.intent()))
        .isInstanceOf(RegistryUnavailableException.class)
        .message()
        .doesNotContain("hunter2");
  }

  @Test
  void wrongSettingsAreNamed() {
    assertThatThrownBy(() -> RecordSerdes.from(Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("schema.registry.url");
    for (String url : new String[] {"", "localhost:8081", "ftp://h:1", "http://", "http://a b"}) {
      assertThatThrownBy(() -> serdes(Map.of("schema.registry.url", url)))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("schema.registry.url");
    }
    assertThatThrownBy(() -> serdes(Map.of(RecordSerdes.SERIALIZER_CLASS, "no.such.Class")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("no.such.Class")
        .hasMessageContaining("-Pconfluent");
    assertThatThrownBy(() -> serdes(Map.of(RecordSerdes.DESERIALIZER_CLASS, "java.lang.String")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(RecordSerdes.DESERIALIZER_CLASS);
    assertThatThrownBy(() -> serdes(Map.of("value.subject.name.strategy", "x.RecordNameStrategy")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("value.subject.name.strategy");
  }

  @Test
  void kafkaCanMakeTheClassesFromTheirNames() {
    RegistryAvroSerializer<ToolIntent> made = new RegistryAvroSerializer<>();
    made.configure(Map.of("schema.registry.url", registry.url()), false);
    RegistryAvroDeserializer<ToolIntent> read = new RegistryAvroDeserializer<>();
    read.configure(
        Map.of(
            "schema.registry.url",
            registry.url(),
            "specific.avro.value.type",
            ToolIntent.class.getName()),
        false);

    assertThat(read.deserialize(TOPIC, made.serialize(TOPIC, Samples.intent())))
        .isEqualTo(Samples.intent());
    assertThatThrownBy(
            () ->
                new RegistryAvroDeserializer<ToolIntent>()
                    .configure(Map.of("schema.registry.url", registry.url()), false))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("specific.avro.value.type");
  }

  @Test
  void undecodableIsFoundBehindTheWrappersOfConsumers() {
    UndecodableRecordException poison = UndecodableRecordException.tooShort(TOPIC, 1);

    assertThat(UndecodableRecordException.find(new RuntimeException(new IOException(poison))))
        .containsSame(poison);
    assertThat(UndecodableRecordException.find(new RuntimeException("other"))).isEmpty();
  }

  public static final class ForeignStub implements Serializer<Object>, Deserializer<Object> {
    static Map<String, ?> seen = Map.of();

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
      seen = Map.copyOf(configs);
    }

    @Override
    public byte[] serialize(String topic, Object data) {
      throw failure(topic);
    }

    @Override
    public Object deserialize(String topic, byte[] data) {
      if (topic.equals("other-class")) {
        return "text";
      }
      throw failure(topic);
    }

    @Override
    public void close() {}

    private static RuntimeException failure(String topic) {
      return switch (topic) {
        case "network" -> new RuntimeException(new java.net.ConnectException("refused"));
        case "kafka" -> new TimeoutException("later");
        default -> new RuntimeException(new java.io.EOFException());
      };
    }
  }

  @Test
  void failuresOfForeignSerializersComeInOurWords() {
    RecordSerdes foreign =
        serdes(
            Map.of(
                RecordSerdes.SERIALIZER_CLASS,
                ForeignStub.class.getName(),
                RecordSerdes.DESERIALIZER_CLASS,
                ForeignStub.class,
                "some.setting",
                "passed"));
    Serializer<ToolIntent> writer = foreign.serializer(ToolIntent.class);
    Deserializer<ToolIntent> reader = foreign.deserializer(ToolIntent.class);

    assertThat(ForeignStub.seen.get("some.setting")).isEqualTo("passed");
    assertThat(ForeignStub.seen.get("specific.avro.value.type")).isEqualTo(ToolIntent.class);
    for (String topic : new String[] {"network", "kafka"}) {
      assertUnavailable(() -> reader.deserialize(topic, new byte[1]), "REGISTRY_UNREACHABLE");
      assertUnavailable(() -> writer.serialize(topic, Samples.intent()), "REGISTRY_UNREACHABLE");
    }
    assertThatThrownBy(() -> reader.deserialize("damaged", new byte[1]))
        .isInstanceOf(UndecodableRecordException.class);
    assertThatThrownBy(() -> reader.deserialize("other-class", new byte[1]))
        .isInstanceOf(UndecodableRecordException.class)
        .hasMessageContaining("java.lang.String");
    assertThatThrownBy(() -> writer.serialize("damaged", Samples.intent()))
        .isInstanceOf(SchemaRefusedException.class);
  }

  private Throwable assertUndecodable(byte[] bytes, String code) {
    UndecodableRecordException e =
        catchThrowableOfType(
            UndecodableRecordException.class, () -> deserializer.deserialize(TOPIC, bytes));
    assertThat(e).as("decoding %s", HexFormat.of().formatHex(bytes)).isNotNull();
    assertThat(e.code()).isEqualTo(code);
    assertThat(e).hasMessageStartingWith("Expected ").hasMessageContaining("Check ");
    return e;
  }

  private static void assertUnavailable(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String code) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            RegistryUnavailableException.class, e -> assertThat(e.code()).isEqualTo(code))
        .hasMessageStartingWith("Expected ")
        .hasMessageContaining("Check ");
  }

  private static @Nullable Object defaultOf(Schema.Field field) {
    return field.hasDefaultValue() ? GenericData.get().getDefaultValue(field) : null;
  }

  private static Schema withField(Schema schema, String name, String value) {
    var fields =
        new java.util.ArrayList<>(
            schema.getFields().stream().map(f -> new Schema.Field(f, f.schema())).toList());
    fields.add(new Schema.Field(name, Schema.create(Schema.Type.STRING), null, value));
    return Schema.createRecord(schema.getName(), null, schema.getNamespace(), false, fields);
  }

  private static Schema withoutFields(Schema schema, String... names) {
    return Schema.createRecord(
        schema.getName(),
        null,
        schema.getNamespace(),
        false,
        schema.getFields().stream()
            .filter(f -> !Arrays.asList(names).contains(f.name()))
            .map(f -> new Schema.Field(f, f.schema()))
            .toList());
  }

  private static byte[] encoded(int id, Schema schema, GenericRecord record) throws IOException {
    var out = new java.io.ByteArrayOutputStream();
    out.write(ByteBuffer.allocate(5).put((byte) 0).putInt(id).array());
    var encoder = EncoderFactory.get().binaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(schema).write(record, encoder);
    encoder.flush();
    return out.toByteArray();
  }
}
