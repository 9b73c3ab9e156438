package dev.ichido.registry;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.jspecify.annotations.Nullable;

/** What the registry was told; its state is these, applied in order. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonSubTypes({
  @JsonSubTypes.Type(value = RegistryEvent.SchemaRegistered.class, name = "schema_registered"),
  @JsonSubTypes.Type(value = RegistryEvent.VersionDeleted.class, name = "version_deleted"),
  @JsonSubTypes.Type(value = RegistryEvent.CompatibilitySet.class, name = "compatibility_set"),
  @JsonSubTypes.Type(value = RegistryEvent.ModeSet.class, name = "mode_set")
})
@JsonInclude(JsonInclude.Include.NON_NULL)
sealed interface RegistryEvent {
  /**
   * A subject has a new version.
   *
   * @param schema Avro's own text of the parsed schema
   */
  record SchemaRegistered(String subject, int version, int id, String schema)
      implements RegistryEvent {}

  /** The version is no longer offered; its id is still answered. */
  record VersionDeleted(String subject, int version) implements RegistryEvent {}

  /**
   * New versions are held to another level.
   *
   * @param subject null: of all subjects without a level of their own
   * @param level null: none of its own any more
   */
  record CompatibilitySet(@Nullable String subject, @Nullable CompatibilityLevel level)
      implements RegistryEvent {}

  /**
   * Registration is allowed or not.
   *
   * @param subject null: of all subjects without a mode of their own
   * @param mode null: none of its own any more
   */
  record ModeSet(@Nullable String subject, @Nullable Mode mode) implements RegistryEvent {}

  /** Whether schemas may be registered. */
  enum Mode {
    READWRITE,
    READONLY
  }

  ObjectMapper JSON = new ObjectMapper();

  default String toJson() {
    try {
      return JSON.writeValueAsString(this);
    } catch (JsonProcessingException e) {
      throw new AssertionError("An event holds only text and numbers.", e);
    }
  }

  static RegistryEvent fromJson(long position, String text) {
    try {
      return JSON.readValue(text, RegistryEvent.class);
    } catch (JsonProcessingException e) {
      throw RegistryLogException.notUnderstood(position, e);
    }
  }
}
