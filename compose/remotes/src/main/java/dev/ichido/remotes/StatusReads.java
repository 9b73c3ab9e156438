package dev.ichido.remotes;

import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** What a remote finds when it is asked what happened, in the mode it was told to be in. */
final class StatusReads {
  private final Book book;
  private final Faults faults;
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Integer> reads = new HashMap<>();
  private final boolean denies;

  StatusReads(Book book, Faults faults, Clock clock) {
    this(book, faults, clock, false);
  }

  private StatusReads(Book book, Faults faults, Clock clock, boolean denies) {
    this.book = book;
    this.faults = faults;
    this.clock = clock;
    this.denies = denies;
  }

  /** One that finds nothing. */
  StatusReads denying() {
    return new StatusReads(book, faults, clock, true);
  }

  /** The effects that are shown; empty for absent. */
  List<Effect> look(String scope, RemoteContract.By by, String value) {
    if (denies) {
      return List.of();
    }
    List<Effect> there =
        book.reading()
            .having(
                effect ->
                    effect.scope().equals(scope)
                        && switch (by) {
                          case DOWNSTREAM_KEY -> value.equals(effect.downstreamKey());
                          case NATURAL_KEY -> value.equals(effect.naturalKey());
                          case REFERENCE -> value.equals(effect.reference());
                          case RESOURCE -> value.equals(effect.resource());
                        });
    StatusMode mode = faults.status();
    return switch (mode.mode()) {
      case HONEST, UNAVAILABLE -> there;
      case DENIES -> List.of();
      case INVENTS -> there.isEmpty() ? List.of(invented(scope, value)) : there;
      case LAGGING -> lagging(scope, by, value, there, mode);
    };
  }

  private List<Effect> lagging(
      String scope, RemoteContract.By by, String value, List<Effect> there, StatusMode mode) {
    Instant now = clock.instant();
    List<Effect> old = there.stream().filter(e -> !now.isBefore(e.at().plus(mode.time()))).toList();
    if (there.isEmpty()) {
      return there;
    }
    lock.lock();
    try {
      int before = reads.merge(scope + "\n" + by + "\n" + value, 1, Integer::sum) - 1;
      return before < mode.reads() ? List.of() : old;
    } finally {
      lock.unlock();
    }
  }

  private Effect invented(String scope, String value) {
    return new Effect(
        0, scope, "", value, value, "never_happened", clock.instant(), "GET", value, 1);
  }
}
