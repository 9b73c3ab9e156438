package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RigTest {
  @TempDir Path temp;

  /** It once was, and a scenario was judged without an inbox. */
  @Test
  void aRoleIsNotReadyBecauseAnotherProcessAnswersAtItsPort() throws Exception {
    long[] pid = {ProcessHandle.current().pid()};
    try (StandIn standIn =
        new StandIn(
            temp, "role", "/health", () -> "{\"healthy\":true,\"pid\":%d}".formatted(pid[0]))) {
      Rig.Instance role = standIn.instance();
      assertThat(role.isReady(standIn.http())).as("it does not run").isFalse();
      role.jvm().start();
      assertThat(role.isReady(standIn.http())).as("this process answers for it").isFalse();
      pid[0] =
          ProcessHandle.current()
              .children()
              .filter(it -> role.jvm().isProcess(it.pid()))
              .findAny()
              .orElseThrow()
              .pid();
      assertThat(role.isReady(standIn.http())).as("it answers itself").isTrue();
    }
  }
}
