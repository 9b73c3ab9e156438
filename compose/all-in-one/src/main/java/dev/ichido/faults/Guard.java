package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * Ends what the battery started when the battery is gone, kill -9 of it included: a shell at the
 * other end of a pipe that is told of each process, and that the kernel tells of the end. It also
 * reaches processes that are stopped, which could notice nothing themselves.
 */
final class Guard implements AutoCloseable {
  /** A start that was under way writes its process id a moment later, so it looks three times. */
  private static final String WATCH =
      """
      trap '' HUP INT TERM
      all=' '
      while read -r sign pid; do
        case $sign in
          +) all="$all$pid " ;;
          -) all="${all%%" $pid "*} ${all#*" $pid "}" ;;
        esac
      done
      for pid in $all; do kill -KILL "$pid"; done
      for look in 1 2 3; do
        if [ -r "$1" ]; then
          pid=$(head -n 1 "$1")
          case $(ps -o comm= -p "$pid") in *postgres*) kill -QUIT "$pid" ;; esac
        fi
        [ "$all" = ' ' ] || sleep 1
      done
      """;

  private final Process shell;

  /**
   * Starts it.
   *
   * @param databasePid file with the process id of a database, which is ended too when it is there
   */
  Guard(Path databasePid) {
    try {
      shell =
          new ProcessBuilder("sh", "-c", WATCH, "ichido-guard", databasePid.toString())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void started(Process process) {
    tell("+ " + process.pid());
  }

  void ended(Process process) {
    tell("- " + process.pid());
  }

  /** Ends what is left. */
  @Override
  public void close() {
    try {
      shell.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private synchronized void tell(String line) {
    try {
      OutputStream pipe = shell.getOutputStream();
      pipe.write((line + "\n").getBytes(US_ASCII));
      pipe.flush();
    } catch (IOException closed) {
      // Whatever ends after that ends by itself.
    }
  }
}
