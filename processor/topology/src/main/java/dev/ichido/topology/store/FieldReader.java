package dev.ichido.topology.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads what {@link FieldWriter} writes. */
final class FieldReader {
  private final DataInputStream in;
  private final int version;

  FieldReader(DataInputStream in, int version) {
    this.in = in;
    this.version = version;
  }

  /** Version of what is read. */
  int version() {
    return version;
  }

  interface Reading<T> {
    T from(FieldReader in) throws IOException;
  }

  <T> List<T> list(Reading<T> reading) throws IOException {
    List<T> list = new ArrayList<>();
    for (int left = number(); left > 0; left--) {
      list.add(reading.from(this));
    }
    return list;
  }

  int tag() throws IOException {
    return in.readUnsignedByte();
  }

  boolean flag() throws IOException {
    return in.readBoolean();
  }

  int number() throws IOException {
    return in.readInt();
  }

  long large() throws IOException {
    return in.readLong();
  }

  String text() throws IOException {
    String text = optionalText();
    if (text == null) {
      throw StoredOperationSerde.unreadable("no text where there must be one", null);
    }
    return text;
  }

  @Nullable String optionalText() throws IOException {
    int length = in.readInt();
    if (length == -1) {
      return null;
    }
    if (length < 0 || length > in.available()) {
      throw new EOFException();
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return new String(bytes, UTF_8);
  }

  Instant instant() throws IOException {
    long seconds = in.readLong();
    return Instant.ofEpochSecond(seconds, in.readInt());
  }

  @Nullable Instant optionalInstant() throws IOException {
    return in.readBoolean() ? instant() : null;
  }

  @Nullable Integer optionalNumber() throws IOException {
    return in.readBoolean() ? Integer.valueOf(in.readInt()) : null;
  }
}
