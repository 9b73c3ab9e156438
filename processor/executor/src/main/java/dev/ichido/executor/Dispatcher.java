package dev.ichido.executor;

import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the commands that wait, keeps the order of each key, takes the claims of all that may start
 * in one round trip, and starts them. A claim is taken only when its call can start at once, so
 * that a claim never waits for a free place.
 */
final class Dispatcher implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Dispatcher.class);
  private static final int BATCH = 500;
  private static final Duration MAX_BACKOFF = Duration.ofSeconds(5);

  private final Claims claims;
  private final String owner;
  private final Clock clock;
  private final Meters meters;
  private final Map<String, ToolHandler> handlers;
  private final int concurrency;
  private final @Nullable Duration claimRetention;
  private final Consumer<Work> start;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  /** Keys that are busy, each with what waits behind the one that is ready or runs. */
  private final Map<String, ArrayDeque<Work>> busy = new HashMap<>();

  private final List<Work> ready = new ArrayList<>();
  private final Set<Work> running = new LinkedHashSet<>();
  private final Map<String, Semaphore> places = new HashMap<>();
  private int held;
  private boolean stopping;
  private volatile boolean claimsReachable = true;

  /** Where attempts are asked for; answers come in the order of the requests. */
  @FunctionalInterface
  interface Claims {
    List<ClaimAnswer> take(List<ClaimRequest> requests, Instant now) throws SQLException;
  }

  private record Asked(Work work, ClaimRequest request, boolean before) {}

  /**
   * @param owner under which the claims are taken
   * @param claimRetention age at which claims may have been deleted; null: they never are
   * @param start begins a command on a thread of its own; its place is freed by {@link #leave}, and
   *     its key by {@link #done}
   */
  Dispatcher(
      Claims claims,
      String owner,
      Clock clock,
      Meters meters,
      Map<String, ToolHandler> handlers,
      int concurrency,
      @Nullable Duration claimRetention,
      Consumer<Work> start) {
    this.claims = claims;
    this.owner = owner;
    this.clock = clock;
    this.meters = meters;
    this.handlers = handlers;
    this.concurrency = concurrency;
    this.claimRetention = claimRetention;
    this.start = start;
  }

  void add(Collection<Work> works) {
    lock.lock();
    try {
      for (Work work : works) {
        held++;
        ArrayDeque<Work> queue = busy.get(orderKey(work));
        if (queue == null) {
          busy.put(orderKey(work), new ArrayDeque<>());
          ready.add(work);
        } else {
          queue.add(work);
        }
      }
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Reads of one operation have no order among themselves. */
  private static String orderKey(Work work) {
    return work.command.kind() == ToolCommand.Kind.READ
        ? work.partition + "@" + work.offset
        : work.command.recordKey();
  }

  /** The call is over: its place at the remote is free. */
  void leave(Work work) {
    lock.lock();
    try {
      release(work);
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** The work is over and acknowledged: the next of its key may go. */
  void done(Work work) {
    lock.lock();
    try {
      running.remove(work);
      held--;
      String key = orderKey(work);
      ArrayDeque<Work> queue = busy.get(key);
      Work next = queue == null ? null : queue.poll();
      if (next == null) {
        busy.remove(key);
      } else {
        ready.add(next);
      }
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Forgets what has not started of partitions that were given away. */
  void drop(Collection<TopicPartition> partitions) {
    lock.lock();
    try {
      dropWaiting(work -> partitions.contains(work.partition));
    } finally {
      lock.unlock();
    }
  }

  private void dropWaiting(Predicate<Work> gone) {
    for (ArrayDeque<Work> queue : busy.values()) {
      int before = queue.size();
      queue.removeIf(gone);
      held -= before - queue.size();
    }
    for (Work work : List.copyOf(ready)) {
      if (gone.test(work)) {
        ready.remove(work);
        held--;
        Work next = busy.getOrDefault(orderKey(work), new ArrayDeque<>()).poll();
        if (next == null) {
          busy.remove(orderKey(work));
        } else {
          ready.add(next);
        }
      }
    }
  }

  /** No new claims from here on; what has not started is forgotten and will be handed out again. */
  void stop() {
    lock.lock();
    try {
      stopping = true;
      dropWaiting(work -> true);
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  int held() {
    lock.lock();
    try {
      return held;
    } finally {
      lock.unlock();
    }
  }

  List<Work> running() {
    lock.lock();
    try {
      return List.copyOf(running);
    } finally {
      lock.unlock();
    }
  }

  boolean claimsReachable() {
    return claimsReachable;
  }

  @Override
  public void run() {
    Duration backoff = Duration.ofMillis(50);
    while (true) {
      List<Work> batch = takeStartable();
      if (batch == null) {
        return;
      }
      try {
        claim(batch);
        claimsReachable = true;
        backoff = Duration.ofMillis(50);
        batch.forEach(start);
      } catch (SQLException e) {
        if (claimsReachable) {
          LOG.warn("Claims can't be taken, commands wait: {}", e.getMessage());
        }
        claimsReachable = false;
        meters.trouble("claims");
        putBack(batch, backoff);
        Duration doubled = backoff.multipliedBy(2);
        backoff = doubled.compareTo(MAX_BACKOFF) > 0 ? MAX_BACKOFF : doubled;
      }
    }
  }

  private @Nullable List<Work> takeStartable() {
    lock.lock();
    try {
      while (true) {
        if (stopping) {
          return null;
        }
        List<Work> batch = new ArrayList<>();
        for (Iterator<Work> it = ready.iterator(); it.hasNext() && batch.size() < BATCH; ) {
          Work work = it.next();
          Semaphore place = place(work);
          if (place.tryAcquire()) {
            work.place = place;
            it.remove();
            batch.add(work);
          }
        }
        if (!batch.isEmpty()) {
          running.addAll(batch);
          return batch;
        }
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private void putBack(List<Work> batch, Duration backoff) {
    lock.lock();
    try {
      batch.forEach(
          work -> {
            running.remove(work);
            release(work);
          });
      ready.addAll(0, batch);
      if (stopping) {
        dropWaiting(work -> true);
        return;
      }
      long left = backoff.toNanos();
      while (left > 0 && !stopping) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      stopping = true;
    } finally {
      lock.unlock();
    }
  }

  /** The place that was taken: by now its action may be another remote's. */
  private static void release(Work work) {
    Semaphore place = work.place;
    if (place != null) {
      place.release();
      work.place = null;
    }
  }

  private Semaphore place(Work work) {
    ToolHandler handler = handlers.get(work.command.action());
    return places.computeIfAbsent(
        handler == null ? "" : handler.remote(), remote -> new Semaphore(concurrency));
  }

  private void claim(List<Work> batch) throws SQLException {
    List<Asked> asked = new ArrayList<>();
    Instant now = clock.instant();
    long askedAt = System.nanoTime();
    for (Work work : batch) {
      AttemptProtocol.claim(work.command, now, claimRetention)
          .ifPresent(request -> asked.add(new Asked(work, request, work.claimAskedAt != null)));
    }
    if (asked.isEmpty()) {
      return;
    }
    asked.stream().filter(it -> !it.before()).forEach(it -> it.work().claimAskedAt = askedAt);
    List<ClaimAnswer> answers = claims.take(asked.stream().map(Asked::request).toList(), now);
    meters.claimTimer().record(System.nanoTime() - askedAt, TimeUnit.NANOSECONDS);
    for (int i = 0; i < asked.size(); i++) {
      Asked it = asked.get(i);
      ClaimAnswer answer = answers.get(i);
      if (answer instanceof ClaimAnswer.Won) {
        // No request before this one took the row.
        it.work().claimAskedAt = askedAt;
      }
      ClaimAnswer granted =
          AttemptProtocol.granted(it.work().command, it.request(), answer, owner, it.before());
      it.work().claim = granted;
      meters.claim(
          switch (granted) {
            case ClaimAnswer.Won won -> "won";
            case ClaimAnswer.Recorded recorded ->
                answer instanceof ClaimAnswer.Won
                    ? String.valueOf(recorded.report().reason()).toLowerCase(Locale.ROOT)
                    : "recorded";
            case ClaimAnswer.Open open -> "open";
          });
    }
  }
}
