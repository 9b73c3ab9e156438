package dev.ichido.schemas.wire;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * This record can never be decoded, however often it is read: it belongs to the dead letters. The
 * message names positions, ids and schemas, never a value of the record.
 *
 * <p>Consumers and Kafka Streams may wrap it; {@link #find(Throwable)} looks through that.
 */
public final class UndecodableRecordException extends WireException {
  private static final long serialVersionUID = 1L;

  private UndecodableRecordException(String code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }

  private UndecodableRecordException(String code, String message) {
    this(code, message, null);
  }

  /** The exception itself or the first of its kind among its causes. */
  public static Optional<UndecodableRecordException> find(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof UndecodableRecordException undecodable) {
        return Optional.of(undecodable);
      }
    }
    return Optional.empty();
  }

  static UndecodableRecordException tooShort(String topic, int bytes) {
    return new UndecodableRecordException(
        "RECORD_TOO_SHORT",
        "Expected at least 5 bytes of magic byte and schema id in topic \"%s\", but there are %d. Check that its producer writes Confluent's wire format."
            .formatted(topic, bytes));
  }

  static UndecodableRecordException foreignMagic(String topic, byte magic) {
    return new UndecodableRecordException(
        "RECORD_MAGIC",
        "Expected magic byte 0x00 in topic \"%s\", but it is 0x%02X. Check that its producer writes Confluent's wire format."
            .formatted(topic, magic));
  }

  static UndecodableRecordException unknownSchema(String topic, int id) {
    return new UndecodableRecordException(
        "RECORD_SCHEMA_UNKNOWN",
        "Expected a schema id that the registry knows in topic \"%s\", but it does not know %d. Check that its producer uses the same registry."
            .formatted(topic, id));
  }

  static UndecodableRecordException unusableSchema(
      String topic, int id, String what, @Nullable Throwable cause) {
    return new UndecodableRecordException(
        "RECORD_SCHEMA_UNUSABLE",
        "Expected schema %d of topic \"%s\" to be an Avro schema, but %s. Check what was registered under that id."
            .formatted(id, topic, what),
        cause);
  }

  static UndecodableRecordException foreignSchema(
      String topic, int id, String expected, String found) {
    return new UndecodableRecordException(
        "RECORD_SCHEMA_FOREIGN",
        "Expected records of %s in topic \"%s\", but schema %d is of %s. Check which producer writes to this topic."
            .formatted(expected, topic, id, found));
  }

  static UndecodableRecordException incompatibleSchema(String topic, int id, String expected) {
    return new UndecodableRecordException(
        "RECORD_SCHEMA_INCOMPATIBLE",
        "Expected schema %d of topic \"%s\" to be readable as %s, but it is not compatible. Check the registry's compatibility level and which version the reader was built with."
            .formatted(id, topic, expected));
  }

  static UndecodableRecordException malformed(
      String topic, int id, String expected, Throwable cause) {
    return new UndecodableRecordException(
        "RECORD_MALFORMED",
        "Expected %s in schema %d in topic \"%s\", but the bytes do not follow it (%s). Check its producer."
            .formatted(expected, id, topic, cause.getClass().getSimpleName()));
  }

  static UndecodableRecordException trailingBytes(
      String topic, int id, String expected, int trailing) {
    return new UndecodableRecordException(
        "RECORD_TRAILING_BYTES",
        "Expected the end of the record after %s in schema %d in topic \"%s\", but %d bytes follow. Check which schema its producer wrote with."
            .formatted(expected, id, topic, trailing));
  }

  static UndecodableRecordException foreignClass(String topic, String expected, String found) {
    return new UndecodableRecordException(
        "RECORD_SCHEMA_FOREIGN",
        "Expected records of %s in topic \"%s\", but the deserializer made a %s. Check which producer writes to this topic and registry.deserializer.class."
            .formatted(expected, topic, found));
  }

  static UndecodableRecordException refusedByDeserializer(
      String topic, String expected, Throwable cause) {
    return new UndecodableRecordException(
        "RECORD_MALFORMED",
        "Expected %s in topic \"%s\", but the deserializer refused the bytes (%s). Check its producer."
            .formatted(expected, topic, cause.getClass().getSimpleName()),
        cause);
  }
}
