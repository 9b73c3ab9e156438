package dev.ichido.cli;

/** How a command ends. */
public final class ExitCode {
  public static final int HOLDS = 0;
  public static final int DOES_NOT_HOLD = 1;
  public static final int USAGE = 2;

  private ExitCode() {}
}
