package dev.ichido.topology.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes single fields. */
final class FieldWriter {
  private final DataOutputStream out;

  FieldWriter(DataOutputStream out) {
    this.out = out;
  }

  void tag(int value) throws IOException {
    out.writeByte(value);
  }

  void flag(boolean value) throws IOException {
    out.writeBoolean(value);
  }

  void number(int value) throws IOException {
    out.writeInt(value);
  }

  void large(long value) throws IOException {
    out.writeLong(value);
  }

  interface Writing<T> {
    void to(FieldWriter out, T value) throws IOException;
  }

  <T> void list(List<T> values, Writing<T> writing) throws IOException {
    number(values.size());
    for (T value : values) {
      writing.to(this, value);
    }
  }

  void text(String value) throws IOException {
    byte[] bytes = value.getBytes(UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  void optionalText(@Nullable String value) throws IOException {
    if (value == null) {
      out.writeInt(-1);
    } else {
      text(value);
    }
  }

  /** To the nanosecond: a deadline that is rounded is another deadline. */
  void instant(Instant value) throws IOException {
    out.writeLong(value.getEpochSecond());
    out.writeInt(value.getNano());
  }

  void optionalInstant(@Nullable Instant value) throws IOException {
    out.writeBoolean(value != null);
    if (value != null) {
      instant(value);
    }
  }

  void optionalNumber(@Nullable Integer value) throws IOException {
    out.writeBoolean(value != null);
    if (value != null) {
      out.writeInt(value);
    }
  }
}
