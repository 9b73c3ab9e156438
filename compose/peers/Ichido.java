package peers;

import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.app.Stack;
import dev.ichido.config.ConfigLoader;
import dev.ichido.embedded.DataFolder;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The embedded stack as a peer: an intent committed in the outbox, the last reply in the inbox. */
final class Ichido extends Driver {
  private final HikariDataSource connections;
  private final Map<String, CompletableFuture<String>> waiting = new ConcurrentHashMap<>();
  private final Map<String, Instant> issued = new ConcurrentHashMap<>();

  private Ichido(Stack stack) {
    connections = stack.runtimeConnections(32);
    InboxReader inbox = new InboxReader(connections);
    Thread.ofPlatform().daemon().start(() -> inbox.follow(0, 2_000, () -> true, this::take));
  }

  @Override
  CompletableFuture<String> submit(String key, String body) {
    String delivery = UUID.randomUUID().toString();
    CompletableFuture<String> result = new CompletableFuture<>();
    waiting.put(delivery, result);
    async(
        () -> {
          try (Connection connection = connections.getConnection()) {
            Outbox.publish(
                connection,
                OutboxIntent.execute()
                    .tenant("tenant-7")
                    .principal("agent:peers")
                    .action("payments.charge")
                    .operationId("peers-operation-" + key)
                    .issuedAt(issued.computeIfAbsent(key, none -> Instant.now()))
                    .arguments(body)
                    .deliveryId(delivery)
                    .build());
            connection.commit();
          } catch (Exception e) {
            result.completeExceptionally(e);
          }
          return delivery;
        });
    return result;
  }

  private void take(List<InboxReply> replies) {
    for (InboxReply reply : replies) {
      CompletableFuture<String> result =
          reply.isFinal() ? waiting.remove(reply.deliveryId()) : null;
      if (result == null) {
        continue;
      }
      if (reply.body() == null) {
        result.completeExceptionally(new IllegalStateException(reply.verdict()));
      } else {
        result.complete(reply.body());
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    String policy =
        """
        tenants:
          tenant-7: { principals: ["agent:peers"], key: "a key of the peers' one tenant" }
        actions:
          payments.charge:
            effect: write
            http: { remote: sink, method: POST, url: "http://127.0.0.1:%s/e/{arguments.op}" }
        """
            .formatted(arguments[0]);
    Stack stack =
        Stack.start(
            DataFolder.open(Path.of(arguments[1])),
            Stack.Ports.FREE,
            ConfigLoader.ofProcess().load("peers", policy),
            System.err::println);
    new Ichido(stack).run();
  }
}
