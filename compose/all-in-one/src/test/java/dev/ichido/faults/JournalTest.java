package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.faults.Journal.Unknown;
import dev.ichido.schemas.JournalEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JournalTest {
  private final List<JournalEntry> lines = new ArrayList<>();

  @Test
  void anAttemptThatRunsOrAnotherIdThatIsSuspectedEndsNoUnknown() {
    line(1, "IN_PROGRESS", null);
    assertThat(Unknown.of(lines)).isEmpty();
    line(2, "UNKNOWN_RECONCILIATION", null);
    line(3, "IN_PROGRESS", null);
    assertThat(Unknown.of(lines)).contains(new Unknown(at(2), Optional.empty(), true));
    line(4, "SUCCEEDED", null);
    line(5, "SUCCEEDED", null);
    assertThat(Unknown.of(lines)).contains(new Unknown(at(2), Optional.of(at(4)), true));
    line(6, "UNKNOWN_RECONCILIATION", null);
    assertThat(Unknown.of(lines)).contains(new Unknown(at(2), Optional.empty(), true));
  }

  @Test
  void aLeaseThatEndedBeforeAnyCallIsToldApart() {
    line(1, "UNKNOWN_RECONCILIATION", null);
    line(2, "FAILED_RETRYABLE", "REVOKED");
    line(3, "IN_PROGRESS", null);
    line(4, "UNKNOWN_RECONCILIATION", null);
    line(5, "FAILED_RETRYABLE", "DEADLINE_PASSED");
    line(6, "SUCCEEDED", null);
    assertThat(Unknown.of(lines)).contains(new Unknown(at(1), Optional.of(at(5)), false));
    line(7, "UNKNOWN_RECONCILIATION", null);
    line(8, "FAILED_RETRYABLE", "CONNECT_REFUSED");
    assertThat(Unknown.of(lines)).contains(new Unknown(at(1), Optional.of(at(8)), true));
  }

  private void line(int second, String state, @Nullable String reason) {
    lines.add(
        JournalEntry.newBuilder()
            .setTenant("t1")
            .setScope("global")
            .setOperationId("a")
            .setEvent("E")
            .setVerdict("V")
            .setStateBefore("ABSENT")
            .setStateAfter(state)
            .setReason(reason)
            .setAt(at(second))
            .build());
  }

  private static Instant at(int second) {
    return Instant.ofEpochSecond(second);
  }
}
