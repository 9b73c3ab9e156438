package dev.ichido.topology.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.OriginalStanding;
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
 * What travels between operations, and between them and the index of meanings, over internal topics
 * only. A message starts with a version, since a rolling upgrade reads what the release before
 * wrote.
 */
public sealed interface InternalMessage {
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
  record Question(String operationId, SourcePosition source) implements InternalMessage {}

  /** An intent that was held against them; {@code suspectOf} is the id of one. */
  record Answer(@Nullable String suspectOf, SourcePosition source) implements InternalMessage {}

  /**
   * What is known of an intent before its operation sees it.
   *
   * @param heldAgainstMeanings whether a place is kept for it in the index of meanings
   * @param suspectOf the id of a twin that the index knew
   */
  record Looked(boolean heldAgainstMeanings, @Nullable String suspectOf) {
    /** Nothing was looked for. */
    public static final Looked NOT = new Looked(false, null);
  }

  /** An intent whose operation would undo the one that this goes to. */
  record CompensationQuestion(
      String compensation,
      String deliveryId,
      String principal,
      Looked looked,
      SourcePosition source)
      implements InternalMessage {}

  /** An intent on its way back to its operation, with what the original told. */
  record CompensationAnswer(OriginalStanding standing, Looked looked, SourcePosition source)
      implements InternalMessage {}

  /** The operation that would have undone the one that this goes to gives up. */
  record CompensationRelease(String compensation) implements InternalMessage {}

  /** News of an operation of this meaning. */
  record News(
      String tenant,
      String scope,
      String operationId,
      String action,
      Standing standing,
      Instant at,
      long revision)
      implements InternalMessage {}

  /** The bytes of a message. */
  static byte[] write(InternalMessage message) {
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
        case CompensationQuestion it -> {
          out.writeByte(4);
          text(out, it.compensation());
          text(out, it.deliveryId());
          text(out, it.principal());
          looked(out, it.looked());
          source(out, it.source());
        }
        case CompensationAnswer it -> {
          out.writeByte(5);
          out.writeUTF(it.standing().name());
          looked(out, it.looked());
          source(out, it.source());
        }
        case CompensationRelease it -> {
          out.writeByte(6);
          text(out, it.compensation());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** The message of the bytes. */
  static InternalMessage read(byte[] bytes) {
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
        case 4 -> new CompensationQuestion(text(in), text(in), text(in), looked(in), source(in));
        case 5 ->
            new CompensationAnswer(OriginalStanding.valueOf(in.readUTF()), looked(in), source(in));
        case 6 -> new CompensationRelease(text(in));
        default -> throw unreadable("kind " + kind);
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void looked(DataOutputStream out, Looked looked) throws IOException {
    out.writeBoolean(looked.heldAgainstMeanings());
    String suspectOf = looked.suspectOf();
    bytes(out, suspectOf == null ? null : suspectOf.getBytes(UTF_8));
  }

  private static Looked looked(DataInputStream in) throws IOException {
    boolean held = in.readBoolean();
    byte[] suspectOf = bytes(in);
    return new Looked(held, suspectOf == null ? null : new String(suspectOf, UTF_8));
  }

  private static void text(DataOutputStream out, String text) throws IOException {
    bytes(out, text.getBytes(UTF_8));
  }

  private static String text(DataInputStream in) throws IOException {
    byte[] bytes = bytes(in);
    if (bytes == null) {
      throw unreadable("no text where there must be one");
    }
    return new String(bytes, UTF_8);
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
