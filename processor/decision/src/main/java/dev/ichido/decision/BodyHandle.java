package dev.ichido.decision;

import java.util.Objects;

/**
 * Stands for a body that is too large for a record.
 *
 * @param sha256 digest of its bytes, lower-case hexadecimal
 * @param bytes its length
 */
public record BodyHandle(String sha256, long bytes) {
  public BodyHandle {
    Objects.requireNonNull(sha256, "sha256");
  }
}
