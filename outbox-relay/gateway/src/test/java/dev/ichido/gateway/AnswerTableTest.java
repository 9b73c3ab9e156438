package dev.ichido.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.gateway.AnswerTable.Retry;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnswerTableTest {
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "SETTLED, -, SUCCEEDED, true, 200",
        "REPLAYED, -, SUCCEEDED, true, 200",
        "RECONCILED, -, SUCCEEDED, true, 200",
        "LATE_SUCCESS, -, SUCCEEDED, true, 200",
        "SETTLED, -, FAILED_TERMINAL, true, 424",
        "REPLAYED, -, FAILED_TERMINAL, true, 424",
        "CLAIMED, -, IN_PROGRESS, false, 202",
        "RECLAIMED, -, IN_PROGRESS, false, 202",
        "DUPLICATE_IN_PROGRESS, -, IN_PROGRESS, false, 409",
        "DUPLICATE_IN_PROGRESS, WAITING_FULL, IN_PROGRESS, true, 409",
        "HELD_UNKNOWN, -, UNKNOWN_RECONCILIATION, false, 202",
        "SETTLED, -, UNKNOWN_RECONCILIATION, false, 202",
        "SETTLED, -, FAILED_RETRYABLE, false, 202",
        "RETRY_LATER, BACKOFF, FAILED_RETRYABLE, false, 202",
        "RETRY_LATER, ORIGINAL_ABSENT, -, true, 409",
        "RETRY_LATER, ORIGINAL_UNKNOWN, -, true, 409",
        "FINGERPRINT_MISMATCH, -, SUCCEEDED, true, 422",
        "HELD_SUSPECT, -, -, true, 422",
        "EXPIRED, -, EXPIRED, true, 410",
        "LATE_REPLAY, -, -, true, 410",
        "CANCELLED, -, CANCELLED, true, 410",
        "SETTLED, -, CANCELLED, true, 410",
        "UNAUTHORIZED, -, -, true, 403",
        "INVALID, OPERATION_ID_TOO_SHORT, -, true, 400",
        "INVALID, CLOCK_SKEW, -, true, 400",
        "INVALID, ACTION_UNKNOWN, -, true, 404",
        "INVALID, TENANT_UNKNOWN, -, true, 403",
        "INVALID, ARGUMENTS_TOO_LARGE, -, true, 413",
        "PASSED_THROUGH, -, -, true, 200",
        "PASSED_THROUGH, -, -, false, 202",
        "A_VERDICT_OF_LATER, -, SUCCEEDED, true, 200",
      })
  void eachReplyHasItsStatus(String verdict, String code, String state, boolean last, int status) {
    assertThat(AnswerTable.line(Replies.of(verdict, code, state, last, null, null, false)).status())
        .isEqualTo(status);
  }

  @Test
  @Tag("FR-14")
  void nothingThatMayHaveHappenedInvitesARetry() {
    for (String verdict : List.of("HELD_UNKNOWN", "SETTLED", "LEASE_EXPIRED", "STILL_UNKNOWN")) {
      Reply unknown = Replies.of(verdict, "UNKNOWN_RECONCILIATION", false);
      AnswerTable.Line line = AnswerTable.line(unknown);
      assertThat(line.status()).isEqualTo(202);
      assertThat(Documents.answer(unknown, line).get("retry").asBoolean(true)).isFalse();
    }
    assertThat(lines().filter(line -> line.status() >= 500)).isEmpty();
    assertThat(lines().filter(line -> line.retry() == Retry.SAME_KEY).map(AnswerTable.Line::status))
        .containsOnly(409);
  }

  @Test
  void aRetryIsOfUseOnceItIsDue() {
    Reply due = Replies.of("SETTLED", null, "FAILED_RETRYABLE", false, null, Replies.AT, false);
    Reply stuck =
        Replies.of("RETRY_LATER", "MAX_ATTEMPTS", "FAILED_RETRYABLE", false, null, null, false);
    assertThat(Documents.answer(due, AnswerTable.line(due)).get("retry").asBoolean()).isTrue();
    assertThat(Documents.answer(stuck, AnswerTable.line(stuck)).get("retry").asBoolean()).isFalse();
  }

  @Test
  void aCompensationThatWasNotTakenIsNoSuccessAndIsSentAgain() {
    Reply later = Replies.of("RETRY_LATER", "ORIGINAL_IN_PROGRESS", null, true, null, null, false);
    AnswerTable.Line line = AnswerTable.line(later);
    assertThat(line.title()).contains("not settled");
    assertThat(Documents.answer(later, line).get("retry").asBoolean()).isTrue();
    assertThat(Documents.answer(later, line).get("code").asText())
        .isEqualTo("ORIGINAL_IN_PROGRESS");
  }

  @Test
  void aResultWithTwoTruthsIsNoSuccess() {
    Reply conflict = Replies.of("REPLAYED", null, "SUCCEEDED", true, null, null, true);
    assertThat(AnswerTable.line(conflict).status()).isEqualTo(202);
    assertThat(Documents.answer(conflict, AnswerTable.line(conflict)).get("conflict").asBoolean())
        .isTrue();
  }

  @Test
  void aWishToCancelIsGrantedOrItsLatenessIsSaid() {
    assertThat(cancel("CANCELLED", "CANCELLED")).isEqualTo(200);
    assertThat(cancel("DUPLICATE_IN_PROGRESS", "IN_PROGRESS")).isEqualTo(202);
    assertThat(cancel("HELD_UNKNOWN", "UNKNOWN_RECONCILIATION")).isEqualTo(202);
    assertThat(cancel("HELD_UNKNOWN", null)).isEqualTo(202);
    assertThat(cancel("REPLAYED", "SUCCEEDED")).isEqualTo(409);
    assertThat(cancel("UNAUTHORIZED", null)).isEqualTo(403);
  }

  @Test
  void aProblemIsNamedByTheStateOnlyWhereTheStateGivesTheStatus() {
    Reply settled = Replies.of("REPLAYED", "FAILED_TERMINAL", true);
    assertThat(Documents.answer(settled, AnswerTable.line(settled)).get("code").asText())
        .isEqualTo("FAILED_TERMINAL");
    assertThat(Documents.answer(settled, AnswerTable.lineOfCancel(settled)).get("code").asText())
        .isEqualTo("REPLAYED");
  }

  @Test
  void aResultStaysAsTheRemoteWroteIt() {
    assertThat(result("{\"n\":1.0,\"big\":9007199254740993}"))
        .contains("\"result\":{\"n\":1.0,\"big\":9007199254740993}");
    assertThat(result("not json")).contains("\"result\":\"not json\"");
    assertThat(result("{} {}")).contains("\"result\":\"{} {}\"");
    assertThat(result("")).contains("\"result\":\"\"");
  }

  private static String result(String body) {
    Reply reply = Replies.of("SETTLED", null, "SUCCEEDED", true, body, null, false);
    return Documents.answer(reply, AnswerTable.line(reply)).toString();
  }

  private static int cancel(String verdict, @org.jspecify.annotations.Nullable String state) {
    return AnswerTable.lineOfCancel(Replies.of(verdict, state, true)).status();
  }

  private static Stream<AnswerTable.Line> lines() {
    return AnswerTable.all().values().stream().flatMap(lines -> lines.values().stream());
  }
}
