package dev.ichido.schemas.wire;

import java.util.function.Supplier;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/** A deserializer of the configuration, with its failures in our words and its answer checked. */
final class ForeignDeserializer<T extends SpecificRecordBase> implements Deserializer<T> {
  private final Deserializer<Object> foreign;
  private final Class<T> type;

  ForeignDeserializer(Deserializer<Object> foreign, Class<T> type) {
    this.foreign = foreign;
    this.type = type;
  }

  @Override
  public @Nullable T deserialize(String topic, byte @Nullable [] data) {
    return data == null ? null : translated(topic, () -> foreign.deserialize(topic, data));
  }

  @Override
  public @Nullable T deserialize(String topic, Headers headers, byte @Nullable [] data) {
    return data == null ? null : translated(topic, () -> foreign.deserialize(topic, headers, data));
  }

  private T translated(String topic, Supplier<@Nullable Object> call) {
    Object value;
    try {
      value = call.get();
    } catch (WireException | InterruptException e) {
      throw e;
    } catch (RuntimeException e) {
      if (ForeignFailures.registryIsMeant(e)) {
        throw RegistryUnavailableException.behindDeserializer(topic, e);
      }
      throw UndecodableRecordException.refusedByDeserializer(topic, type.getName(), e);
    }
    if (!type.isInstance(value)) {
      throw UndecodableRecordException.foreignClass(
          topic, type.getName(), value == null ? "null" : value.getClass().getName());
    }
    return type.cast(value);
  }

  @Override
  public void close() {
    foreign.close();
  }
}
