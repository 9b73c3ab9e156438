package dev.ichido.decision.table;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.ReasonCode;
import dev.ichido.decision.StateName;
import dev.ichido.decision.Verdict;
import dev.ichido.decision.table.DecisionTable.Column;
import dev.ichido.decision.table.DecisionTable.Row;
import dev.ichido.operation.RefusalCode;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Keeps the generated pages true to the code, and the table true to the tests. */
class DecisionDocsTest {
  private static final String REGENERATE =
      "mvn test -pl processor/decision -am -Dtest=DecisionDocsTest"
          + " -Dsurefire.failIfNoSpecifiedTests=false -Dichido.docs.write=true";

  @Test
  void decisionTableIsUpToDate() throws IOException {
    compare("decision-table.md", table());
  }

  @Test
  void stateDiagramIsUpToDate() throws IOException {
    compare("states.mmd", diagram());
  }

  @Test
  void verdictPageIsUpToDate() throws IOException {
    compare("verdicts.md", verdicts());
  }

  @Test
  void everyCellIsTakenByATest() {
    Map<String, List<String>> takers = takers();
    List<String> untaken =
        DecisionTable.cells().stream()
            .filter(cell -> takersOf(cell, takers).isEmpty())
            .map(DecisionTable.Cell::name)
            .toList();
    assertThat(untaken).as("cells that no test takes").isEmpty();
  }

  @Test
  void everyNamedCellExists() {
    TreeSet<String> known = new TreeSet<>();
    for (DecisionTable.Cell cell : DecisionTable.cells()) {
      known.add(cell.name());
      known.add(wholeRow(cell.row()));
    }
    assertThat(known).as("cells that exist").containsAll(takers().keySet());
  }

  // Pages

  private static String table() {
    Map<String, List<String>> takers = takers();
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Decision table

        Generated from `DecisionTable`, which asks the shipped decision for every cell. The verdict in
        brackets is that on a deadline that had passed before the event. Each cell names the tests that
        take it.

        """);
    page.append("Regenerate: `").append(REGENERATE).append("`\n");
    for (Row row : Row.values()) {
      page.append("\n## ").append(row.label()).append("\n\n");
      page.append("| event | verdict | state after | leaves | taken by |\n|---|---|---|---|---|\n");
      for (Column column : Column.values()) {
        DecisionTable.Cell cell = DecisionTable.cell(row, column);
        page.append("| ")
            .append(column.label())
            .append(" | ")
            .append(cell.lapsed().stream().map(v -> "(" + v + ") ").collect(joining()))
            .append(cell.verdict())
            .append(" | ")
            .append(cell.next() == cell.before() ? "stays" : cell.next().name())
            .append(" | ")
            .append(leaves(cell))
            .append(" | ")
            .append(String.join(", ", takersOf(cell, takers)))
            .append(" |\n");
      }
    }
    return page.toString();
  }

  private static String leaves(DecisionTable.Cell cell) {
    List<String> leaves = new ArrayList<>();
    if (cell.command()) {
      leaves.add(cell.column() == Column.INTENT_READ ? "read" : "attempt");
    }
    if (cell.statusRead()) {
      leaves.add("status read");
    }
    if (cell.alarm()) {
      leaves.add("alarm");
    }
    return String.join(", ", leaves);
  }

  private static String diagram() {
    Map<String, TreeSet<String>> edges = new TreeMap<>();
    for (DecisionTable.Change change : DecisionTable.changes()) {
      String edge = node(change.before()) + " --> " + node(change.next());
      edges.computeIfAbsent(edge, key -> new TreeSet<>()).add(change.verdict().name());
    }
    StringBuilder page = new StringBuilder("stateDiagram-v2\n");
    page.append("  %% Generated from DecisionTable. Regenerate: ").append(REGENERATE).append('\n');
    edges.forEach(
        (edge, verdicts) ->
            page.append("  ")
                .append(edge)
                .append(" : ")
                .append(String.join(", ", verdicts))
                .append('\n'));
    return page.toString();
  }

  private static String node(StateName state) {
    return state == StateName.ABSENT ? "[*]" : state.name();
  }

  private static String verdicts() {
    StringBuilder page = new StringBuilder();
    page.append(
        """
        # Verdicts

        The one word for what was decided on an event, in replies, in the journal and in the counters.
        Of the verdicts on an intent the first that applies is given; what comes first hides what comes
        later.

        """);
    page.append("Regenerate: `").append(REGENERATE).append("`\n");
    int precedence = 0;
    long onIntents = Arrays.stream(Verdict.values()).filter(DecisionDocsTest::isOnIntent).count();
    for (Verdict verdict : Verdict.values()) {
      boolean onIntent = isOnIntent(verdict);
      page.append("\n## ").append(verdict).append("\n\n");
      page.append(VerdictGuide.meaning(verdict)).append("\n\n");
      page.append(onIntent ? "Precedence: " + ++precedence + " of " + onIntents + ".\n\n" : "");
      page.append("What to do: ").append(VerdictGuide.whatToDo(verdict)).append("\n\n");
      page.append(
          verdict.leavesWaiting()
              ? "The delivery waits: further replies follow, unless the reply says that it is final.\n"
              : onIntent && verdict != Verdict.PASSED_THROUGH ? "The reply is final.\n" : "");
    }
    page.append("\n# Codes beside a verdict\n");
    for (ReasonCode code : ReasonCode.values()) {
      page.append("\n## ")
          .append(code)
          .append("\n\n")
          .append(VerdictGuide.meaning(code))
          .append('\n');
    }
    page.append("\n# Codes of INVALID\n");
    for (RefusalCode code : RefusalCode.values()) {
      page.append("\n## ").append(code).append("\n\n");
      page.append("Expected ")
          .append(code.expected())
          .append(". ")
          .append(code.check())
          .append('\n');
    }
    return page.toString().replaceAll("\n{3,}", "\n\n");
  }

  private static boolean isOnIntent(Verdict verdict) {
    return verdict.compareTo(Verdict.CLAIMED) <= 0;
  }

  private static void compare(String name, String generated) throws IOException {
    Path file = docs().resolve(name);
    if (Boolean.getBoolean("ichido.docs.write")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, generated);
    }
    String kept = Files.exists(file) ? Files.readString(file) : "";
    assertThat(kept)
        .as(
            "Expected topology-docs/%s as the code has it, but it is stale. Run: %s",
            name, REGENERATE)
        .isEqualTo(generated);
  }

  private static Path docs() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(folder.resolve(".mvn"))) {
      folder = folder.getParent();
      if (folder == null) {
        throw new AssertionError(
            "Expected to run inside the repository. Check the working folder.");
      }
    }
    return folder.resolve("topology-docs");
  }

  // Which test takes which cell

  private static String wholeRow(Row row) {
    return row.label() + " x *";
  }

  private static List<String> takersOf(DecisionTable.Cell cell, Map<String, List<String>> takers) {
    List<String> own = takers.getOrDefault(cell.name(), List.of());
    return own.isEmpty() ? takers.getOrDefault(wholeRow(cell.row()), List.of()) : own;
  }

  /** Test methods by the cells that they name. */
  private static Map<String, List<String>> takers() {
    Map<String, List<String>> takers = new TreeMap<>();
    for (Class<?> type : testClasses()) {
      Method[] methods = type.getDeclaredMethods();
      Arrays.sort(methods, Comparator.comparing(Method::getName));
      for (Method method : methods) {
        Cell taken = method.getAnnotation(Cell.class);
        if (taken != null) {
          for (String cell : taken.value()) {
            takers
                .computeIfAbsent(cell, key -> new ArrayList<>())
                .add(type.getSimpleName() + "." + method.getName());
          }
        }
      }
    }
    return takers;
  }

  private static List<Class<?>> testClasses() {
    try {
      Path root =
          Path.of(
              DecisionDocsTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      try (Stream<Path> files = Files.walk(root)) {
        List<Class<?>> classes = new ArrayList<>();
        for (Path file : files.filter(f -> f.toString().endsWith("Test.class")).sorted().toList()) {
          String name = root.relativize(file).toString().replace('/', '.');
          classes.add(Class.forName(name.substring(0, name.length() - ".class".length())));
        }
        return classes;
      }
    } catch (URISyntaxException | IOException | ClassNotFoundException broken) {
      throw new AssertionError(broken);
    }
  }
}
