package dev.ichido.schemas.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.avro.AvroTypeException;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Reads records in Confluent's wire format into generated classes: the writer's schema by its id,
 * the reader's from the class. Safe for use by many threads.
 */
public final class RegistryAvroDeserializer<T extends SpecificRecordBase>
    implements Deserializer<T> {
  private static final int HEADER_BYTES = RegistryAvroSerializer.HEADER_BYTES;
  private static final byte MAGIC = 0;

  private final Map<Integer, DatumReader<T>> readers = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable BinaryDecoder> spare = new AtomicReference<>();
  private volatile @Nullable Source<T> source;

  private record Source<T>(
      RegistryClient registry, Class<T> type, Schema schema, SpecificData model) {
    static <T> Source<T> of(RegistryClient registry, Class<T> type) {
      SpecificData model = SpecificData.getForClass(type);
      return new Source<>(registry, type, model.getSchema(type), model);
    }
  }

  /** For Kafka, which calls {@link #configure}. */
  public RegistryAvroDeserializer() {}

  /** Over a client that the caller shares. */
  public RegistryAvroDeserializer(RegistryClient client, Class<T> type) {
    this.source = Source.of(client, type);
  }

  /**
   * @param configs the registry's settings and, as Confluent names it, {@code
   *     specific.avro.value.type}: the generated class to read into
   */
  @Override
  public void configure(Map<String, ?> configs, boolean isKey) {
    if (isKey) {
      throw new ConfigException(
          "Expected to read values, but this deserializer is set for keys. Check key.deserializer: keys are text.");
    }
    if (source == null) {
      source =
          Source.of(RegistryClient.from(configs), type(configs.get(RegistrySettings.RECORD_TYPE)));
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends SpecificRecordBase> Class<T> type(@Nullable Object configured) {
    try {
      Class<?> type =
          configured instanceof Class<?> given
              ? given
              : Utils.loadClass(String.valueOf(configured), Object.class);
      if (SpecificRecordBase.class.isAssignableFrom(type)) {
        return (Class<T>) type;
      }
    } catch (ClassNotFoundException e) {
      // The message below says all that there is to say.
    }
    throw new ConfigException(
        "Expected a generated record class, but %s is none. Check %s."
            .formatted(configured, RegistrySettings.RECORD_TYPE));
  }

  /**
   * @throws UndecodableRecordException when these bytes can never be read as the expected record
   * @throws RegistryUnavailableException when that cannot be told now
   */
  @Override
  public @Nullable T deserialize(String topic, byte @Nullable [] data) {
    if (data == null) {
      return null;
    }
    return read(topic, data, 0, data.length);
  }

  @Override
  public @Nullable T deserialize(
      String topic, org.apache.kafka.common.header.Headers headers, @Nullable ByteBuffer data) {
    if (data == null) {
      return null;
    }
    if (data.hasArray()) {
      return read(topic, data.array(), data.arrayOffset() + data.position(), data.remaining());
    }
    byte[] bytes = Utils.toArray(data);
    return read(topic, bytes, 0, bytes.length);
  }

  private T read(String topic, byte[] bytes, int offset, int length) {
    Source<T> from = source;
    if (from == null) {
      throw new IllegalStateException(
          "Expected configure() before deserialize(), but it was not called.");
    }
    if (length < HEADER_BYTES) {
      throw UndecodableRecordException.tooShort(topic, length);
    }
    if (bytes[offset] != MAGIC) {
      throw UndecodableRecordException.foreignMagic(topic, bytes[offset]);
    }
    int id = ByteBuffer.wrap(bytes, offset + 1, 4).getInt();
    DatumReader<T> reader = readers.get(id);
    if (reader == null) {
      reader = reader(from, topic, id);
      readers.put(id, reader);
    }
    return decode(from, reader, topic, id, bytes, offset + HEADER_BYTES, length - HEADER_BYTES);
  }

  private T decode(
      Source<T> from,
      DatumReader<T> reader,
      String topic,
      int id,
      byte[] bytes,
      int offset,
      int length) {
    String expected = from.schema.getFullName();
    BinaryDecoder decoder =
        DecoderFactory.get().binaryDecoder(bytes, offset, length, spare.getAndSet(null));
    T record;
    int trailing;
    try {
      record = reader.read(null, decoder);
      trailing = decoder.isEnd() ? 0 : decoder.inputStream().available();
    } catch (AvroTypeException e) {
      throw UndecodableRecordException.incompatibleSchema(topic, id, expected);
    } catch (IOException | RuntimeException e) {
      throw UndecodableRecordException.malformed(topic, id, expected, e);
    }
    if (trailing > 0) {
      throw UndecodableRecordException.trailingBytes(topic, id, expected, trailing);
    }
    spare.set(decoder);
    return record;
  }

  private static <T extends SpecificRecordBase> DatumReader<T> reader(
      Source<T> from, String topic, int id) {
    Schema writer = from.registry.requireSchema(topic, id);
    String expected = from.schema.getFullName();
    String found = writer.getType() == Schema.Type.RECORD ? writer.getFullName() : writer.getName();
    if (!expected.equals(found)) {
      throw UndecodableRecordException.foreignSchema(topic, id, expected, found);
    }
    return new SpecificDatumReader<>(writer, from.schema, from.model);
  }
}
