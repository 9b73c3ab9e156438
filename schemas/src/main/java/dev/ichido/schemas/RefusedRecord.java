package dev.ichido.schemas;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * As much of a refused record as the topic of dead letters takes. A topic's limit holds for what is
 * sent, compressed, so a record of any size can be read from it. The letter says where it lies.
 *
 * @param key its key; null where it has none, or one of more than half of what a record may have
 * @param value its value; null where it has none, or is larger with its key than a record may be
 */
public record RefusedRecord(@Nullable ByteBuffer key, @Nullable ByteBuffer value) {
  /** Of a record as it was read. */
  public static RefusedRecord of(byte @Nullable [] key, byte @Nullable [] value) {
    return new RefusedRecord(
        key == null || key.length > Topics.RECORD_BYTES / 2 ? null : ByteBuffer.wrap(key),
        value == null || isTooLarge(key, value.length) ? null : ByteBuffer.wrap(value));
  }

  /** Whether a record is larger than one of ours may be. */
  public static boolean isTooLarge(byte @Nullable [] key, long valueBytes) {
    return (key == null ? 0 : key.length) + valueBytes > Topics.RECORD_BYTES;
  }

  /** The key of its dead letter. */
  public byte @Nullable [] letterKey() {
    if (key == null) {
      return null;
    }
    byte[] bytes = new byte[key.remaining()];
    key.duplicate().get(bytes);
    return bytes;
  }
}
