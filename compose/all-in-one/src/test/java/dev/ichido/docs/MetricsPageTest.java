package dev.ichido.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of metrics names every meter that the code makes, and no other. */
class MetricsPageTest {
  private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
  private static final Pattern MADE =
      Pattern.compile("(?:[cC]ounter|timer|summary|gauge|builder)\\(\\s*\"(ichido\\.[a-z_.]+)\"");
  private static final Pattern TOLD = Pattern.compile("\\| `(ichido\\.[a-z_.]+)` \\|");

  @Test
  void everyMeterIsOnThePageAndThePageNamesNoOther() throws IOException {
    Set<String> made = new TreeSet<>();
    for (Path source : sources()) {
      made.addAll(names(MADE, Files.readString(source)));
    }
    assertThat(names(TOLD, Files.readString(ROOT.resolve("topology-docs/metrics.md"))))
        .as("Expected a row in topology-docs/metrics.md for each meter of the code, and no other.")
        .isEqualTo(made);
  }

  private static Set<String> names(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map((MatchResult found) -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT, 12)) {
      return files
          .filter(file -> file.toString().contains("/src/main/java/"))
          .filter(file -> file.toString().endsWith(".java"))
          .toList();
    }
  }
}
