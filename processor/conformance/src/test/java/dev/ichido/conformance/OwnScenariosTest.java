package dev.ichido.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The project's own scenarios: the rules that the shared file leaves open. */
class OwnScenariosTest {
  @TestFactory
  Stream<DynamicContainer> everyOwnScenarioHolds() {
    return ScenarioFiles.own().stream()
        .map(
            file ->
                DynamicContainer.dynamicContainer(
                    String.valueOf(file.getFileName()),
                    ScenarioFiles.lines(file).stream()
                        .map(
                            line -> {
                              String id = Scenario.idOf(line, 0);
                              return DynamicTest.dynamicTest(
                                  id, () -> assertThat(Conformance.runLine(id, line)).isEmpty());
                            })));
  }

  @Test
  void noIdIsUsedTwice() {
    List<String> ids =
        ScenarioFiles.own().stream()
            .flatMap(file -> ScenarioFiles.lines(file).stream())
            .map(line -> Scenario.idOf(line, 0))
            .toList();
    assertThat(ids).hasSizeGreaterThanOrEqualTo(120).doesNotHaveDuplicates();
  }
}
