package dev.ichido.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RefusalCodeDocsTest {
  private static final Path PAGE = Path.of("../../topology-docs/refusal-codes.md");
  private static List<String> lines = List.of();

  @BeforeAll
  static void read() throws IOException {
    lines = Files.readAllLines(PAGE);
  }

  @Test
  void everyCodeHasASectionAndEverySectionACode() {
    assertThat(lines.stream().filter(line -> line.startsWith("## ")))
        .as("sections of %s", PAGE)
        .containsExactlyElementsOf(
            Arrays.stream(RefusalCode.values()).map(code -> "## " + code).toList());
  }

  @ParameterizedTest
  @EnumSource
  void aSectionSaysWhatWasExpectedAndWhatToCheck(RefusalCode code) {
    int heading = lines.indexOf("## " + code);
    assertThat(lines.subList(heading + 1, heading + 4))
        .containsExactly(
            "", "- Expected: " + code.expected() + ".", "- What to check: " + code.check());
  }

  @ParameterizedTest
  @EnumSource
  void aRefusalIsOneSentenceOfTheHouseAndOneOfAdvice(RefusalCode code) {
    Refusal refusal = code.because("it was not");
    assertThat(refusal.code()).isEqualTo(code);
    assertThat(refusal.detail())
        .isEqualTo("Expected " + code.expected() + ", but it was not. " + code.check());
    assertThat(code.expected()).isNotBlank().doesNotEndWith(".");
    assertThat(code.check()).startsWith("Check ").endsWith(".");
  }
}
