package dev.ichido.schemas.wire;

import org.jspecify.annotations.Nullable;

/**
 * A record cannot be written as things are set up: the registry refuses its schema, or the record
 * is not whole. Trying again does not help; a person has to.
 */
public final class SchemaRefusedException extends WireException {
  private static final long serialVersionUID = 1L;

  private SchemaRefusedException(String code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }

  private SchemaRefusedException(String code, String message) {
    this(code, message, null);
  }

  static SchemaRefusedException incompatible(String subject, String schema, String why) {
    return new SchemaRefusedException(
        "SCHEMA_INCOMPATIBLE",
        "Expected the registry to accept %s under subject \"%s\", but it is not compatible with an earlier version: %s. Check that no other system writes to this topic, and the subject's compatibility level."
            .formatted(schema, subject, why));
  }

  static SchemaRefusedException notRegistered(String subject, String schema) {
    return new SchemaRefusedException(
        "SCHEMA_NOT_REGISTERED",
        "Expected %s to be registered under subject \"%s\", but it is not. Register it ahead of time, or set auto.register.schemas=true."
            .formatted(schema, subject));
  }

  static SchemaRefusedException rejected(String subject, String schema, int status, String why) {
    return new SchemaRefusedException(
        "SCHEMA_REJECTED",
        "Expected the registry to accept %s under subject \"%s\", but it answered status %d: %s. Check the registry's mode and settings."
            .formatted(schema, subject, status, why));
  }

  static SchemaRefusedException unwritable(String topic, String schema, Throwable cause) {
    // The cause's message may quote a value of the record, so only its kind is kept.
    return new SchemaRefusedException(
        "RECORD_UNWRITABLE",
        "Expected a whole %s for topic \"%s\", but it could not be written (%s). Check that every field without a default is set."
            .formatted(schema, topic, cause.getClass().getSimpleName()));
  }

  static SchemaRefusedException byForeignSerializer(String topic, String schema, Throwable cause) {
    return new SchemaRefusedException(
        "SCHEMA_REJECTED",
        "Expected the configured serializer to write %s for topic \"%s\", but it did not (%s). Check the registry's settings."
            .formatted(schema, topic, cause.getClass().getSimpleName()),
        cause);
  }
}
