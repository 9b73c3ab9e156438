package dev.ichido.schemas;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaFormatter;

/**
 * Every published version of every subject: {@code <subject>/v<number>.avsc}, the subject without
 * the prefix of the topics. The last version is a draft until it is released; the digests of the
 * released ones are kept in {@code released.sha256}, and those files are never edited.
 */
final class SchemaHistory {
  static final String HOW =
      "Run `mvn -pl schemas test -Dtest=SchemaHistoryTest -Dschemas.publish=draft` to write the current schema as the draft of the next version, and `-Dschemas.publish=release` with a release.";

  private final Path folder;

  SchemaHistory(Path folder) {
    this.folder = folder;
  }

  /** What is wrong with the subject; empty when nothing is. */
  List<String> problems(String subject, Schema current) {
    List<String> problems = new ArrayList<>();
    List<Path> files = versions(subject);
    if (files.isEmpty()) {
      return List.of(
          "Expected %s to be published, but it has no version. %s".formatted(subject, HOW));
    }
    Schema last = schema(files.get(files.size() - 1));
    if (!last.toString().equals(current.toString())) {
      problems.add(
          "Expected the current schema of %s to be its last published version, but it differs from v%d. %s"
              .formatted(subject, files.size(), HOW));
    }
    for (int i = 0; i < files.size(); i++) {
      for (String objection : objections(schema(files.get(i)), current)) {
        problems.add(
            "Expected the current schema of %s to be FULL_TRANSITIVE-compatible, but it is not with v%d: %s. Check that a field that was added or removed has a default."
                .formatted(subject, i + 1, objection));
      }
    }
    return problems;
  }

  /** What is wrong with released versions; empty when nothing is. */
  List<String> editedReleases() {
    List<String> problems = new ArrayList<>();
    released()
        .forEach(
            (file, digest) -> {
              Path path = folder.resolve(file);
              if (!Files.exists(path) || !digest(path).equals(digest)) {
                problems.add(
                    "Expected %s to be as it was released, but it was edited or removed. Restore it, and publish the change as a new version."
                        .formatted(file));
              }
            });
    return problems;
  }

  /** Writes the schema as the last version, a new one when the last one is released. */
  void publishDraft(String subject, Schema current) {
    List<Path> files = versions(subject);
    int last = files.size();
    if (last > 0 && schema(files.get(last - 1)).toString().equals(current.toString())) {
      return;
    }
    boolean draft = last > 0 && !released().containsKey(name(subject, last));
    Path file = folder.resolve(name(subject, draft ? last : last + 1));
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, SchemaFormatter.format("json/pretty", current) + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** From here on every version that exists is never edited. */
  void release(List<String> subjects) {
    Map<String, String> digests = released();
    for (String subject : subjects) {
      for (int version = 1; version <= versions(subject).size(); version++) {
        String name = name(subject, version);
        digests.putIfAbsent(name, digest(folder.resolve(name)));
      }
    }
    StringBuilder text = new StringBuilder();
    digests.forEach((name, digest) -> text.append(digest).append("  ").append(name).append('\n'));
    try {
      Files.writeString(folder.resolve("released.sha256"), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(String subject, int version) {
    return subject + "/v" + version + ".avsc";
  }

  private List<Path> versions(String subject) {
    List<Path> files = new ArrayList<>();
    for (int version = 1; ; version++) {
      Path file = folder.resolve(name(subject, version));
      if (!Files.exists(file)) {
        return files;
      }
      files.add(file);
    }
  }

  /** Files that no subject and no gapless numbering accounts for. */
  List<String> strays(List<String> subjects) {
    List<String> known = new ArrayList<>(List.of("released.sha256"));
    for (String subject : subjects) {
      versions(subject).forEach(file -> known.add(folder.relativize(file).toString()));
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> folder.relativize(file).toString())
          .filter(file -> !known.contains(file))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Map<String, String> released() {
    Map<String, String> digests = new TreeMap<>();
    Path file = folder.resolve("released.sha256");
    if (!Files.exists(file)) {
      return digests;
    }
    try {
      for (String line : Files.readAllLines(file)) {
        digests.put(line.substring(66), line.substring(0, 64));
      }
      return digests;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String digest(Path file) {
    try {
      String text = Files.readString(file).replace("\r\n", "\n");
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  private static Schema schema(Path file) {
    try {
      return new Schema.Parser().parse(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> objections(Schema published, Schema current) {
    List<String> objections = new ArrayList<>();
    for (var pair :
        List.of(
            SchemaCompatibility.checkReaderWriterCompatibility(current, published),
            SchemaCompatibility.checkReaderWriterCompatibility(published, current))) {
      pair.getResult()
          .getIncompatibilities()
          .forEach(reason -> objections.add(reason.getType() + " at " + reason.getLocation()));
    }
    return objections;
  }
}
