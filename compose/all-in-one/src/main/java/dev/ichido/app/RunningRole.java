package dev.ichido.app;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * One role of this process, seen from the outside.
 *
 * @param start returns soon; {@code ready} tells when the role does its work
 * @param problem code of what it is waiting out at the moment
 * @param failure why it stopped by itself
 * @param close graceful, idempotent
 */
public record RunningRole(
    String name,
    Runnable start,
    BooleanSupplier ready,
    Supplier<Optional<String>> problem,
    Supplier<Optional<Throwable>> failure,
    Runnable close) {
  /** One that tells of no problems that pass. */
  public RunningRole(
      String name,
      Runnable start,
      BooleanSupplier ready,
      Supplier<Optional<Throwable>> failure,
      Runnable close) {
    this(name, start, ready, Optional::empty, failure, close);
  }
}
