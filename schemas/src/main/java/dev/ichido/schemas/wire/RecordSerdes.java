package dev.ichido.schemas.wire;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Serializers of the records' values, of the classes that the configuration names. Whichever class
 * does the work, failures come as {@link WireException}.
 *
 * <p>Keys: {@code registry.serializer.class} and {@code registry.deserializer.class} (ours unless
 * set; Confluent's {@code KafkaAvroSerializer} and {@code KafkaAvroDeserializer} fit). Everything
 * else is passed through to them: {@code schema.registry.url}, {@code auto.register.schemas},
 * {@code basic.auth.*}, {@code schema.registry.ssl.*} and so on.
 */
public final class RecordSerdes {
  public static final String SERIALIZER_CLASS = "registry.serializer.class";
  public static final String DESERIALIZER_CLASS = "registry.deserializer.class";

  private final Map<String, Object> config;
  private final Class<?> serializerClass;
  private final Class<?> deserializerClass;
  private final @Nullable RegistryClient shared;

  /**
   * Serdes as the configuration names them.
   *
   * @throws ConfigException when a class cannot be loaded or a setting is not understood; no
   *     message carries a secret
   */
  public static RecordSerdes from(Map<String, ?> config) {
    return new RecordSerdes(config);
  }

  private RecordSerdes(Map<String, ?> given) {
    config = new LinkedHashMap<>();
    // What Confluent's classes need to read and write as ours do; a setting of one's own wins.
    config.put("specific.avro.reader", true);
    config.put("avro.remove.java.properties", true);
    config.putAll(given);
    serializerClass = named(SERIALIZER_CLASS, RegistryAvroSerializer.class, Serializer.class);
    deserializerClass =
        named(DESERIALIZER_CLASS, RegistryAvroDeserializer.class, Deserializer.class);
    boolean ours =
        serializerClass == RegistryAvroSerializer.class
            || deserializerClass == RegistryAvroDeserializer.class;
    shared = ours ? RegistryClient.from(config) : null;
  }

  private Class<?> named(String key, Class<?> byDefault, Class<?> role) {
    Object value = config.remove(key);
    if (value == null) {
      return byDefault;
    }
    Class<?> type;
    try {
      type =
          value instanceof Class<?> given ? given : Utils.loadClass(value.toString(), Object.class);
    } catch (ClassNotFoundException e) {
      throw new ConfigException(
          "Expected the class that %s names, but %s is not on the class path. Check the name, and build with -Pconfluent for Confluent's classes."
              .formatted(key, value));
    }
    if (!role.isAssignableFrom(type)) {
      throw new ConfigException(
          "Expected a Kafka %s, but %s is none. Check %s."
              .formatted(role.getSimpleName(), type.getName(), key));
    }
    return type;
  }

  public <T extends SpecificRecordBase> Serde<T> serde(Class<T> type) {
    return Serdes.serdeFrom(serializer(type), deserializer(type));
  }

  public <T extends SpecificRecordBase> Serializer<T> serializer(Class<T> type) {
    if (shared != null && serializerClass == RegistryAvroSerializer.class) {
      return new RegistryAvroSerializer<>(shared);
    }
    @SuppressWarnings(
        "unchecked") // It writes any generated record; the type is checked by the caller.
    Serializer<Object> foreign = (Serializer<Object>) Utils.newInstance(serializerClass);
    foreign.configure(config, false);
    return new ForeignSerializer<>(foreign, type);
  }

  public <T extends SpecificRecordBase> Deserializer<T> deserializer(Class<T> type) {
    if (shared != null && deserializerClass == RegistryAvroDeserializer.class) {
      return new RegistryAvroDeserializer<>(shared, type);
    }
    @SuppressWarnings("unchecked") // What it reads is checked record by record.
    Deserializer<Object> foreign = (Deserializer<Object>) Utils.newInstance(deserializerClass);
    Map<String, Object> typed = new LinkedHashMap<>(config);
    typed.put(RegistrySettings.RECORD_TYPE, type);
    foreign.configure(typed, false);
    return new ForeignDeserializer<>(foreign, type);
  }
}
