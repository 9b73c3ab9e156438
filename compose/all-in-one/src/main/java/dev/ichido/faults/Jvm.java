package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A Java process of its own, with this process's classes. It can be killed and started again. */
final class Jvm implements AutoCloseable {
  private static final long END_SECONDS = 20;

  private final Guard guard;
  private final String name;
  private final List<String> command;
  private final Map<String, String> environment;
  private final Path log;
  private Runnable beforeEnd = () -> {};
  private @Nullable Process process;
  private boolean paused;
  private long logStart;

  /**
   * Starts nothing yet.
   *
   * @param guard ends it when this process can't
   * @param log where its standard error and output go, appended
   */
  Jvm(
      Guard guard,
      String name,
      int heapMegabytes,
      Path log,
      Map<String, String> environment,
      String mainClass,
      List<String> arguments) {
    this.guard = guard;
    this.name = name;
    this.log = log;
    this.environment = Map.copyOf(environment);
    this.command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xms16m",
            "-Xmx" + heapMegabytes + "m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "-Xlog:disable",
            "-Xlog:all=error:stderr"));
    // The same archive of loaded classes halves the start here too.
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(it -> it.startsWith("-XX:SharedArchiveFile=") || it.startsWith("--sun-misc-unsafe"))
        .forEach(command::add);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
    command.addAll(arguments);
  }

  String name() {
    return name;
  }

  /** Does nothing when it runs. */
  void start(String... more) {
    if (isAlive()) {
      return;
    }
    List<String> all = new ArrayList<>(command);
    all.addAll(List.of(more));
    ProcessBuilder builder =
        new ProcessBuilder(all)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(environment);
    logStart = log.toFile().length();
    paused = false;
    try {
      Process running = builder.start();
      process = running;
      guard.started(running);
      var unused = running.onExit().thenAccept(guard::ended);
      running.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts it, waits for its end and returns its code. */
  int run() throws InterruptedException {
    start();
    Process running = process;
    return running == null ? -1 : running.waitFor();
  }

  boolean isAlive() {
    Process running = process;
    return running != null && running.isAlive();
  }

  /** Whether it runs under that process id. */
  boolean isProcess(long pid) {
    Process running = process;
    return running != null && running.isAlive() && running.pid() == pid;
  }

  /** What is to be done before each of its ends that a scenario brings about. */
  void beforeEnd(Runnable action) {
    beforeEnd = action;
  }

  /** SIGKILL; returns when it is gone. */
  void kill() {
    if (isAlive()) {
      beforeEnd.run();
    }
    close();
  }

  /** SIGSTOP. */
  void pause() {
    signal("-STOP");
    paused = true;
  }

  /** SIGCONT; does nothing when it was not paused. */
  void resume() {
    if (paused) {
      signal("-CONT");
      paused = false;
    }
  }

  /** SIGTERM; returns when it is gone. */
  void end() {
    Process running = process;
    if (running != null) {
      if (running.isAlive()) {
        beforeEnd.run();
      }
      running.destroy();
      awaitEnd(running);
    }
  }

  /** What it wrote to its log since it was started the last time. */
  Stream<String> lines() {
    try (FileInputStream file = new FileInputStream(log.toFile())) {
      file.skipNBytes(logStart);
      return new String(file.readAllBytes(), UTF_8).lines();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The last lines of its log. */
  String tail() {
    try {
      List<String> lines = Files.readAllLines(log, UTF_8);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 8), lines.size()));
    } catch (IOException e) {
      return "no log";
    }
  }

  @Override
  public void close() {
    Process running = process;
    if (running != null) {
      running.destroyForcibly();
      awaitEnd(running);
    }
  }

  private void signal(String signal) {
    Process running = process;
    if (running == null || !running.isAlive()) {
      throw new IllegalStateException("Expected " + name + " to run, but it does not.");
    }
    try {
      int code =
          new ProcessBuilder("kill", signal, String.valueOf(running.pid())).start().waitFor();
      if (code != 0) {
        throw new IllegalStateException(
            "Expected kill " + signal + " to work, but it ended " + code);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void awaitEnd(Process running) {
    boolean interrupted = false;
    try {
      if (!running.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        running.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      interrupted = true;
      running.destroyForcibly();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
