package dev.ichido.config;

import java.time.Duration;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A configuration that can't be used. The code is stable; no value is ever in the message. */
public final class ConfigException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  private ConfigException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  public String code() {
    return code;
  }

  static ConfigException fileUnreadable(String source, String found, Throwable cause) {
    return new ConfigException(
        "CONFIG_UNREADABLE",
        "Expected a configuration file at " + source + ", but " + found + ". Check the path.",
        cause);
  }

  static ConfigException keyUnknown(
      String source, OptionalInt line, String path, @Nullable String nearest, String known) {
    return new ConfigException(
        "CONFIG_KEY_UNKNOWN",
        "Expected a known key, but "
            + at(source, line)
            + " has "
            + path
            + ". "
            + (nearest == null
                ? "Known here: " + known + "."
                : "Did you mean " + nearest + "? Known here: " + known + "."),
        null);
  }

  public static ConfigException valueWrong(
      String source, OptionalInt line, String path, String expected) {
    return new ConfigException(
        "CONFIG_VALUE_WRONG",
        "Expected "
            + expected
            + " for "
            + path
            + ", but "
            + at(source, line)
            + " has something else. Check that value.",
        null);
  }

  static ConfigException refused(String source, OptionalInt line, String message, Throwable cause) {
    return new ConfigException(
        "CONFIG_VALUE_WRONG", message + " (" + at(source, line) + ")", cause);
  }

  static ConfigException secretMissing(
      String source, OptionalInt line, String path, String what, String found) {
    return new ConfigException(
        "CONFIG_SECRET_MISSING",
        "Expected "
            + what
            + " for "
            + path
            + " ("
            + at(source, line)
            + "), but "
            + found
            + ". Set it, or change the reference.",
        null);
  }

  /** A role can't do without it. */
  public static ConfigException valueMissing(String source, String path, String role) {
    return new ConfigException(
        "CONFIG_VALUE_MISSING",
        "Expected "
            + path
            + " in "
            + source
            + " for the "
            + role
            + ", but it is not there. Add it.",
        null);
  }

  /** Claims would be deleted while an operation may still need them. */
  public static ConfigException claimRetentionShort(String source, Duration least) {
    return new ConfigException(
        "CLAIM_RETENTION_SHORT",
        "Expected executor.claim_retention in "
            + source
            + " to be at least "
            + least
            + ", the longest that an action may start an attempt, is replayed or is remembered, but"
            + " it is shorter. Leave it out, or raise it.",
        null);
  }

  /** A changed policy asks for claims to be kept longer than the running executor keeps them. */
  public static ConfigException restartNeeded(String source, Duration kept, Duration least) {
    return new ConfigException(
        "RESTART_NEEDED",
        "Expected the changed actions in "
            + source
            + " to need claims for at most "
            + kept
            + ", as long as the running executor keeps them, but they need "
            + least
            + ". Restart the executors and the processors, or leave retention, tombstone and retry"
            + " horizon as they were.",
        null);
  }

  private static String at(String source, OptionalInt line) {
    return line.isPresent() ? "line " + line.getAsInt() + " of " + source : source;
  }
}
