package dev.ichido.app;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * One role of this process, seen from the outside.
 *
 * @param start returns soon; {@code ready} tells when the role does its work
 * @param failure why it stopped by itself
 * @param close graceful, idempotent
 */
public record RunningRole(
    String name,
    Runnable start,
    BooleanSupplier ready,
    Supplier<Optional<Throwable>> failure,
    Runnable close) {}
