package dev.ichido.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.app.Stack;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The whole path, as a runtime takes it: an intent committed in the outbox, the last reply read
 * from the inbox. The inbox is followed by LISTEN on one connection, and read when it notifies.
 */
final class OutboxPath implements OncePath {
  static final String PRINCIPAL = "agent:bench";
  static final String ACTION = "bench.charge";

  private static final int CONNECTIONS = 32;
  private static final int PAGE = 2_000;

  private final Stack stack;
  private final HikariDataSource connections;
  private final Map<String, CompletableFuture<String>> deliveries = new ConcurrentHashMap<>();
  private final Map<String, Long> answeredAt = new ConcurrentHashMap<>();
  private final Thread follower;
  private volatile boolean closed;

  OutboxPath(Stack stack) {
    this.stack = stack;
    this.connections = stack.runtimeConnections(CONNECTIONS);
    InboxReader inbox = new InboxReader(connections);
    this.follower =
        Thread.ofPlatform()
            .name("ichido-bench-replies")
            .daemon()
            .start(() -> inbox.follow(0, PAGE, () -> !closed, this::take));
  }

  @Override
  public CompletableFuture<String> call(Call call) throws SQLException {
    String delivery = UUID.randomUUID().toString();
    CompletableFuture<String> verdict = new CompletableFuture<>();
    deliveries.put(delivery, verdict);
    try (Connection connection = connections.getConnection()) {
      Outbox.publish(
          connection,
          OutboxIntent.execute()
              .tenant(call.tenant())
              .principal(PRINCIPAL)
              .action(call.action())
              .operationId(call.operationId())
              .issuedAt(call.issuedAt())
              .arguments(call.arguments())
              .deliveryId(delivery)
              .build());
      connection.commit();
    }
    return verdict;
  }

  /** From here on. */
  Stages beginStages() {
    answeredAt.clear();
    return Stages.begin(stack);
  }

  /** When each last reply was at the runtime, in microseconds since the epoch, by delivery. */
  Map<String, Long> answeredAt() {
    return answeredAt;
  }

  private void take(List<InboxReply> replies) {
    long now = System.currentTimeMillis() * 1_000;
    for (InboxReply reply : replies) {
      if (reply.isFinal()) {
        CompletableFuture<String> verdict = deliveries.remove(reply.deliveryId());
        if (verdict != null) {
          answeredAt.put(reply.deliveryId(), now);
          verdict.complete(reply.verdict());
        }
      }
    }
  }

  @Override
  public Iterable<Long> servers() {
    return stack.databasePid().stream().toList();
  }

  @Override
  public Optional<Parts> parts() throws SQLException {
    return Optional.of(Parts.now(stack.dataSource()));
  }

  @Override
  public void close() {
    closed = true;
    try {
      follower.join(5_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connections.close();
  }
}
