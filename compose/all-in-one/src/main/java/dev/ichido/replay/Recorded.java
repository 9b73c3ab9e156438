package dev.ichido.replay;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * One record as it was read.
 *
 * @param at when the broker took it in, milliseconds since 1970
 * @param headers without the mark of a replay
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Recorded(
    ReplayTopic topic,
    long at,
    byte @Nullable [] key,
    byte @Nullable [] value,
    List<Header> headers) {
  /** The record key; empty for a record that has none. */
  String keyText() {
    return key == null ? "" : new String(key, UTF_8);
  }
}
