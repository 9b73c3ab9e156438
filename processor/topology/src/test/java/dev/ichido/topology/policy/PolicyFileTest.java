package dev.ichido.topology.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PolicyFileTest {
  private static final Duration NEVER = Duration.ofDays(1);

  @TempDir Path folder;

  @Test
  void aChangedFileIsTakenAndAnInvalidOneIsRefused() throws IOException {
    Path file = Files.writeString(folder.resolve("policy.yaml"), "actions: { a: {} }");
    try (PolicyFile policy =
        new PolicyFile(file, tree -> PolicyLoader.released().load(tree), NEVER)) {
      assertThat(policy.get().actions()).containsOnlyKeys("a");

      Files.writeString(file, "actions: { a: {}, b: {} }");
      policy.reload();
      PolicySet second = policy.get();
      assertThat(second.actions()).containsOnlyKeys("a", "b");

      Files.writeString(file, "actions: { a: { leese: 1s } }");
      policy.reload();
      policy.reload();
      assertThat(policy.get()).isSameAs(second);
      assertThat(policy.refusals()).isEqualTo(1);

      Files.delete(file);
      policy.reload();
      assertThat(policy.get()).isSameAs(second);
      assertThat(policy.refusals()).isEqualTo(2);
    }
  }

  @Test
  void aFirstTextThatCannotBeLoadedIsAnError() throws IOException {
    Path file = Files.writeString(folder.resolve("policy.yaml"), "actions: { a: { leese: 1s } }");
    assertThatThrownBy(
            () -> new PolicyFile(file, tree -> PolicyLoader.released().load(tree), NEVER))
        .isInstanceOf(PolicyException.class);
  }
}
