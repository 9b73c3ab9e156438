package dev.ichido.registry;

import dev.ichido.registry.RegistryEvent.CompatibilitySet;
import dev.ichido.registry.RegistryEvent.Mode;
import dev.ichido.registry.RegistryEvent.ModeSet;
import dev.ichido.registry.RegistryEvent.SchemaRegistered;
import dev.ichido.registry.RegistryEvent.VersionDeleted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;
import org.jspecify.annotations.Nullable;

/**
 * What is registered. Every change is in the log before it is seen; several registries may share
 * one log, since a writer that finds its position taken learns first what it missed. Readers see
 * what others wrote when they ask for something unknown here.
 */
final class Subjects {
  static final CompatibilityLevel DEFAULT_LEVEL = CompatibilityLevel.FULL_TRANSITIVE;

  /**
   * @param text Avro's own text of the schema: equal texts are the same schema
   */
  record Version(String subject, int version, int id, String text, boolean deleted) {
    Version asDeleted() {
      return new Version(subject, version, id, text, true);
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final RegistryLog log;
  private final Map<Integer, String> textById = new TreeMap<>();
  private final Map<String, Integer> idByText = new HashMap<>();
  private final Map<String, List<Version>> versions = new TreeMap<>();
  private final Map<String, CompatibilityLevel> levels = new HashMap<>();
  private final Map<String, Mode> modes = new HashMap<>();
  private CompatibilityLevel globalLevel = DEFAULT_LEVEL;
  private Mode globalMode = Mode.READWRITE;
  private long position;

  Subjects(RegistryLog log) {
    this.log = log;
    catchUp();
  }

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  private void catchUp() {
    for (String event : log.read(position)) {
      apply(RegistryEvent.fromJson(position, event));
      position++;
    }
  }

  private void apply(RegistryEvent event) {
    switch (event) {
      case SchemaRegistered e -> {
        textById.put(e.id(), e.schema());
        idByText.put(e.schema(), e.id());
        versions
            .computeIfAbsent(e.subject(), s -> new ArrayList<>())
            .add(new Version(e.subject(), e.version(), e.id(), e.schema(), false));
      }
      case VersionDeleted e ->
          versions.computeIfPresent(
              e.subject(),
              (s, all) -> {
                all.replaceAll(v -> v.version() == e.version() ? v.asDeleted() : v);
                return all;
              });
      case CompatibilitySet e -> {
        if (e.subject() == null) {
          globalLevel = e.level() == null ? DEFAULT_LEVEL : e.level();
        } else {
          putOrRemove(levels, e.subject(), e.level());
        }
      }
      case ModeSet e -> {
        if (e.subject() == null) {
          globalMode = e.mode() == null ? Mode.READWRITE : e.mode();
        } else {
          putOrRemove(modes, e.subject(), e.mode());
        }
      }
    }
  }

  private static <V> void putOrRemove(Map<String, V> map, String key, @Nullable V value) {
    if (value == null) {
      map.remove(key);
    } else {
      map.put(key, value);
    }
  }

  /** Decides on the state as it is, and again when another writer was faster. */
  private <T> T change(Supplier<Change<T>> decide) {
    return locked(
        () -> {
          while (true) {
            Change<T> change = decide.get();
            RegistryEvent event = change.event;
            if (event == null) {
              return change.answer;
            }
            if (log.tryAppend(position, event.toJson())) {
              apply(event);
              position++;
              return change.answer;
            }
            catchUp();
          }
        });
  }

  private record Change<T>(@Nullable RegistryEvent event, T answer) {}

  static Schema parsed(String text) {
    try {
      return new Schema.Parser().parse(text);
    } catch (SchemaParseException e) {
      throw RegistryError.invalidSchema(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      throw RegistryError.invalidSchema(e.getClass().getSimpleName());
    }
  }

  /** Registers the schema, or finds it registered. */
  Version register(String subject, Schema schema) {
    String text = schema.toString();
    return change(
        () -> {
          Optional<Version> same =
              offered(subject).stream().filter(v -> v.text.equals(text)).findFirst();
          if (same.isPresent()) {
            return new Change<>(null, same.get());
          }
          if (effectiveMode(subject) == Mode.READONLY) {
            throw RegistryError.notPermitted("Subject " + subject + " is in read-only mode");
          }
          CompatibilityLevel level = effectiveLevel(subject);
          List<String> objections = level.objections(schema, schemas(offered(subject)));
          if (!objections.isEmpty()) {
            throw RegistryError.incompatible(subject, level, objections);
          }
          Integer known = idByText.get(text);
          int id = known != null ? known : nextId();
          int version = versions.getOrDefault(subject, List.of()).size() + 1;
          return new Change<>(
              new SchemaRegistered(subject, version, id, text),
              new Version(subject, version, id, text, false));
        });
  }

  private int nextId() {
    return textById.keySet().stream().mapToInt(Integer::intValue).max().orElse(0) + 1;
  }

  private List<Version> offered(String subject) {
    return versions.getOrDefault(subject, List.of()).stream().filter(v -> !v.deleted).toList();
  }

  private static List<Schema> schemas(List<Version> versions) {
    return versions.stream().map(v -> new Schema.Parser().parse(v.text)).toList();
  }

  Version requireRegistered(String subject, Schema schema, boolean withDeleted) {
    String text = schema.toString();
    return versions(subject, withDeleted).stream()
        .filter(v -> v.text.equals(text))
        .findFirst()
        .orElseThrow(RegistryError::schemaNotFound);
  }

  Optional<String> findText(int id) {
    return locked(
        () -> {
          if (!textById.containsKey(id)) {
            catchUp();
          }
          return Optional.ofNullable(textById.get(id));
        });
  }

  List<Version> versionsOf(int id, boolean withDeleted) {
    return locked(
        () ->
            versions.values().stream()
                .flatMap(List::stream)
                .filter(v -> v.id == id && (withDeleted || !v.deleted))
                .toList());
  }

  List<String> names(String prefix, boolean withDeleted) {
    return locked(
        () -> {
          catchUp();
          return versions.entrySet().stream()
              .filter(e -> e.getKey().startsWith(prefix))
              .filter(e -> withDeleted || e.getValue().stream().anyMatch(v -> !v.deleted))
              .map(Map.Entry::getKey)
              .toList();
        });
  }

  /** Versions of the subject in order; there is at least one. */
  List<Version> versions(String subject, boolean withDeleted) {
    return locked(
        () -> {
          catchUp();
          List<Version> found =
              withDeleted
                  ? List.copyOf(versions.getOrDefault(subject, List.of()))
                  : offered(subject);
          if (found.isEmpty()) {
            throw RegistryError.subjectNotFound(subject);
          }
          return found;
        });
  }

  /**
   * @param version a number, {@code latest} or {@code -1}
   */
  Version require(String subject, String version, boolean withDeleted) {
    int number = number(version);
    List<Version> all = versions(subject, withDeleted);
    return number == -1
        ? all.getLast()
        : all.stream()
            .filter(v -> v.version == number)
            .findFirst()
            .orElseThrow(() -> RegistryError.versionNotFound(version));
  }

  private static int number(String version) {
    if (version.equals("latest") || version.equals("-1")) {
      return -1;
    }
    try {
      int number = Integer.parseInt(version);
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The answer below says all that there is to say.
    }
    throw RegistryError.invalidVersion(version);
  }

  int delete(String subject, String version) {
    Version deleted = require(subject, version, false);
    return change(
        () -> new Change<>(new VersionDeleted(subject, deleted.version), deleted.version));
  }

  List<Integer> delete(String subject) {
    return versions(subject, false).stream()
        .map(v -> delete(subject, Integer.toString(v.version)))
        .toList();
  }

  /** What stands against the schema as the next version of the subject. */
  List<String> objections(String subject, Schema schema) {
    return locked(
        () -> {
          catchUp();
          return effectiveLevel(subject).objections(schema, schemas(offered(subject)));
        });
  }

  /** What stands between the schema and one version; nothing stands against a subject's first. */
  List<String> objections(String subject, String version, Schema schema) {
    return locked(
        () -> {
          catchUp();
          List<Version> against =
              number(version) == -1 && offered(subject).isEmpty()
                  ? List.of()
                  : List.of(require(subject, version, false));
          return effectiveLevel(subject).objections(schema, schemas(against));
        });
  }

  CompatibilityLevel globalLevel() {
    return locked(() -> globalLevel);
  }

  Optional<CompatibilityLevel> findLevel(String subject) {
    return locked(() -> Optional.ofNullable(levels.get(subject)));
  }

  CompatibilityLevel effectiveLevel(String subject) {
    return locked(() -> levels.getOrDefault(subject, globalLevel));
  }

  void setLevel(@Nullable String subject, @Nullable CompatibilityLevel level) {
    change(() -> new Change<>(new CompatibilitySet(subject, level), true));
  }

  Mode globalMode() {
    return locked(() -> globalMode);
  }

  Optional<Mode> findMode(String subject) {
    return locked(() -> Optional.ofNullable(modes.get(subject)));
  }

  Mode effectiveMode(String subject) {
    return locked(() -> modes.getOrDefault(subject, globalMode));
  }

  void setMode(@Nullable String subject, @Nullable Mode mode) {
    change(() -> new Change<>(new ModeSet(subject, mode), true));
  }
}
