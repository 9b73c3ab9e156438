package dev.ichido.topology.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.common.utils.AbstractIterator;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.Test;

class DeadlineStoreTest {
  private static final Instant START = Instant.ofEpochMilli(1_000_000);
  private static final int MOST = 10;

  private final NavigableMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
  private int reads;
  private final DeadlineStore deadlines = new DeadlineStore(store());

  @Test
  void theStoreIsReadOnlyWhenItsFirstEntryMayBeDueWithinASecond() {
    assertThat(look(0).due()).isEmpty();
    deadlines.arm("a", at(60));
    deadlines.arm("b", at(90));
    deadlines.disarm("a", at(60));
    for (int second = 1; second < 59; second++) {
      assertThat(look(second)).isEqualTo(new DeadlineStore.Look(List.of(), false));
      assertThat(deadlines.noneBefore()).isEqualTo(at(second + 1));
    }
    assertThat(reads).isEqualTo(1);
    // The entry that could be first is gone; it is learnt which one is.
    for (int second = 59; second < 89; second++) {
      assertThat(look(second).due()).isEmpty();
    }
    assertThat(reads).isEqualTo(2);
    assertThat(look(89)).isEqualTo(new DeadlineStore.Look(List.of(), true));
    assertThat(deadlines.noneBefore()).isEqualTo(at(90));
    assertThat(look(90).due()).extracting(DeadlineKey::recordKey).containsExactly("b");
  }

  @Test
  void anEntryThatIsArmedBeforeTheFirstOneIsFound() {
    deadlines.arm("late", at(100));
    assertThat(look(0).due()).isEmpty();
    assertThat(look(2).due()).isEmpty();
    deadlines.arm("soon", at(3));
    assertThat(deadlines.noneBefore()).isEqualTo(at(3));
    assertThat(look(3).due()).extracting(DeadlineKey::recordKey).containsExactly("soon");
  }

  @Test
  void whatIsDueStaysDueUntilItIsDisarmed() {
    for (int i = 0; i < MOST + 2; i++) {
      deadlines.arm("operation-" + i, at(1));
    }
    deadlines.arm("far", at(1_000));
    for (int again = 0; again < 2; again++) {
      assertThat(look(2).due()).hasSize(MOST);
      assertThat(deadlines.noneBefore()).isEqualTo(at(1));
    }
    for (int i = 0; i < MOST + 2; i++) {
      deadlines.disarm("operation-" + i, at(1));
    }
    assertThat(look(2)).isEqualTo(new DeadlineStore.Look(List.of(), false));
    assertThat(deadlines.noneBefore()).isEqualTo(at(3));
  }

  @Test
  void whatIsHeldBackIsTheNextOne() {
    deadlines.arm("held", at(5));
    assertThat(deadlines.look(at(6), at(4), MOST))
        .isEqualTo(new DeadlineStore.Look(List.of(), true));
    assertThat(deadlines.look(at(6), at(5), MOST).due()).hasSize(1);
  }

  @Test
  void anEmptyStoreIsReadAgainAfterAnHour() {
    for (int second = 0; second < 3_700; second++) {
      assertThat(look(second).due()).isEmpty();
    }
    assertThat(reads).isEqualTo(2);
  }

  private static Instant at(long seconds) {
    return START.plus(Duration.ofSeconds(seconds));
  }

  private DeadlineStore.Look look(long seconds) {
    return deadlines.look(at(seconds), at(seconds), MOST);
  }

  @SuppressWarnings("unchecked")
  private KeyValueStore<byte[], byte[]> store() {
    return (KeyValueStore<byte[], byte[]>)
        Proxy.newProxyInstance(
            KeyValueStore.class.getClassLoader(),
            new Class<?>[] {KeyValueStore.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "put" ->
                      arguments[1] == null
                          ? entries.remove(arguments[0])
                          : entries.put((byte[]) arguments[0], (byte[]) arguments[1]);
                  case "range" -> {
                    reads++;
                    yield new Entries(
                        entries.subMap((byte[]) arguments[0], true, (byte[]) arguments[1], true));
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private static final class Entries extends AbstractIterator<KeyValue<byte[], byte[]>>
      implements KeyValueIterator<byte[], byte[]> {
    private final NavigableMap<byte[], byte[]> left;

    Entries(NavigableMap<byte[], byte[]> some) {
      left = new TreeMap<>(some);
    }

    @Override
    protected KeyValue<byte[], byte[]> makeNext() {
      var next = left.pollFirstEntry();
      return next == null ? allDone() : KeyValue.pair(next.getKey(), next.getValue());
    }

    @Override
    public byte[] peekNextKey() {
      return requireNonNull(peek()).key;
    }

    @Override
    public void close() {
      // Nothing is held.
    }
  }
}
