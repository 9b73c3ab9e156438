package dev.ichido.topology.wire;

/** A record that cannot be decided on. Thrown before any state is touched. */
public final class PoisonException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Poison poison;

  PoisonException(Poison poison) {
    super(poison.code() + ": " + poison.detail());
    this.poison = poison;
  }

  public Poison poison() {
    return poison;
  }
}
