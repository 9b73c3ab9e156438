package dev.ichido.cli;

import org.jspecify.annotations.Nullable;

/** An end that is explained by its message alone: a code, a text for people, an exit code. */
public final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;
  private final int exitCode;

  private CommandException(String code, int exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
    this.exitCode = exitCode;
  }

  /** What was typed or written in a file can't be used: exit code 2. */
  public static CommandException usage(String code, String message) {
    return new CommandException(code, ExitCode.USAGE, message, null);
  }

  /** What was typed or written in a file can't be used: exit code 2. */
  public static CommandException usage(String code, String message, Throwable cause) {
    return new CommandException(code, ExitCode.USAGE, message, cause);
  }

  /** An option's number is out of its range: exit code 2. */
  static void requireRange(String option, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw usage(
          "OPTION_RANGE",
          "Expected %s of %s to %s, but it is %s. Check it."
              .formatted(option, plain(least), plain(most), plain(value)));
    }
  }

  private static String plain(double number) {
    return number == Math.rint(number) && Math.abs(number) < 1e15
        ? Long.toString((long) number)
        : Double.toString(number);
  }

  /** The surroundings do not let the command do its work: exit code 1. */
  public static CommandException failed(String code, String message, @Nullable Throwable cause) {
    return new CommandException(code, ExitCode.DOES_NOT_HOLD, message, cause);
  }

  public String code() {
    return code;
  }

  public int exitCode() {
    return exitCode;
  }
}
