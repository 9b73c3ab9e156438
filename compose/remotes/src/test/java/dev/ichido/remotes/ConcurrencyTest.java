package dev.ichido.remotes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A key protects against 64 at once; without one, nothing does. */
final class ConcurrencyTest {
  private static final int THREADS = 64;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(RemoteKind.class)
  @Tag("FR-05")
  void sixtyFourAtOnceWithOneKey(RemoteKind kind) throws Exception {
    try (RemoteServer server =
            RemoteServer.start(
                RemoteConfig.of(kind, folder.resolve("book")).withClock(FixedClock.clock()));
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      CountDownLatch ready = new CountDownLatch(THREADS);
      List<Future<Integer>> statuses = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        statuses.add(
            threads.submit(
                () -> {
                  ready.countDown();
                  ready.await();
                  return StatusReadTest.write(server, "8e03978e-40d5-43e8-bc93-6894a57f9324", "n1")
                      .status();
                }));
      }
      Set<Integer> seen = new TreeSet<>();
      for (Future<Integer> status : statuses) {
        seen.add(status.get());
      }
      assertThat(seen).isSubsetOf(Set.of(200, 201, 409)).isNotEqualTo(Set.of(409));
      assertThat(server.book().effects()).hasSize(kind.keyed() ? 1 : THREADS);
      assertThat(server.calls().writes("n1")).isEqualTo(THREADS);
      assertThat(Book.read(folder.resolve("book")).effects()).isEqualTo(server.book().effects());
    }
  }
}
