package dev.ichido.schemas.wire;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * Writes generated records in Confluent's wire format: magic byte 0, the schema's id in 4 bytes,
 * Avro's binary encoding. The subject is the topic's name and {@code -value}. Safe for use by many
 * threads.
 */
public final class RegistryAvroSerializer<T extends SpecificRecordBase> implements Serializer<T> {
  static final int HEADER_BYTES = 5;
  private static final int KEPT_BYTES = 1 << 20;

  private final Map<Target, Writer<T>> writers = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable Scratch> spare = new AtomicReference<>();
  private volatile @Nullable RegistryClient client;

  private record Target(String topic, Class<?> type) {}

  private record Writer<T>(int id, DatumWriter<T> datum, String name) {}

  /** For Kafka, which calls {@link #configure}. */
  public RegistryAvroSerializer() {}

  /** Over a client that the caller shares. */
  public RegistryAvroSerializer(RegistryClient client) {
    this.client = client;
  }

  @Override
  public void configure(Map<String, ?> configs, boolean isKey) {
    if (isKey) {
      throw new ConfigException(
          "Expected to write values, but this serializer is set for keys. Check key.serializer: keys are text.");
    }
    if (client == null) {
      client = RegistryClient.from(configs);
    }
  }

  /**
   * @throws RegistryUnavailableException when the schema's id cannot be learned now
   * @throws SchemaRefusedException when the registry refuses the schema, or the record is not whole
   */
  @Override
  public byte @Nullable [] serialize(String topic, @Nullable T value) {
    if (value == null) {
      return null;
    }
    Target target = new Target(topic, value.getClass());
    Writer<T> writer = writers.get(target);
    if (writer == null) {
      writer = writer(topic, value);
      writers.put(target, writer);
    }
    Scratch taken = spare.getAndSet(null);
    Scratch scratch = taken == null ? new Scratch() : taken;
    try {
      byte[] bytes = scratch.encode(writer.id, writer.datum, value);
      if (bytes.length <= KEPT_BYTES) {
        spare.set(scratch);
      }
      return bytes;
    } catch (IOException | RuntimeException e) {
      throw SchemaRefusedException.unwritable(topic, writer.name, e);
    }
  }

  private Writer<T> writer(String topic, T value) {
    RegistryClient registry = client;
    if (registry == null) {
      throw new IllegalStateException(
          "Expected configure() before serialize(), but it was not called.");
    }
    Schema schema = value.getSchema();
    String subject = topic + "-value";
    int id =
        registry.autoRegister()
            ? registry.register(subject, schema)
            : registry.requireId(subject, schema);
    return new Writer<>(
        id,
        new SpecificDatumWriter<>(schema, SpecificData.getForClass(value.getClass())),
        schema.getFullName());
  }

  /** A growing array that the encoder writes into; one copy leaves it. */
  private static final class Scratch extends OutputStream {
    private byte[] bytes = new byte[512];
    private int length;
    private final BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(this, null);

    <T> byte[] encode(int id, DatumWriter<T> datum, T value) throws IOException {
      bytes[0] = 0;
      bytes[1] = (byte) (id >>> 24);
      bytes[2] = (byte) (id >>> 16);
      bytes[3] = (byte) (id >>> 8);
      bytes[4] = (byte) id;
      length = HEADER_BYTES;
      datum.write(value, encoder);
      encoder.flush();
      return Arrays.copyOf(bytes, length);
    }

    @Override
    public void write(int b) {
      room(1);
      bytes[length++] = (byte) b;
    }

    @Override
    public void write(byte[] source, int offset, int count) {
      room(count);
      System.arraycopy(source, offset, bytes, length, count);
      length += count;
    }

    private void room(int count) {
      int needed = Math.addExact(length, count);
      if (needed > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length << 1));
      }
    }
  }
}
