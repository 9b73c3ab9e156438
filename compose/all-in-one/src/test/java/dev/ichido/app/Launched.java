package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** The built jar as a process of its own, so that it can be killed. */
public final class Launched implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final Process process;
  private final Path out;
  private final Path err;

  private Launched(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  public static Launched start(Path folder, String... arguments) throws IOException {
    return start(folder, 384, arguments);
  }

  static Launched start(Path folder, int heapMb, String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heapMb + "m",
                "-XX:+UseSerialGC",
                "-jar",
                Path.of("target", "ichido.jar").toAbsolutePath().toString()));
    command.addAll(List.of(arguments));
    Path out = Files.createTempFile(folder, "out", ".txt");
    Path err = Files.createTempFile(folder, "err", ".txt");
    return new Launched(
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start(),
        out,
        err);
  }

  public int awaitExit() throws InterruptedException {
    if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("The command did not end: " + err());
    }
    return process.exitValue();
  }

  public void awaitErr(String text) {
    Awaitility.await()
        .atMost(LIMIT)
        .until(
            () -> {
              if (!process.isAlive()) {
                throw new AssertionError("The command ended: " + err());
              }
              return err().contains(text);
            });
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** kill -9. */
  public void kill() throws InterruptedException {
    process.destroyForcibly();
    awaitExit();
  }

  /** SIGTERM, which Ctrl-C is too for this purpose. */
  public void terminate() {
    process.destroy();
  }

  public String out() {
    return read(out);
  }

  public String err() {
    return read(err);
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, UTF_8);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
