package dev.ichido.simulation;

/** An invariant does not hold. */
final class ViolationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Invariant invariant;

  ViolationException(Invariant invariant, String what) {
    super(invariant + ": " + what, null, false, false);
    this.invariant = invariant;
  }

  Invariant invariant() {
    return invariant;
  }
}
