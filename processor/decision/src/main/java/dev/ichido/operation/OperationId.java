package dev.ichido.operation;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The grammar of operation ids. */
public final class OperationId {
  private OperationId() {}

  /**
   * Whether a text may be an operation id: 16 to 255 of {@code [A-Za-z0-9_.:~-]}, case-sensitive,
   * nothing trimmed; no personal data, no credential, not guessable.
   *
   * @return the first reason against it, or empty
   */
  public static Optional<Refusal> check(@Nullable String id) {
    if (id == null) {
      return Optional.of(RefusalCode.OPERATION_ID_MISSING.because("there is none"));
    }
    if (id.length() < 16) {
      return Optional.of(
          RefusalCode.OPERATION_ID_TOO_SHORT.because("it has %d".formatted(id.length())));
    }
    return Optional.empty();
  }
}
