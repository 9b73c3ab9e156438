package dev.ichido.registry;

/** The registry's log could not be read or written. */
public final class RegistryLogException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private RegistryLogException(String message, Throwable cause) {
    super(message, cause);
  }

  static RegistryLogException notRead(Throwable cause) {
    return new RegistryLogException(
        "Expected to read the registry's log, but the database failed. Check the database.", cause);
  }

  static RegistryLogException notWritten(Throwable cause) {
    return new RegistryLogException(
        "Expected to write to the registry's log, but the database failed. Check the database.",
        cause);
  }

  static RegistryLogException notUnderstood(long position, Throwable cause) {
    return new RegistryLogException(
        "Expected an event of the registry at position %d of its log, but it is none. Check whether a newer version wrote to it."
            .formatted(position),
        cause);
  }
}
