package dev.ichido.gateway;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection that listens for all requests that wait. A request waits under its delivery id
 * before its intent is committed, so no reply is missed; after a lost connection, and now and then,
 * everything that is waited for is looked up.
 */
final class ReplyFeed implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReplyFeed.class);
  private static final int CHUNK = 1_000;
  private static final Duration LOOK = Duration.ofMillis(500);
  private static final Duration SWEEP = Duration.ofSeconds(10);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  private final DataSource inbox;
  private final ConcurrentMap<String, Waiter> waiters = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final Thread thread;
  private long version;
  private volatile boolean listening;
  private volatile boolean stopping;

  ReplyFeed(DataSource inbox) {
    this.inbox = inbox;
    this.thread = Thread.ofPlatform().name("ichido-gateway-replies").unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  boolean ready() {
    return listening;
  }

  /** One delivery that is waited for, until it is closed. */
  final class Waiter implements AutoCloseable {
    private final String deliveryId;

    /** What came in; empty where the wait is to end. */
    private final BlockingQueue<Optional<Reply>> replies = new LinkedBlockingQueue<>();

    private long seen;
    private @Nullable Reply latest;

    private Waiter(String deliveryId) {
      this.deliveryId = deliveryId;
    }

    /**
     * Waits for a reply that is enough.
     *
     * @return the latest reply, enough or not; null when there was none
     */
    @Nullable Reply await(Predicate<Reply> enough, Duration atMost) throws InterruptedException {
      long until = System.nanoTime() + atMost.toNanos();
      while (true) {
        Reply known = latest;
        if (known != null && (known.last() || enough.test(known))) {
          return known;
        }
        long left = until - System.nanoTime();
        if (left <= 0 || stopping) {
          return known;
        }
        Optional<Reply> next = replies.poll(left, TimeUnit.NANOSECONDS);
        if (next != null && next.isPresent()) {
          latest = next.get();
        }
      }
    }

    private void offer(Reply reply) {
      if (reply.seq() > seen) {
        seen = reply.seq();
        replies.add(Optional.of(reply));
      }
    }

    @Override
    public void close() {
      waiters.remove(deliveryId);
    }
  }

  /** To be called before the intent of the delivery is committed. */
  Waiter expect(String deliveryId) {
    Waiter waiter = new Waiter(deliveryId);
    waiters.put(deliveryId, waiter);
    return waiter;
  }

  /** Grows whenever replies may have become visible. */
  long version() {
    lock.lock();
    try {
      return version;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until replies may have become visible after a version, or the time is over. */
  void awaitNews(long after, Duration atMost) throws InterruptedException {
    lock.lock();
    try {
      long left = atMost.toNanos();
      while (version == after && left > 0 && !stopping) {
        left = news.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isStopping() {
    return stopping;
  }

  /** Lets everybody who waits go on with what is known. */
  void release() {
    stopping = true;
    waiters.values().forEach(waiter -> waiter.replies.add(Optional.empty()));
    tell();
  }

  @Override
  public void close() {
    release();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    Duration pause = Duration.ZERO;
    while (!stopping) {
      try (Connection connection = inbox.getConnection()) {
        try (Statement statement = connection.createStatement()) {
          statement.execute("listen ichido_inbox");
        }
        listening = true;
        pause = Duration.ZERO;
        listen(connection);
        try (Statement statement = connection.createStatement()) {
          statement.execute("unlisten ichido_inbox");
        }
      } catch (SQLException | RuntimeException e) {
        if (listening) {
          LOG.warn("Replies can't be read and wait: {}", e.getMessage());
        }
        listening = false;
        Duration longer = pause.isZero() ? Duration.ofMillis(100) : pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
        LockSupport.parkNanos(pause.toNanos());
      }
    }
    listening = false;
  }

  private void listen(Connection connection) throws SQLException {
    PGConnection notices = connection.unwrap(PGConnection.class);
    long swept = System.nanoTime() - SWEEP.toNanos();
    while (!stopping) {
      if (System.nanoTime() - swept >= SWEEP.toNanos()) {
        hand(connection, waiters.keySet());
        tell();
        swept = System.nanoTime();
      }
      PGNotification[] told = notices.getNotifications((int) LOOK.toMillis());
      if (told != null && told.length > 0) {
        Set<String> awaited = new HashSet<>();
        for (PGNotification notification : told) {
          if (waiters.containsKey(notification.getParameter())) {
            awaited.add(notification.getParameter());
          }
        }
        hand(connection, awaited);
        tell();
      }
    }
  }

  private void hand(Connection connection, Collection<String> deliveryIds) throws SQLException {
    List<String> ids = new ArrayList<>(deliveryIds);
    for (int from = 0; from < ids.size(); from += CHUNK) {
      List<String> chunk = ids.subList(from, Math.min(from + CHUNK, ids.size()));
      for (Reply reply : ReplyStore.to(connection, chunk)) {
        Waiter waiter = waiters.get(reply.deliveryId());
        if (waiter != null) {
          waiter.offer(reply);
        }
      }
    }
  }

  private void tell() {
    lock.lock();
    try {
      version++;
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
