package dev.ichido.embedded;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** An embedded server that can't start or go on. The code is stable; the message is for people. */
public final class EmbeddedServerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What kind of thing is wrong. */
  public enum Code {
    /** Another process uses the data folder. */
    DATA_FOLDER_IN_USE,
    /** The data folder can't be created, read or written. */
    DATA_FOLDER_UNUSABLE,
    /** The device of the data folder has no space left. */
    DISK_FULL,
    /** Another process listens on a port that was asked for. */
    PORT_IN_USE,
    /** The database did not come up, or was not stopped. */
    DATABASE_FAILED,
    /** The broker did not come up, or stopped by itself. */
    BROKER_FAILED
  }

  private final Code code;

  private EmbeddedServerException(Code code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  public Code code() {
    return code;
  }

  static EmbeddedServerException folderInUse(Path folder, String owner) {
    return new EmbeddedServerException(
        Code.DATA_FOLDER_IN_USE,
        "Expected the data folder "
            + folder
            + " to be free, but "
            + owner
            + " uses it. Stop that one, or give another folder with --data.",
        null);
  }

  static EmbeddedServerException folderUnusable(Path folder, String why, @Nullable Throwable e) {
    return new EmbeddedServerException(
        Code.DATA_FOLDER_UNUSABLE,
        "Expected a data folder that can be written at "
            + folder
            + ", but "
            + why
            + ". Check its owner and permissions, or give another folder with --data.",
        e);
  }

  static EmbeddedServerException diskFull(
      Path folder, long usableMegabytes, @Nullable Throwable e) {
    return new EmbeddedServerException(
        Code.DISK_FULL,
        "Expected free space for the data folder "
            + folder
            + ", but its device has "
            + usableMegabytes
            + " MB left. Free some space, or give a folder on another device with --data.",
        e);
  }

  static EmbeddedServerException portInUse(String what, int port) {
    return new EmbeddedServerException(
        Code.PORT_IN_USE,
        "Expected port "
            + port
            + " of the loopback interface to be free for the "
            + what
            + ", but another process listens on it. Stop that process, or leave the port out to get"
            + " a free one.",
        null);
  }

  static EmbeddedServerException database(String found, Path log, @Nullable Throwable e) {
    return new EmbeddedServerException(
        Code.DATABASE_FAILED,
        "Expected PostgreSQL to come up, but " + found + ". Check the log " + log + ".",
        e);
  }

  static EmbeddedServerException broker(String found, Path folder, @Nullable Throwable e) {
    return new EmbeddedServerException(
        Code.BROKER_FAILED,
        "Expected the Kafka node to run, but "
            + found
            + ". Check the log above and the data folder "
            + folder
            + ".",
        e);
  }
}
