package dev.ichido.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.schemas.JournalEntry;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is refused before anything is sent. */
class ResolveCommandTest {
  @TempDir Path temp;

  @Test
  void whoAndWhyAreNeeded() {
    assertThat(run("resolve", "demo", "some-operation-0001", "--as", "SUCCEEDED").err())
        .contains("--evidence", "--by");
    assertThat(run("resolve", "demo", "some-operation-0001", "--as", "SUCCEEDED").code())
        .isEqualTo(2);
  }

  @Test
  void onlyAPersonsSettlementsAndRealStatesAreTaken() {
    Ran unknown = settle("UNKNOWN");
    assertThat(unknown.code()).isEqualTo(2);
    assertThat(unknown.err()).contains("NOT_STARTED");
    Ran state = run("list", "--state", "UNKNWON");
    assertThat(state.code()).isEqualTo(2);
    assertThat(state.err()).contains("UNKNOWN_RECONCILIATION");
  }

  @Test
  void aResultFitsItsSettlement() {
    refused(settle("NOT_STARTED", "--remote-reference", "r"), 2, "RESULT_OF_NOTHING");
    refused(settle("NOT_STARTED", "--body", "{}"), 2, "RESULT_OF_NOTHING");
    for (String body : new String[] {"", "{", "{} {}", "NaN"}) {
      refused(settle("SUCCEEDED", "--body", body), 2, "BODY_NOT_JSON");
    }
    refused(settle("SUCCEEDED", "--wait", "-1"), 2, "WAIT");
  }

  @Test
  void withoutAStackNothingIsSent() {
    refused(settle("succeeded", "--body", "{\"a\":1}"), 1, "STACK_DOWN");
  }

  @Test
  void thatNoAttemptFollowsIsSaid() {
    assertThat(ResolveCommand.told(line("RESOLVED", null, "UNKNOWN_RECONCILIATION")).lines())
        .containsExactly("RESOLVED  FAILED_RETRYABLE  some-operation-0001");
    assertThat(
            ResolveCommand.told(line("RESOLVED", "RETRY_HORIZON", "UNKNOWN_RECONCILIATION"))
                .lines())
        .hasSize(2)
        .anyMatch(text -> text.startsWith("RETRY_HORIZON: no attempt follows"));
    assertThat(ResolveCommand.refused(line("INVALID", "NOT_RESOLVABLE", "FAILED_RETRYABLE")))
        .hasMessageContaining("retry_horizon");
    assertThat(ResolveCommand.refused(line("INVALID", "NOT_RESOLVABLE", "SUCCEEDED")))
        .hasMessageNotContaining("retry_horizon");
  }

  private static JournalEntry line(String verdict, @Nullable String code, String before) {
    return JournalEntry.newBuilder()
        .setTenant("demo")
        .setScope("global")
        .setOperationId("some-operation-0001")
        .setRevision(3)
        .setEvent("RESOLUTION_RECEIVED")
        .setVerdict(verdict)
        .setCode(code)
        .setStateBefore(before)
        .setStateAfter("FAILED_RETRYABLE")
        .setAt(Instant.EPOCH)
        .build();
  }

  private Ran settle(String as, String... more) {
    String[] all = new String[9 + more.length];
    String[] first = {
      "resolve", "demo", "some-operation-0001", "--as", as, "--by", "person:p", "--evidence", "seen"
    };
    System.arraycopy(first, 0, all, 0, 9);
    System.arraycopy(more, 0, all, 9, more.length);
    return run(all);
  }

  private Ran run(String... arguments) {
    String[] all = new String[arguments.length + 3];
    all[0] = "operation";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[arguments.length + 1] = "--data";
    all[arguments.length + 2] = temp.resolve("data").toString();
    return Ran.of(all);
  }

  private static void refused(Ran ran, int exit, String code) {
    assertThat(ran.code()).as(ran.err()).isEqualTo(exit);
    assertThat(ran.err()).contains("ichido: " + code + ": Expected").doesNotContain("\tat ");
    assertThat(ran.out()).isEmpty();
  }
}
