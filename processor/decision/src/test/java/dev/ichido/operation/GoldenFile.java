package dev.ichido.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Vectors of known answers, one a line, as columns between tabs. */
public final class GoldenFile {
  private static final Pattern ESCAPE = Pattern.compile("\\\\u([0-9a-f]{4})");

  private GoldenFile() {}

  /** The vectors that the library of the runtime is held to as well. */
  public static List<List<String>> shared(String name) {
    return rows(Path.of("../../outbox-relay/outbox/src/test/resources/golden", name));
  }

  /** The vectors of this module alone. */
  public static List<List<String>> own(String name) {
    return rows(Path.of("src/test/resources/golden", name));
  }

  private static List<List<String>> rows(Path file) {
    try {
      return Files.readAllLines(file, UTF_8).stream()
          .filter(line -> !line.startsWith("#"))
          .map(line -> Arrays.stream(line.split("\t", -1)).map(GoldenFile::unescaped).toList())
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String unescaped(String column) {
    StringBuilder text = new StringBuilder();
    var escapes = ESCAPE.matcher(column);
    int from = 0;
    while (escapes.find()) {
      text.append(column, from, escapes.start());
      text.append((char) Integer.parseInt(escapes.group(1), 16));
      from = escapes.end();
    }
    return text.append(column, from, column.length()).toString();
  }
}
