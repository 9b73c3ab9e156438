package dev.ichido.demo;

import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Follows the inbox table and hands each reply to whoever waits for its delivery. */
final class ReplyBoard implements AutoCloseable {
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final int PAGE = 500;

  private final InboxReader inbox;
  private final Map<String, Waiting> deliveries = new ConcurrentHashMap<>();
  private final Map<String, Integer> verdicts = new TreeMap<>();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
  private final Thread follower;
  private volatile boolean closed;

  private static final class Waiting {
    private final CompletableFuture<InboxReply> last = new CompletableFuture<>();
    private volatile @Nullable InboxReply latest;
  }

  /** Begins behind the replies of earlier runs. */
  ReplyBoard(DataSource database) throws SQLException {
    this.inbox = new InboxReader(database);
    long cursor = lastSeq(database);
    this.follower = Thread.ofPlatform().name("ichido-demo-replies").start(() -> follow(cursor));
  }

  /** To be called before the delivery is published. */
  void expect(String deliveryId) {
    deliveries.put(deliveryId, new Waiting());
  }

  /** The reply after which none follows, when it comes within the time. */
  Optional<InboxReply> await(String deliveryId, Duration limit) throws InterruptedException {
    RuntimeException broken = failure.get();
    if (broken != null) {
      throw broken;
    }
    try {
      return Optional.of(
          waiting(deliveryId)
              .last
              .get(limit.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      return Optional.empty();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  /** The latest reply of a delivery, final or not. */
  Optional<InboxReply> findLatest(String deliveryId) {
    return Optional.ofNullable(waiting(deliveryId).latest);
  }

  /** Deliveries that have their last reply. */
  long answered() {
    return answered.get();
  }

  /** How often each verdict was told. */
  synchronized Map<String, Integer> verdicts() {
    return new TreeMap<>(verdicts);
  }

  @Override
  public void close() {
    closed = true;
    follower.interrupt();
    try {
      follower.join(5_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Waiting waiting(String deliveryId) {
    Waiting waiting = deliveries.get(deliveryId);
    if (waiting == null) {
      throw new IllegalStateException("Expected a delivery that is expected, but it is not.");
    }
    return waiting;
  }

  private void follow(long from) {
    long cursor = from;
    try {
      while (!closed) {
        List<InboxReply> replies = inbox.awaitAfter(cursor, PAGE, LOOK);
        for (InboxReply reply : replies) {
          cursor = reply.seq();
          take(reply);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      if (!closed) {
        failure.set(e);
      }
    }
  }

  private void take(InboxReply reply) {
    Waiting waiting = deliveries.get(reply.deliveryId());
    if (waiting == null) {
      return;
    }
    synchronized (this) {
      verdicts.merge(reply.verdict(), 1, Integer::sum);
    }
    waiting.latest = reply;
    if (reply.isFinal() && waiting.last.complete(reply)) {
      answered.incrementAndGet();
    }
  }

  private static long lastSeq(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("select coalesce(max(seq), 0) from ichido.inbox_reply")) {
      row.next();
      return row.getLong(1);
    }
  }
}
