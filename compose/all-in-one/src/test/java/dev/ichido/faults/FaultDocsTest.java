package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The table of faults says what the last checked-in run said. */
class FaultDocsTest {
  private static final Path ROOT = Path.of("..", "..");
  private static final Path DOCS = ROOT.resolve("topology-docs");
  private static final String BEGIN =
      "<!-- fault-battery: generated, see topology-docs/fault-battery.md -->\n";
  private static final String END = "<!-- fault-battery: end -->";
  private static final String REGENERATE =
      "mvn -B test -pl compose/all-in-one -am -Dtest=FaultDocsTest"
          + " -Dsurefire.failIfNoSpecifiedTests=false -Dichido.docs.write=true";

  private static JsonNode run;

  @BeforeAll
  static void read() throws IOException {
    run = new JsonMapper().readTree(Files.readString(DOCS.resolve("fault-battery.json")));
  }

  @Test
  void thePageIsTheRun() throws IOException {
    String page =
        """
        # The fault battery

        What came of the last run that was checked in, `topology-docs/fault-battery.json`. Run it yourself with `./ichido faults`: relay, processor, executor, inbox, broker, database and remotes are processes of their own, which are killed, stopped and cut off while a load runs. Effects are counted in the remotes' own books and compared with what was published; Ichido's ledger is not asked. `--list` names the scenarios, `--only` picks some, `--seed` reproduces the moments of the faults.

        One command makes it anew, `./ichido faults --rounds N --json > topology-docs/fault-battery.json`; then `%s` writes this page and the table of the README.

        A scenario holds when no operation has an effect too many or too few, also when the books are counted again after the last process of its system is gone; every delivery has its last answer, no success was told that the books do not have, nothing stays unknown whose remote can be asked, no audit of a relay had to mend what its position passed over, and what is written under "what must hold" was seen. One that waits in vain breaks off, and the next one gets new processes. The same seed gives each system the same scenarios in the same order. `FR-..` are field reports, `F-01` to `F-13` and `M-01` to `M-19` the faults and failure modes, in the order of the list at the end.

        Unknown "before any call" are operations whose lease ended while their command lay in a queue, as the claims prove: such an attempt never ran, and the next one does.

        """
                .formatted(REGENERATE)
            + FaultTable.markdown(run)
            + "\n"
            + FaultTable.legend();
    compare(DOCS.resolve("fault-battery.md"), page);
  }

  @Test
  void theReadmesTableIsTheRun() throws IOException {
    Path file = ROOT.resolve("README.md");
    String readme = Files.readString(file);
    int begin = readme.indexOf(BEGIN);
    int end = readme.indexOf(END);
    assertThat(begin).isNotNegative();
    assertThat(end).isGreaterThan(begin);
    compare(
        file,
        readme.substring(0, begin + BEGIN.length())
            + FaultTable.groups(run)
            + readme.substring(end));
  }

  @Test
  void nothingIsLeftOutOfTheRunAndWhatDoesNotHoldHasItsReason() throws IOException {
    String guarantees = Files.readString(DOCS.resolve("guarantees.md"));
    List<String> ids = new ArrayList<>();
    for (JsonNode scenario : run.path("scenarios")) {
      ids.add(scenario.path("id").asText());
      if (!scenario.path("pass").asBoolean()) {
        assertThat(guarantees).contains("`" + scenario.path("id").asText() + "`");
      }
    }
    FailureModes.limits().forEach(it -> assertThat(guarantees).contains("`" + it.id() + "`"));
    assertThat(ids).isEqualTo(Battery.ids());
  }

  /** What is printed of it is claimed of a whole run under the full load. */
  @Test
  void theRunIsAWholeOne() {
    assertThat(run.path("rounds").asInt()).isGreaterThanOrEqualTo(5);
    assertThat(run.path("load_operations").asInt()).isGreaterThanOrEqualTo(2_000);
    assertThat(run.has("stopped")).isFalse();
    assertThat(run.at("/taken/commit").asText()).isNotEqualTo("unknown").doesNotEndWith("-dirty");
    for (String total : List.of("duplicate_effects", "lost", "false_dedupe")) {
      assertThat(run.path(total).asInt(-1)).as(total).isZero();
    }
  }

  @Test
  void everyFaultAndFailureModeHasAScenario() {
    Set<String> covered = new TreeSet<>();
    Scenarios.all().forEach(it -> covered.addAll(it.covers()));
    assertThat(covered).containsAll(FaultTable.CASES.keySet());
    assertThat(covered)
        .contains("FR-20", "FR-21", "FR-22", "FR-23", "FR-24", "FR-25", "FR-26", "FR-29", "FR-31")
        .contains("FR-27", "FR-28", "FR-30");
  }

  private static void compare(Path file, String text) throws IOException {
    if (Boolean.getBoolean("ichido.docs.write")) {
      Files.writeString(file, text);
    }
    assertThat(Files.readString(file)).as("Regenerate: %s", REGENERATE).isEqualTo(text);
  }
}
