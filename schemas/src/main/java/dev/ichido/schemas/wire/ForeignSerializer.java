package dev.ichido.schemas.wire;

import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/** A serializer of the configuration, with its failures in our words. */
final class ForeignSerializer<T extends SpecificRecordBase> implements Serializer<T> {
  private final Serializer<Object> foreign;
  private final Class<T> type;

  ForeignSerializer(Serializer<Object> foreign, Class<T> type) {
    this.foreign = foreign;
    this.type = type;
  }

  @Override
  public byte @Nullable [] serialize(String topic, @Nullable T value) {
    return value == null ? null : translated(topic, () -> foreign.serialize(topic, value));
  }

  @Override
  public byte @Nullable [] serialize(String topic, Headers headers, @Nullable T value) {
    return value == null ? null : translated(topic, () -> foreign.serialize(topic, headers, value));
  }

  private byte[] translated(String topic, java.util.function.Supplier<byte[]> call) {
    try {
      return call.get();
    } catch (WireException | InterruptException e) {
      throw e;
    } catch (RuntimeException e) {
      if (ForeignFailures.registryIsMeant(e)) {
        throw RegistryUnavailableException.behindDeserializer(topic, e);
      }
      throw SchemaRefusedException.byForeignSerializer(topic, type.getName(), e);
    }
  }

  @Override
  public void close() {
    foreign.close();
  }
}
