package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is written about the door is what it does. */
class GatewayDocsTest {
  private static final Path DOCS = Path.of("..", "..", "topology-docs");
  private static final String REGENERATE =
      "mvn test -pl outbox-relay/gateway -am -Dtest=GatewayDocsTest"
          + " -Dsurefire.failIfNoSpecifiedTests=false -Dichido.docs.write=true";

  @Test
  void theOpenApiDocumentIsTheOneThatIsServed() throws IOException {
    compare(DOCS.resolve("openapi.json"), OpenApi.document().toPrettyString() + "\n");
  }

  @Test
  void everyStatusIsListed() throws IOException {
    compare(DOCS.resolve("http-answers.md"), answers());
  }

  @Test
  void everySentenceForAModelIsListed() throws IOException {
    compare(DOCS.resolve("mcp-answers.md"), sentences());
  }

  /** "Again" is only ever forbidden, or bound to the same operation. */
  @Test
  void noSentenceInvitesAnotherCallWhereAnEffectMayHaveHappened() {
    McpAnswers.all()
        .values()
        .forEach(
            lines ->
                assertThat(lines.values())
                    .allSatisfy(
                        line ->
                            assertThat(line.sentence())
                                .doesNotContainIgnoringCase("try again")
                                .doesNotContainIgnoringCase("retry")
                                .doesNotContainPattern("(?i)(?<!do not )\\bcall the tool again")));
  }

  @Test
  void everyReferenceOfTheDocumentLeadsSomewhere() {
    JsonNode document = OpenApi.document();
    List<String> references = new ArrayList<>();
    document.findValues("$ref").forEach(node -> references.add(node.asText()));
    assertThat(references)
        .isNotEmpty()
        .allSatisfy(
            reference -> assertThat(document.at(reference.substring(1)).isObject()).isTrue());
  }

  private static String answers() {
    StringBuilder page =
        new StringBuilder(
            """
            # Answers of the HTTP door

            The door judges nothing: it looks the processor's reply up in this table, from top to
            bottom, and the first line that names it holds. `retry` in the body says whether the same
            request with the same key is of use.

            Regenerate: `%s`

            """
                .formatted(REGENERATE));
    AnswerTable.all()
        .forEach(
            (by, lines) -> {
              page.append("| ")
                  .append(by)
                  .append(" | status | retry | document |\n|---|---|---|---|\n");
              lines.forEach(
                  (word, line) ->
                      page.append("| ")
                          .append(word)
                          .append(" | ")
                          .append(line.status())
                          .append(" | ")
                          .append(retry(line.retry()))
                          .append(" | ")
                          .append(line.title() == null ? "answer" : "problem: " + line.title())
                          .append(" |\n"));
              page.append('\n');
            });
    page.append(
        """
        A reply without a state, as of a read, is 200 when it is the last and 202 before. A result
        about which two truths were told is withheld: 202 with `conflict: true`. FAILED_TERMINAL is
        424, a status that clients neither take for a success nor try again.

        # Problems of the door itself

        Told before anything is decided. Where nothing else is said, nothing was written.

        | code | status | title |
        |---|---|---|
        """);
    for (ProblemCode code : ProblemCode.values()) {
      page.append("| ")
          .append(code.name())
          .append(" | ")
          .append(code.status())
          .append(" | ")
          .append(code.title())
          .append(" |\n");
    }
    return page.toString();
  }

  private static String sentences() {
    StringBuilder page =
        new StringBuilder(
            """
            # What the MCP door tells a model

            The door judges nothing: it looks the processor's reply up in this table, from top to
            bottom, and the first line that names it holds. ID is the operation id. A RESULT is the
            tool's own, unchanged, where there is one; GOES_ON is told when the wait is over. Of a
            REFUSED call and of one that is to be made LATER the code, the detail and the time are
            told too; both are errors.

            Regenerate: `%s`

            """
                .formatted(REGENERATE));
    McpAnswers.all()
        .forEach(
            (by, lines) -> {
              page.append("| ").append(by).append(" | kind | sentence |\n|---|---|---|\n");
              lines.forEach(
                  (word, line) ->
                      page.append("| ")
                          .append(word)
                          .append(" | ")
                          .append(line.kind())
                          .append(" | ")
                          .append(line.sentence())
                          .append(" |\n"));
              page.append('\n');
            });
    return page.toString();
  }

  private static String retry(AnswerTable.Retry retry) {
    return switch (retry) {
      case NEVER -> "no";
      case SAME_KEY -> "same key, after Retry-After";
      case WHEN_DUE -> "same key at retry_at; without it no";
    };
  }

  private static void compare(Path file, String expected) throws IOException {
    if (Boolean.getBoolean("ichido.docs.write")) {
      Files.writeString(file, expected, UTF_8);
    }
    assertThat(file)
        .as("Generated. To write it anew: %s", REGENERATE)
        .exists()
        .content(UTF_8)
        .isEqualTo(expected);
  }
}
