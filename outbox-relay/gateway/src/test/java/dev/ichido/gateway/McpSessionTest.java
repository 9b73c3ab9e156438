package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.outbox.TenantKey;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** One client before a server of this test's, with a database that is never there. */
class McpSessionTest {
  private static final String CALL =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\","
          + "\"_meta\":{\"dev.ichido/lineage\":{\"runtime\":\"r\",\"thread\":\"t\",\"turn\":\"u\","
          + "\"call\":\"c\"}}}}";

  private final AtomicInteger written = new AtomicInteger();
  private final CompletableFuture<Thread> caller = new CompletableFuture<>();
  private final CompletableFuture<ObjectNode> listed = new CompletableFuture<>();
  private final List<ObjectNode> toClient = new CopyOnWriteArrayList<>();
  private final List<ObjectNode> toServer = new CopyOnWriteArrayList<>();
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();

  private final McpSession session =
      new McpSession(new Caller("t", "agent:a"), this::open, door(), toClient::add);

  private McpDoor door() {
    DataSource none =
        (DataSource)
            Proxy.newProxyInstance(
                McpSessionTest.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                  written.incrementAndGet();
                  throw new SQLException("Expected no connection, but one is asked for.");
                });
    McpConfig config =
        new McpConfig(
            "t",
            "agent:a",
            tenant -> {
              caller.complete(Thread.currentThread());
              return TenantKey.of("a key of a tenant in a test".getBytes(UTF_8));
            },
            "near",
            Map::of,
            McpConfig.Unidentified.REFUSE,
            Duration.ofMinutes(10),
            Duration.ofSeconds(1));
    return new McpDoor(
        config,
        new Intake(none),
        new ReplyStore(none),
        new ReplyFeed(none),
        sha256 -> Optional.empty(),
        Clock.systemUTC());
  }

  private McpUpstream.Session open(Consumer<ObjectNode> received) {
    opened.incrementAndGet();
    return new McpUpstream.Session() {
      @Override
      public void send(ObjectNode message) {
        toServer.add(message);
      }

      @Override
      public CompletableFuture<ObjectNode> request(String method, ObjectNode params) {
        return method.equals("initialize")
            ? CompletableFuture.failedFuture(new IOException("refused"))
            : listed;
      }

      @Override
      public boolean isOpen() {
        return opened.get() > 1;
      }

      @Override
      public void close() {
        closed.incrementAndGet();
      }
    };
  }

  private static ObjectNode json(String text) throws IOException {
    return (ObjectNode) McpJson.JSON.readTree(text);
  }

  private static ObjectNode noTools() throws IOException {
    return json("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"tools\":[]}}");
  }

  @Test
  void aCallThatIsCancelledWhileTheToolsAreListedNeverBegins() throws Exception {
    session.fromClient(json(CALL));
    session.fromClient(
        json(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                + "{\"requestId\":1}}"));
    listed.complete(noTools());
    caller.join().join();
    assertThat(written).hasValue(0);
    assertThat(toClient).isEmpty();
  }

  @Test
  void aCallThatIsNotCancelledIsWritten() throws Exception {
    listed.complete(noTools());
    session.fromClient(json(CALL));
    caller.join().join();
    assertThat(written).hasValue(1);
    assertThat(toClient.getFirst().toString())
        .contains("It is not known whether operation")
        .doesNotContainIgnoringCase("try again");
  }

  @Test
  void aCallWithoutAnIdReachesNobody() throws Exception {
    ObjectNode call = json(CALL);
    call.remove("id");
    session.fromClient(call);
    assertThat(opened).hasValue(0);
    assertThat(toServer).isEmpty();
    assertThat(toClient).isEmpty();
  }

  @Test
  void aServerThatRefusesTheHandshakeIsNotSpokenToWithoutOne() throws Exception {
    session.fromClient(
        json("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}"));
    assertThat(toServer).hasSize(1);
    String list = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}";
    session.fromClient(json(list));
    session.fromClient(json(list));
    assertThat(toServer).as("the session before was lost").hasSize(1);
    assertThat(toClient).hasSize(2).allMatch(it -> it.has("error"));
    assertThat(closed).as("one that was lost and two that were refused").hasValue(3);
  }
}
