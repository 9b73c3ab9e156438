package dev.ichido.topology.wire;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/**
 * What travels between the operations and the index of meanings, over internal topics only. A
 * message starts with a version, since a rolling upgrade reads what the release before wrote.
 */
public sealed interface SuspectMessage {
  /** Version of the bytes. */
  int VERSION = 1;

  /** What became of an operation, as far as the index cares. */
  enum Standing {
    /** In flight, unknown, or between attempts. */
    OPEN,
    /** Settled; a twin is suspect for a while longer. */
    SETTLED,
    /** Nothing of it holds a twin any more. */
    GONE
  }

  /** An intent on its way to its operation, which is first held against its meaning's twins. */
  record Question(String operationId, SourcePosition source) implements SuspectMessage {}

  /** An intent that was held against them; {@code suspectOf} is the id of one. */
  record Answer(@Nullable String suspectOf, SourcePosition source) implements SuspectMessage {}

  /** News of an operation of this meaning. */
  record News(
      String tenant,
      String scope,
      String operationId,
      String action,
      Standing standing,
      Instant at,
      long revision)
      implements SuspectMessage {}

  /** The bytes of a message. */
  static byte[] write(SuspectMessage message) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      switch (message) {
        case Question it -> {
          out.writeByte(1);
          out.writeUTF(it.operationId());
          source(out, it.source());
        }
        case Answer it -> {
          out.writeByte(2);
          out.writeBoolean(it.suspectOf() != null);
          if (it.suspectOf() != null) {
            out.writeUTF(it.suspectOf());
          }
          source(out, it.source());
        }
        case News it -> {
          out.writeByte(3);
          out.writeUTF(it.tenant());
          out.writeUTF(it.scope());
          out.writeUTF(it.operationId());
          out.writeUTF(it.action());
          out.writeUTF(it.standing().name());
          out.writeLong(it.at().toEpochMilli());
          out.writeLong(it.revision());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** The message of the bytes. */
  static SuspectMessage read(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readUnsignedByte();
      int kind = in.readUnsignedByte();
      if (version != VERSION) {
        throw unreadable("version " + version);
      }
      return switch (kind) {
        case 1 -> new Question(in.readUTF(), source(in));
        case 2 -> new Answer(in.readBoolean() ? in.readUTF() : null, source(in));
        case 3 ->
            new News(
                in.readUTF(),
                in.readUTF(),
                in.readUTF(),
                in.readUTF(),
                Standing.valueOf(in.readUTF()),
                Instant.ofEpochMilli(in.readLong()),
                in.readLong());
        default -> throw unreadable("kind " + kind);
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void source(DataOutputStream out, SourcePosition source) throws IOException {
    out.writeUTF(source.topic());
    out.writeInt(source.partition());
    out.writeLong(source.offset());
    out.writeLong(source.timestamp());
    bytes(out, source.key());
    bytes(out, source.value());
  }

  private static SourcePosition source(DataInputStream in) throws IOException {
    return new SourcePosition(
        in.readUTF(), in.readInt(), in.readLong(), in.readLong(), bytes(in), bytes(in));
  }

  private static void bytes(DataOutputStream out, byte @Nullable [] bytes) throws IOException {
    out.writeInt(bytes == null ? -1 : bytes.length);
    if (bytes != null) {
      out.write(bytes);
    }
  }

  private static byte @Nullable [] bytes(DataInputStream in) throws IOException {
    int length = in.readInt();
    return length < 0 ? null : in.readNBytes(length);
  }

  private static SerializationException unreadable(String found) {
    return new SerializationException(
        "Expected a message of version %d between the sub-topologies, but found %s. Check whether two releases run that are too far apart."
            .formatted(VERSION, found));
  }
}
