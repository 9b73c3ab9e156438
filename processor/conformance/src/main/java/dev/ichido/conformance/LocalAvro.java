package dev.ichido.conformance;

import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.wire.RecordSerdes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;

/**
 * The wire format without a registry: the schemas of this build under fixed ids. It takes the place
 * of the serde by the very settings that Confluent's would.
 */
public final class LocalAvro {
  private static final List<Schema> SCHEMAS =
      List.of(
          ToolIntent.getClassSchema(),
          SideEffectCommand.getClassSchema(),
          OperationResult.getClassSchema(),
          OperationReply.getClassSchema(),
          JournalEntry.getClassSchema(),
          DeadLetter.getClassSchema());
  private static final int PREFIX = 1 + Integer.BYTES;

  private LocalAvro() {}

  /** The serdes of all records. */
  public static RecordSerdes serdes() {
    return RecordSerdes.from(
        Map.of(
            RecordSerdes.SERIALIZER_CLASS, Writer.class,
            RecordSerdes.DESERIALIZER_CLASS, Reader.class));
  }

  /** Writes any record of this build. */
  public static final class Writer implements Serializer<Object> {
    @Override
    public byte[] serialize(String topic, Object data) {
      if (!(data instanceof SpecificRecordBase value)) {
        throw new SerializationException(
            "Expected a record of this build, but got something else.");
      }
      try {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.write(
            ByteBuffer.allocate(PREFIX)
                .put((byte) 0)
                .putInt(SCHEMAS.indexOf(value.getSchema()))
                .array());
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
        new SpecificDatumWriter<SpecificRecordBase>(value.getSchema()).write(value, encoder);
        encoder.flush();
        return bytes.toByteArray();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Reads any record of this build. */
  public static final class Reader implements Deserializer<Object> {
    @Override
    public Object deserialize(String topic, byte[] data) {
      int id = data.length < PREFIX ? -1 : ByteBuffer.wrap(data, 1, Integer.BYTES).getInt();
      if (id < 0 || id >= SCHEMAS.size() || data[0] != 0) {
        throw new SerializationException("Expected a schema of this build, but got another.");
      }
      try {
        return new SpecificDatumReader<SpecificRecordBase>(SCHEMAS.get(id))
            .read(
                null, DecoderFactory.get().binaryDecoder(data, PREFIX, data.length - PREFIX, null));
      } catch (IOException e) {
        throw new SerializationException("Expected a whole record, but it ended early.", e);
      }
    }
  }
}
