package dev.ichido.schemas.wire;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/**
 * A value could not be written or read. The kinds ask for different deeds: an {@link
 * UndecodableRecordException} is for the dead letters, a {@link RegistryUnavailableException} is
 * tried again without moving on, a {@link SchemaRefusedException} needs a person.
 */
public abstract sealed class WireException extends SerializationException
    permits UndecodableRecordException, RegistryUnavailableException, SchemaRefusedException {
  private static final long serialVersionUID = 1L;

  private final String code;

  WireException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** Stable code of the reason. */
  public final String code() {
    return code;
  }
}
