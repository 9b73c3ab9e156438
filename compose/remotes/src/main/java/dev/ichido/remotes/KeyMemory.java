package dev.ichido.remotes;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What a remote remembers of idempotency keys, for its window. */
final class KeyMemory {
  /** What a request with a key is. */
  sealed interface Claim {
    /** The first: it must be settled. */
    record First(Instant at) implements Claim {}

    /** A repetition of a finished one. */
    record Repeated(Answer answer) implements Claim {}

    /** The first one is still being worked on. */
    record InFlight(CompletableFuture<Void> done) implements Claim {}

    /** The key was used with other parameters. */
    record OtherParameters() implements Claim {}
  }

  private static final class Entry {
    private final String digest;
    private final Instant at;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private @Nullable Answer answer;

    Entry(String digest, Instant at) {
      this.digest = digest;
      this.at = at;
    }
  }

  private record Id(String scope, String key) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Id, Entry> entries = new HashMap<>();
  private final Duration window;

  KeyMemory(Duration window, List<Book.Kept> kept) {
    this.window = window;
    for (Book.Kept one : kept) {
      Entry entry = new Entry(one.digest(), one.at());
      entry.answer = one.answer();
      entry.done.complete(null);
      entries.put(new Id(one.scope(), one.key()), entry);
    }
  }

  /**
   * Says what a request is, and remembers it when it is the first.
   *
   * @param compareInFlight whether other parameters are told while the first is worked on
   */
  Claim claim(String scope, String key, String digest, Instant now, boolean compareInFlight) {
    lock.lock();
    try {
      Id id = new Id(scope, key);
      Entry entry = entries.get(id);
      if (entry != null && entry.answer != null && !now.isBefore(entry.at.plus(window))) {
        entry = null;
      }
      if (entry == null) {
        entries.put(id, new Entry(digest, now));
        return new Claim.First(now);
      }
      boolean same = entry.digest.equals(digest);
      Answer answer = entry.answer;
      if (answer == null) {
        return same || !compareInFlight
            ? new Claim.InFlight(entry.done)
            : new Claim.OtherParameters();
      }
      return same ? new Claim.Repeated(answer) : new Claim.OtherParameters();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the first request's work; without an answer the key is as if it never came. */
  void settle(String scope, String key, Optional<Answer> answer) {
    Entry entry;
    lock.lock();
    try {
      Id id = new Id(scope, key);
      entry = entries.get(id);
      if (entry == null) {
        return;
      }
      if (answer.isPresent()) {
        entry.answer = answer.get();
      } else {
        entries.remove(id);
      }
    } finally {
      lock.unlock();
    }
    entry.done.complete(null);
  }
}
