package dev.ichido.remotes;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A stand-in that can't start or go on. The code is stable; the message is for people. */
public final class RemoteException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What kind of thing is wrong. */
  public enum Code {
    /** The book can't be read or written. */
    BOOK_UNUSABLE,
    /** Another process writes the book. */
    BOOK_IN_USE,
    /** A line other than the last one is broken: the book was changed by someone else. */
    BOOK_CORRUPT,
    /** The book is that of another kind of remote. */
    BOOK_OF_ANOTHER_KIND,
    /** Nothing is written after the close. */
    CLOSED,
    /** The port can't be had. */
    PORT_IN_USE,
    /** A fault, a key source or an argument is not of its form. */
    NOT_UNDERSTOOD,
    /** Another process's stand-in does not answer its control surface. */
    CONTROL_FAILED
  }

  private final Code code;

  private RemoteException(Code code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  public Code code() {
    return code;
  }

  static RemoteException bookUnusable(Path file, Throwable cause) {
    return new RemoteException(
        Code.BOOK_UNUSABLE,
        "Expected a book that can be read and written at "
            + file
            + ", but that failed. Check the folder and its permissions.",
        cause);
  }

  static RemoteException bookInUse(Path file) {
    return new RemoteException(
        Code.BOOK_IN_USE,
        "Expected the book " + file + " to be free, but another process writes it. Stop that one.",
        null);
  }

  static RemoteException bookCorrupt(Path file, long line) {
    return new RemoteException(
        Code.BOOK_CORRUPT,
        "Expected a whole book at "
            + file
            + ", but line "
            + line
            + " is broken and others follow it. Check what else writes to the file.",
        null);
  }

  static RemoteException anotherKind(Path file, String expected, String found) {
    return new RemoteException(
        Code.BOOK_OF_ANOTHER_KIND,
        "Expected the book of a "
            + expected
            + " remote at "
            + file
            + ", but it is one of a "
            + found
            + " remote. Give each remote a book of its own.",
        null);
  }

  static RemoteException closed() {
    return new RemoteException(
        Code.CLOSED,
        "Expected an open book, but it was closed. Check who closes the remote.",
        null);
  }

  static RemoteException portInUse(int port, Throwable cause) {
    return new RemoteException(
        Code.PORT_IN_USE,
        "Expected port "
            + port
            + " of the loopback interface to be free, but it is not. Give"
            + " another port, or 0 for a free one.",
        cause);
  }

  static RemoteException notUnderstood(String expected, String found) {
    return new RemoteException(
        Code.NOT_UNDERSTOOD,
        "Expected " + expected + ", but it was \"" + found + "\". Check its spelling.",
        null);
  }

  static RemoteException controlFailed(String what, @Nullable Throwable cause) {
    return new RemoteException(
        Code.CONTROL_FAILED,
        "Expected the remote to answer " + what + ", but it did not. Check that it runs.",
        cause);
  }
}
