package dev.ichido.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoRunTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final byte[] INPUT = {1};

  @TempDir Path folder;

  @Test
  void aRunThatWasCutShortGoesOnUnderItsNameAndTime() throws IOException {
    DemoRun first = begin(INPUT, false, NOW);
    DemoRun next = begin(INPUT, false, NOW.plusSeconds(60));
    assertThat(next.name()).isEqualTo(first.name());
    assertThat(next.issuedAt()).isEqualTo(NOW);
    assertThat(next.begun()).isFalse();
  }

  @Test
  void aFinishedRunIsFollowedByAnotherUnlessItIsToBeRepeated() throws IOException {
    DemoRun first = begin(INPUT, false, NOW).finish(folder);
    assertThat(begin(INPUT, true, NOW.plusSeconds(60)).name()).isEqualTo(first.name());
    assertThat(begin(INPUT, false, NOW.plusSeconds(60)).name()).isNotEqualTo(first.name());
  }

  @Test
  void anotherInputOrOneThatIsNoLongerReplayedIsAnotherRun() throws IOException {
    DemoRun first = begin(INPUT, false, NOW);
    assertThat(begin(new byte[] {2}, true, NOW).name()).isNotEqualTo(first.name());
    DemoRun second = begin(INPUT, true, NOW);
    assertThat(begin(INPUT, true, NOW.plus(Duration.ofHours(21))).name())
        .isNotEqualTo(second.name());
  }

  private DemoRun begin(byte[] input, boolean repeat, Instant now) throws IOException {
    return DemoRun.resumeOrBegin(folder, input, repeat, now);
  }
}
