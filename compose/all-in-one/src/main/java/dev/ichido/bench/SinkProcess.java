package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Path;

/** The remote's process. */
final class SinkProcess implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final Process process;
  private final int port;

  /**
   * The remote's own book.
   *
   * @param effects how many there were
   * @param doubled keys that had more than one
   */
  record Book(long effects, long doubled) {}

  private SinkProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  static SinkProcess start() {
    try {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx256m",
                  "-XX:+UseSerialGC",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Sink.class.getName())
              .redirectError(Redirect.INHERIT)
              .start();
      String port =
          new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8)).readLine();
      if (port == null) {
        throw new IllegalStateException("Expected the remote to start, but its process ended.");
      }
      return new SinkProcess(process, Integer.parseInt(port));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return port;
  }

  Book book() {
    try (InputStream answer =
        URI.create("http://127.0.0.1:" + port + "/count").toURL().openStream()) {
      JsonNode count = JSON.readTree(answer);
      return new Book(count.path("effects").asLong(), count.path("doubled").asLong());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroy();
  }
}
