package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A file of host names as a named pipe. Whoever looks up the first name waits at it, without having
 * sent anything, and is known to wait there until it is opened.
 */
final class Gate implements AutoCloseable {
  private static final String NAMES = "127.0.0.1 localhost\n";

  private final Path file;
  private final CompletableFuture<OutputStream> reached = new CompletableFuture<>();

  /** Made anew where there is one. */
  Gate(Path file) throws InterruptedException {
    this.file = file;
    try {
      Files.deleteIfExists(file);
      int code = new ProcessBuilder("mkfifo", file.toString()).start().waitFor();
      if (code != 0) {
        throw new IllegalStateException("Expected mkfifo to work, but it ended " + code);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofPlatform().daemon().name("ichido-gate").start(this::awaitReader);
  }

  /** What makes a Java process look names up here and nowhere else. */
  String javaOption() {
    return "-Djdk.net.hosts.file=" + file;
  }

  /** Whether somebody waits, or has waited. */
  boolean isReached() {
    return reached.isDone();
  }

  /** Who waits goes on, even one who is stopped now. Only once, and only when it was reached. */
  void open() {
    try (OutputStream pipe = reached.join()) {
      pipe.write(NAMES.getBytes(US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Nobody is left waiting, on either side. */
  @Override
  public void close() {
    try {
      // Opened for both, a pipe waits for nobody, and lets who opens the other end go on.
      try (RandomAccessFile both = new RandomAccessFile(file.toFile(), "rw");
          OutputStream pipe = reached.join()) {
        both.getFD();
        pipe.flush();
      }
      Files.deleteIfExists(file);
    } catch (CompletionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An open for writing returns when there is a reader. */
  private void awaitReader() {
    try {
      reached.complete(new FileOutputStream(file.toFile()));
    } catch (IOException e) {
      reached.completeExceptionally(e);
    }
  }
}
