package dev.ichido.topology.store;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of a stored operation: a version, then its fields. The changelog lives longer than any
 * release, so a change of the fields is a new version, and every older version stays readable.
 */
public final class StoredOperationSerde implements Serde<StoredOperation> {
  static final int VERSION = 4;
  private static final int OLDEST = 1;

  @Override
  public Serializer<StoredOperation> serializer() {
    return (topic, operation) -> operation == null ? null : write(operation);
  }

  @Override
  public Deserializer<StoredOperation> deserializer() {
    return (topic, bytes) -> bytes == null ? null : read(bytes);
  }

  static byte[] write(StoredOperation operation) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      FieldWriter fields = new FieldWriter(out);
      fields.optionalInstant(operation.armedFor());
      fields.optionalText(operation.traceparent());
      StateFields.write(fields, operation.state());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static StoredOperation read(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readUnsignedByte();
      if (version < OLDEST || version > VERSION) {
        throw unreadable("version " + version, null);
      }
      FieldReader fields = new FieldReader(in, version);
      var armedFor = fields.optionalInstant();
      var traceparent = fields.optionalText();
      StoredOperation operation =
          new StoredOperation(StateFields.read(fields), armedFor, traceparent);
      if (in.read() != -1) {
        throw unreadable("bytes after its end", null);
      }
      return operation;
    } catch (EOFException e) {
      throw unreadable("an early end", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static SerializationException unreadable(String found, @Nullable Throwable cause) {
    return new SerializationException(
        ("Expected a stored operation of version %d to %d, but found %s. Check whether a newer"
                + " release wrote this store.")
            .formatted(OLDEST, VERSION, found),
        cause);
  }
}
