package dev.ichido.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.gateway.McpAnswers.Kind;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class McpAnswersTest {
  @ParameterizedTest
  @Tag("FR-14")
  @ValueSource(strings = {"UNKNOWN_RECONCILIATION", "IN_PROGRESS"})
  void whatMayHaveHappenedIsNotToBeCalledAgain(String state) {
    assertThat(McpAnswers.line(Replies.of("SETTLED", state, false), true).sentence())
        .contains("Do not call the tool again")
        .contains("operation_status");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ORIGINAL_ABSENT",
        "ORIGINAL_IN_PROGRESS",
        "ORIGINAL_UNKNOWN",
        "ORIGINAL_RETRYABLE"
      })
  void aCompensationThatWasNotTakenIsCalledLater(String code) {
    McpAnswers.Line line =
        McpAnswers.line(Replies.of("RETRY_LATER", code, null, true, null, null, false), true);
    assertThat(line.kind()).isEqualTo(Kind.LATER);
    assertThat(line.of("undo-0123456789"))
        .startsWith("Nothing was done by this call")
        .contains("Make this very call again, as operation undo-0123456789");
  }

  @Test
  void onlyWhatGoesOnByItselfIsWaitedFor() {
    assertThat(failed("SETTLED", null, Replies.AT, true).kind()).isEqualTo(Kind.GOES_ON);
    assertThat(failed("RETRY_LATER", "BUDGET_EMPTY", Replies.AT, true).kind())
        .isEqualTo(Kind.GOES_ON);
    for (String code : List.of("MAX_ATTEMPTS", "RETRY_HORIZON")) {
      for (boolean retried : new boolean[] {true, false}) {
        McpAnswers.Line stuck = failed("RETRY_LATER", code, null, retried);
        assertThat(stuck.kind()).isEqualTo(Kind.HELD);
        assertThat(stuck.sentence()).contains("a person has to look");
      }
    }
  }

  @Test
  void whatBeginsOnlyWhenAskedIsToBeAskedForAgain() {
    for (String verdict : List.of("SETTLED", "RETRY_LATER")) {
      McpAnswers.Line line = failed(verdict, null, Replies.AT, false);
      assertThat(line.kind()).isEqualTo(Kind.LATER);
      assertThat(line.sentence()).contains("only when this very call is made again");
    }
  }

  @Test
  void twoTruthsAreSaidBeforeAllElse() {
    Reply conflict = Replies.of("REPLAYED", null, "SUCCEEDED", true, null, null, true);
    assertThat(McpAnswers.line(conflict, true).sentence()).startsWith("Two different results");
  }

  private static McpAnswers.Line failed(
      String verdict, @Nullable String code, @Nullable Instant retryAt, boolean retried) {
    return McpAnswers.line(
        Replies.of(verdict, code, "FAILED_RETRYABLE", false, null, retryAt, false), retried);
  }
}
