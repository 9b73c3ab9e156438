package dev.ichido.topology.wire;

import dev.ichido.schemas.RefusedRecord;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.UndecodableRecordException;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/** Reading of values. */
final class Decoding {
  private Decoding() {}

  /**
   * Only what can never be decoded is poison. A registry that does not answer is thrown through:
   * the record is read again later.
   */
  static <T extends SpecificRecordBase> T decode(
      Deserializer<T> deserializer, String topic, byte @Nullable [] value) throws PoisonException {
    if (value == null) {
      throw new PoisonException(
          Poison.decoding(
              "RECORD_EMPTY",
              "Expected a value, but the record has none. Check its producer; nothing is deleted"
                  + " by an empty record."));
    }
    try {
      return deserializer.deserialize(topic, value);
    } catch (UndecodableRecordException e) {
      throw new PoisonException(Poison.decoding(e.code(), String.valueOf(e.getMessage())));
    }
  }

  /** Held against a record that is kept whole, or against what is kept of it. */
  static void requireSize(byte @Nullable [] key, long valueBytes) throws PoisonException {
    if (RefusedRecord.isTooLarge(key, valueBytes)) {
      throw new PoisonException(
          Poison.contract(
              "RECORD_TOO_LARGE",
              "Expected a record of at most "
                  + Topics.RECORD_BYTES
                  + " bytes, but it is larger once it is unpacked. Check its producer, or pass a"
                  + " reference."));
    }
  }
}
