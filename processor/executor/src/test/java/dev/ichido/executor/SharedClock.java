package dev.ichido.executor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** A clock that stands where it was set, in every process that maps its file. */
final class SharedClock extends Clock {
  private final MappedByteBuffer millis;

  private SharedClock(MappedByteBuffer millis) {
    this.millis = millis;
  }

  static SharedClock at(Path file) {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new SharedClock(channel.map(MapMode.READ_WRITE, 0, Long.BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void set(Instant instant) {
    millis.putLong(0, instant.toEpochMilli());
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis.getLong(0));
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }
}
