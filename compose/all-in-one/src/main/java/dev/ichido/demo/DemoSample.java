package dev.ichido.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;

/** The calls that are made when no input is given: three runtimes' shapes, reads and writes. */
final class DemoSample {
  static final String NAME = "the built-in sample";
  private static final String RESOURCE = "sample.jsonl";

  private DemoSample() {}

  static byte[] bytes() {
    try (InputStream stream = DemoSample.class.getResourceAsStream(RESOURCE)) {
      if (stream == null) {
        throw new IllegalStateException("Expected " + RESOURCE + " in the jar, but it is missing.");
      }
      return stream.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<ToolCall> read() {
    return ToolCallReader.read(NAME, bytes());
  }
}
