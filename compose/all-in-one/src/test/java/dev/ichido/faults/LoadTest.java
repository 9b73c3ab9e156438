package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class LoadTest {
  private static final Duration PATIENCE = Duration.ofMillis(300);

  @Test
  void allOfItIsPublishedOnce() throws InterruptedException {
    Set<Integer> published = ConcurrentHashMap.newKeySet();
    Load load = new Load(40, PATIENCE, i -> assertThat(published.add(i)).isTrue());
    assertThat(load.awaitShare(0.5)).isBetween(20, 24);
    load.await();
    assertThat(published).hasSize(40);
  }

  @Test
  void aShareThatIsNotReachedIsAFinding() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Load load = new Load(40, PATIENCE, i -> never.await());
    assertThatThrownBy(() -> load.awaitShare(0.5))
        .isInstanceOf(BrokeOff.class)
        .hasMessage("the load did not get to 50 %, but to 0 of 40 operations");
    load.stop();
  }

  @Test
  void anAgentThatGivesUpIsAFindingAtOnce() throws InterruptedException {
    Load load =
        new Load(
            40,
            Duration.ofMinutes(3),
            i -> {
              throw new BrokeOff("the database takes no delivery");
            });
    assertThatThrownBy(() -> load.awaitShare(0.5)).hasMessage("the database takes no delivery");
    assertThatThrownBy(load::await).isInstanceOf(BrokeOff.class);
    load.stop();
  }

  @Test
  void agentsThatNobodyLetsGoOnGiveUp() throws InterruptedException {
    Load load = new Load(400, PATIENCE, i -> {});
    load.awaitShare(0);
    Patience.pass(PATIENCE.multipliedBy(3));
    assertThatThrownBy(load::await).isInstanceOf(BrokeOff.class).hasMessageContaining("waiting");
  }
}
