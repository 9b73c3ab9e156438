package dev.ichido.schemas.wire;

import org.jspecify.annotations.Nullable;

/**
 * The registry did not give an answer that says anything about the record: unreachable, failing,
 * refusing the credentials, or not the registry that knows this topic. The same call may succeed
 * later; the record must neither be skipped nor be sent to the dead letters.
 */
public final class RegistryUnavailableException extends WireException {
  private static final long serialVersionUID = 1L;

  private RegistryUnavailableException(String code, String message, @Nullable Throwable cause) {
    super(code, message, cause);
  }

  static RegistryUnavailableException unreachable(String url, String request, Throwable cause) {
    return new RegistryUnavailableException(
        "REGISTRY_UNREACHABLE",
        "Expected an answer of the schema registry at %s to %s, but there was none (%s). Check that it runs and that schema.registry.url is right."
            .formatted(url, request, cause.getClass().getSimpleName()),
        cause);
  }

  static RegistryUnavailableException failing(
      String url, String request, int status, String errorCode) {
    return new RegistryUnavailableException(
        "REGISTRY_FAILING",
        "Expected the schema registry at %s to answer %s, but it failed with status %d%s. Check its log."
            .formatted(url, request, status, errorCode));
  }

  static RegistryUnavailableException access(String url, String request, int status) {
    return new RegistryUnavailableException(
        "REGISTRY_ACCESS",
        "Expected the schema registry at %s to let us %s, but it refused with status %d. Check its credentials and their rights."
            .formatted(url, request, status));
  }

  static RegistryUnavailableException notARegistry(
      String url, String request, int status, @Nullable Throwable cause) {
    return new RegistryUnavailableException(
        "REGISTRY_NOT_UNDERSTOOD",
        "Expected a schema registry's answer from %s to %s, but status %d came without one. Check that schema.registry.url points at a registry and at its root."
            .formatted(url, request, status),
        cause);
  }

  /**
   * Without this, a registry that lost its data (or is another one) would send a whole topic to the
   * dead letters.
   */
  static RegistryUnavailableException forgotten(String topic, String subject, int id) {
    return new RegistryUnavailableException(
        "REGISTRY_FORGOT",
        "Expected the schema registry to know schema %d of topic \"%s\", but it does not even know subject \"%s\". Check that schema.registry.url points at the registry that the producers use and that it kept its data."
            .formatted(id, topic, subject));
  }

  static RegistryUnavailableException behindDeserializer(String topic, Throwable cause) {
    return new RegistryUnavailableException(
        "REGISTRY_UNREACHABLE",
        "Expected the configured serializer to reach its schema registry for topic \"%s\", but it did not (%s). Check that the registry runs and that schema.registry.url is right."
            .formatted(topic, cause.getClass().getSimpleName()),
        cause);
  }

  private RegistryUnavailableException(String code, String message) {
    this(code, message, null);
  }
}
