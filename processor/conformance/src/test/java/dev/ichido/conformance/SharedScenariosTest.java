package dev.ichido.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The scenarios that every implementation is held to. */
class SharedScenariosTest {
  @TestFactory
  Stream<DynamicTest> everySharedScenarioHolds() {
    Path file = ScenarioFiles.shared();
    assumeTrue(Files.exists(file), "The shared scenarios are not beside this repository.");
    List<String> lines = ScenarioFiles.lines(file);
    assertThat(lines).hasSizeGreaterThanOrEqualTo(100);
    return lines.stream()
        .map(
            line -> {
              String id = Scenario.idOf(line, 0);
              return DynamicTest.dynamicTest(
                  id, () -> assertThat(Conformance.runLine(id, line)).isEmpty());
            });
  }
}
