package dev.ichido.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/** Vectors of known answers, one a line, as columns between tabs. */
final class GoldenFile {
  private static final Pattern ESCAPE = Pattern.compile("\\\\u([0-9a-f]{4})");

  private GoldenFile() {}

  static List<List<String>> rows(String name) throws IOException {
    try (InputStream file = GoldenFile.class.getResourceAsStream("/golden/" + name)) {
      return new String(Objects.requireNonNull(file).readAllBytes(), UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> Arrays.stream(line.split("\t", -1)).map(GoldenFile::unescaped).toList())
          .toList();
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
