package dev.ichido.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Where scenarios lie. */
final class ScenarioFiles {
  private ScenarioFiles() {}

  /** The file that is handed to every implementation, beside the repository; it may be missing. */
  static Path shared() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder.getParent() != null && !Files.isDirectory(folder.resolve(".mvn"))) {
      folder = folder.getParent();
    }
    return folder.resolveSibling("shared").resolve("conformance").resolve("scenarios.jsonl");
  }

  /** The project's own. */
  static List<Path> own() {
    try (Stream<Path> files = Files.list(Path.of("src", "test", "resources", "scenarios"))) {
      return files.filter(it -> it.toString().endsWith(".jsonl")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file).stream().filter(it -> !it.isBlank()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
