package dev.ichido.registry;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request that is answered with an error, in Confluent's codes and words. */
final class RegistryError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final int code;

  private RegistryError(int status, int code, String message) {
    this(status, code, message, null);
  }

  private RegistryError(int status, int code, String message, @Nullable Throwable cause) {
    super(message, cause, false, false);
    this.status = status;
    this.code = code;
  }

  int status() {
    return status;
  }

  int code() {
    return code;
  }

  static RegistryError subjectNotFound(String subject) {
    return new RegistryError(404, 40401, "Subject '" + subject + "' not found.");
  }

  static RegistryError versionNotFound(String version) {
    return new RegistryError(404, 40402, "Version " + version + " not found.");
  }

  static RegistryError schemaNotFound() {
    return new RegistryError(404, 40403, "Schema not found");
  }

  static RegistryError schemaNotFound(String id) {
    return new RegistryError(404, 40403, "Schema " + id + " not found");
  }

  static RegistryError noCompatibilityOfItsOwn(String subject) {
    return new RegistryError(
        404,
        40408,
        "Subject '" + subject + "' does not have subject-level compatibility configured");
  }

  static RegistryError noModeOfItsOwn(String subject) {
    return new RegistryError(
        404, 40409, "Subject '" + subject + "' does not have subject-level mode configured");
  }

  static RegistryError noSuchResource() {
    return new RegistryError(404, 404, "HTTP 404 Not Found");
  }

  static RegistryError methodNotAllowed() {
    return new RegistryError(405, 405, "HTTP 405 Method Not Allowed");
  }

  static RegistryError unsupportedMediaType() {
    return new RegistryError(415, 415, "HTTP 415 Unsupported Media Type");
  }

  static RegistryError tooLarge(int limit) {
    return new RegistryError(413, 413, "Request body is larger than " + limit + " bytes");
  }

  static RegistryError notJson() {
    return new RegistryError(400, 400, "Expected a JSON object as the request's body");
  }

  static RegistryError incompatible(String subject, CompatibilityLevel level, List<String> why) {
    return new RegistryError(
        409,
        409,
        "Schema being registered is incompatible with an earlier schema for subject \"%s\", details: %s; compatibility: %s"
            .formatted(subject, why, level));
  }

  static RegistryError invalidSchema(String why) {
    return new RegistryError(422, 42201, "Invalid schema: " + why);
  }

  static RegistryError invalidVersion(String version) {
    return new RegistryError(
        422,
        42202,
        "The specified version '"
            + version
            + "' is not a valid version id. Allowed values are between [1, 2^31-1] and the string \"latest\"");
  }

  static RegistryError invalidCompatibility() {
    return new RegistryError(
        422,
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive");
  }

  static RegistryError invalidMode() {
    return new RegistryError(422, 42204, "Invalid mode. Valid values are READWRITE and READONLY");
  }

  static RegistryError notPermitted(String why) {
    return new RegistryError(422, 42205, why);
  }

  static RegistryError store(RegistryLogException cause) {
    return new RegistryError(500, 50001, "Error in the backend data store", cause);
  }

  static RegistryError unexpected(Throwable cause) {
    return new RegistryError(500, 500, "Internal Server Error", cause);
  }
}
