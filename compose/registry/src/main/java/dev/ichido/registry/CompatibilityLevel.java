package dev.ichido.registry;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/** What a new version of a schema owes to the earlier ones. */
public enum CompatibilityLevel {
  /** Nothing. */
  NONE(false, false, false),
  /** It reads what the last version wrote. */
  BACKWARD(true, false, false),
  /** It reads what any version wrote. */
  BACKWARD_TRANSITIVE(true, false, true),
  /** The last version reads what it writes. */
  FORWARD(false, true, false),
  /** Every version reads what it writes. */
  FORWARD_TRANSITIVE(false, true, true),
  /** It and the last version read each other. */
  FULL(true, true, false),
  /** It and every version read each other: writers and readers are upgraded in any order. */
  FULL_TRANSITIVE(true, true, true);

  private final boolean readsOlder;
  private final boolean readByOlder;
  private final boolean withEvery;

  CompatibilityLevel(boolean readsOlder, boolean readByOlder, boolean withEvery) {
    this.readsOlder = readsOlder;
    this.readByOlder = readByOlder;
    this.withEvery = withEvery;
  }

  static Optional<CompatibilityLevel> find(String name) {
    String upper = name.toUpperCase(Locale.ROOT);
    return Arrays.stream(values()).filter(level -> level.name().equals(upper)).findFirst();
  }

  /**
   * What stands against the new schema; empty when nothing does.
   *
   * @param earlier versions in order, the last one last
   */
  List<String> objections(Schema fresh, List<Schema> earlier) {
    List<String> objections = new ArrayList<>();
    for (Schema old :
        withEvery ? earlier : earlier.subList(Math.max(0, earlier.size() - 1), earlier.size())) {
      if (readsOlder) {
        add(objections, "the new schema cannot read what an earlier one wrote", fresh, old);
      }
      if (readByOlder) {
        add(objections, "an earlier schema cannot read what the new one writes", old, fresh);
      }
    }
    return objections;
  }

  private static void add(List<String> objections, String what, Schema reader, Schema writer) {
    SchemaCompatibility.checkReaderWriterCompatibility(reader, writer)
        .getResult()
        .getIncompatibilities()
        .forEach(
            reason ->
                objections.add(
                    "%s: %s at %s: %s"
                        .formatted(
                            what, reason.getType(), reason.getLocation(), reason.getMessage())));
  }
}
