package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GateTest {
  @TempDir Path temp;

  @Test
  void whoLooksANameUpWaitsUntilItIsOpened() throws Exception {
    Path hosts = temp.resolve("hosts");
    try (Gate gate = new Gate(hosts)) {
      assertThat(gate.javaOption()).isEqualTo("-Djdk.net.hosts.file=" + hosts);
      assertThat(gate.isReached()).isFalse();
      CompletableFuture<String> found = lookUp(hosts);
      Awaitility.await().until(gate::isReached);
      assertThat(found).isNotDone();
      gate.open();
      assertThat(found.get()).isEqualTo("127.0.0.1 localhost\n");
    }
  }

  @Test
  void whoStillWaitsIsLetGoAtTheEnd() throws Exception {
    Path hosts = temp.resolve("hosts");
    CompletableFuture<String> found;
    try (Gate gate = new Gate(hosts)) {
      found = lookUp(hosts);
      Awaitility.await().until(gate::isReached);
    }
    assertThat(found.get()).isEmpty();
    try (Gate nobodyCame = new Gate(hosts)) {
      assertThat(nobodyCame.isReached()).isFalse();
    }
    assertThat(hosts).doesNotExist();
  }

  private static CompletableFuture<String> lookUp(Path hosts) {
    CompletableFuture<String> found = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                found.complete(Files.readString(hosts));
              } catch (Exception e) {
                found.completeExceptionally(e);
              }
            });
    return found;
  }
}
