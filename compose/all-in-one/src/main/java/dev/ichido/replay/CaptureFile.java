package dev.ichido.replay;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.cli.CommandException;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.WireException;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.avro.AvroTypeException;
import org.apache.avro.Schema;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.JsonEncoder;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * Records in a file, to be sent again elsewhere: JSON lines. The first names the format and the
 * schemas that the records were read with; each other one is a record, decoded, since the ids of a
 * registry mean nothing to another. What can't be decoded is kept as its bytes.
 */
public final class CaptureFile {
  private static final String FORMAT = "ichido-capture/1";
  private static final JsonMapper JSON = new JsonMapper();

  private final RecordSerdes serdes;

  /** Of a system with these schemas. */
  public CaptureFile(RecordSerdes serdes) {
    this.serdes = serdes;
  }

  /**
   * Writes a file that only its owner may read: it holds arguments and results.
   *
   * @param cluster id of the cluster that they come from
   */
  public void write(Path file, String cluster, List<Recorded> records, Topics topics)
      throws IOException {
    Path draft = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(draft);
    if (draft.toAbsolutePath().getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createFile(
          draft,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    ObjectNode head = JSON.createObjectNode().put("format", FORMAT).put("cluster", cluster);
    ObjectNode schemas = head.putObject("schemas");
    for (ReplayTopic topic : ReplayTopic.values()) {
      schemas.set(topic.word(), JSON.readTree(schema(topic).toString()));
    }
    try (BufferedWriter out =
        Files.newBufferedWriter(
            draft, UTF_8, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      out.write(head + "\n");
      for (Recorded record : records) {
        out.write(line(record, topics) + "\n");
      }
    }
    Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private ObjectNode line(Recorded record, Topics topics) throws IOException {
    ObjectNode line =
        JSON.createObjectNode().put("topic", record.topic().word()).put("at", record.at());
    if (record.key() != null) {
      line.put("key", Base64.getEncoder().encodeToString(record.key()));
    }
    ObjectNode headers = line.putObject("headers");
    for (Header header : record.headers()) {
      byte[] bytes = header.value();
      if (bytes != null) {
        headers.put(header.key(), Base64.getEncoder().encodeToString(bytes));
      }
    }
    byte[] value = record.value();
    if (value == null) {
      return line;
    }
    try {
      SpecificRecordBase decoded =
          serdes.deserializer(record.topic().type()).deserialize(record.topic().in(topics), value);
      line.set("value", JSON.readTree(encode(decoded)));
    } catch (WireException e) {
      line.put("bytes", Base64.getEncoder().encodeToString(value));
    }
    return line;
  }

  private static String encode(SpecificRecordBase record) throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    JsonEncoder encoder = EncoderFactory.get().jsonEncoder(record.getSchema(), text);
    new SpecificDatumWriter<SpecificRecordBase>(record.getSchema(), record.getSpecificData())
        .write(record, encoder);
    encoder.flush();
    return text.toString(UTF_8);
  }

  /**
   * Reads a file for a system whose topics have these names.
   *
   * @throws CommandException CAPTURE_UNREADABLE
   */
  public Capture read(Path file, Selection selection, Topics topics) {
    List<Recorded> records = new ArrayList<>();
    int number = 1;
    try (BufferedReader in = Files.newBufferedReader(file, UTF_8)) {
      JsonNode head = head(in.readLine());
      Map<ReplayTopic, Schema> schemas = schemas(head);
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        number++;
        Recorded record = record(JSON.readTree(line), schemas, topics);
        if (selection.topics().contains(record.topic()) && selection.holds(record)) {
          records.add(record);
        }
      }
      return new Capture(Optional.ofNullable(head.path("cluster").textValue()), records);
    } catch (IOException | AvroTypeException | IllegalArgumentException e) {
      throw CommandException.usage(
          "CAPTURE_UNREADABLE",
          "Expected a file that ichido capture wrote, but "
              + file
              + " can't be read as one at line "
              + number
              + " ("
              + e.getClass().getSimpleName()
              + "). Check the file.",
          e);
    }
  }

  private static JsonNode head(@Nullable String line) throws IOException {
    JsonNode head = JSON.readTree(line == null ? "" : line);
    if (!FORMAT.equals(head.path("format").asText())) {
      throw new IOException("The first line does not say " + FORMAT + ".");
    }
    return head;
  }

  private static Map<ReplayTopic, Schema> schemas(JsonNode head) {
    Map<ReplayTopic, Schema> schemas = new EnumMap<>(ReplayTopic.class);
    for (ReplayTopic topic : ReplayTopic.values()) {
      schemas.put(
          topic, new Schema.Parser().parse(head.path("schemas").path(topic.word()).toString()));
    }
    return schemas;
  }

  private Recorded record(JsonNode line, Map<ReplayTopic, Schema> schemas, Topics topics)
      throws IOException {
    ReplayTopic topic = ReplayTopic.valueOf(line.path("topic").asText().toUpperCase(Locale.ROOT));
    List<Header> headers = new ArrayList<>();
    for (Map.Entry<String, JsonNode> header : line.path("headers").properties()) {
      headers.add(new RecordHeader(header.getKey(), header.getValue().binaryValue()));
    }
    byte[] value = line.path("bytes").binaryValue();
    if (line.has("value")) {
      SpecificRecordBase decoded =
          decode(topic, Objects.requireNonNull(schemas.get(topic)), line.path("value"));
      value = serialize(topic, topic.in(topics), decoded);
    }
    return new Recorded(
        topic, line.path("at").asLong(), line.path("key").binaryValue(), value, headers);
  }

  @SuppressWarnings("unchecked") // The type of the topic is the type of the record.
  private byte[] serialize(ReplayTopic topic, String name, SpecificRecordBase record) {
    return serdes.serializer((Class<SpecificRecordBase>) topic.type()).serialize(name, record);
  }

  private static SpecificRecordBase decode(ReplayTopic topic, Schema written, JsonNode value)
      throws IOException {
    Schema wanted = schema(topic);
    SpecificDatumReader<SpecificRecordBase> reader =
        new SpecificDatumReader<>(written, wanted, SpecificData.getForClass(topic.type()));
    return reader.read(null, DecoderFactory.get().jsonDecoder(written, value.toString()));
  }

  private static Schema schema(ReplayTopic topic) {
    return SpecificData.get().getSchema(topic.type());
  }
}
