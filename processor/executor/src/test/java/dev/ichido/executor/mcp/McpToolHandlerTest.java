package dev.ichido.executor.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.ichido.executor.ExecutorException;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.ToolOutcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class McpToolHandlerTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "terminal     | {\"result\":{\"content\":[]}}                  | Succeeded       |",
        "terminal     | {\"result\":{\"content\":[],\"isError\":true}} | FailedTerminal  |"
            + " TOOL_ERROR",
        "unknown      | {\"result\":{\"content\":[],\"isError\":true}} | Unknown         |"
            + " TOOL_ERROR",
        "not_accepted | {\"result\":{\"content\":[],\"isError\":true}} | FailedRetryable |"
            + " TOOL_ERROR",
        "terminal     | {\"error\":{\"code\":-32602,\"message\":\"m\"}} | FailedTerminal  |"
            + " REFUSED_BY_SERVER",
        "terminal     | {\"error\":{\"code\":-32601,\"message\":\"m\"}} | FailedTerminal  |"
            + " REFUSED_BY_SERVER",
        "terminal     | {\"error\":{\"code\":-32603,\"message\":\"m\"}} | Unknown         |"
            + " SERVER_ERROR",
        "not_accepted | {\"error\":{\"code\":-32000,\"message\":\"m\"}} | Unknown         |"
            + " SERVER_ERROR",
        "terminal     | {\"result\":null}                               | Unknown         |"
            + " ANSWER_MALFORMED",
      })
  void anAnswerIsTakenAsTheContractSays(
      String toolError, String answer, String outcome, String reason) throws Exception {
    McpToolHandler handler =
        handler(
            "{\"server\":\"s\",\"tool\":\"t\",\"tool_error\":\"" + toolError + "\"}",
            (command, params) -> CompletableFuture.completedFuture(json(answer)));
    ToolOutcome told = handler.execute(command("{}"));
    assertThat(told.getClass().getSimpleName()).isEqualTo(outcome);
    assertThat(told.toString()).contains(reason == null ? "reference=null" : reason);
  }

  @Test
  void theServerGetsTheArgumentsAsTheyWereAndTheOperation() throws Exception {
    List<ObjectNode> sent = new CopyOnWriteArrayList<>();
    McpToolHandler handler =
        handler(
            "{\"server\":\"s\",\"tool\":\"t\",\"key_argument\":\"key\",\"reference\":\"$.structuredContent.id\"}",
            (command, params) -> {
              sent.add(params);
              return CompletableFuture.completedFuture(
                  json("{\"result\":{\"content\":[],\"structuredContent\":{\"id\":\"r-1\"}}}"));
            });
    ToolOutcome told = handler.execute(command("{\"n\":1.50,\"x\":null}"));
    assertThat(((ToolOutcome.Succeeded) told).reference()).isEqualTo("r-1");
    assertThat(sent.getFirst().toString())
        .isEqualTo(
            "{\"name\":\"t\",\"arguments\":{\"n\":1.50,\"x\":null,\"key\":\"down-1\"},\"_meta\":"
                + "{\"dev.ichido/operation-id\":\"op-1\",\"dev.ichido/idempotency-key\":\"down-1\"}}");
    assertThat(handler.execute(command("[1]"))).isInstanceOf(ToolOutcome.FailedTerminal.class);
  }

  /** Two that name nothing would be the same effect. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"r-1\" | r-1",
        "17 | 17",
        "null |",
        "{} |",
        "[1] |",
        "true |",
        "\"\" |",
        "\" \" |"
      })
  void aReferenceIsATextOrANumber(String id, @Nullable String reference) throws Exception {
    McpToolHandler handler =
        handler(
            "{\"server\":\"s\",\"tool\":\"t\",\"reference\":\"$.structuredContent.id\"}",
            (command, params) ->
                CompletableFuture.completedFuture(
                    json("{\"result\":{\"structuredContent\":{\"id\":" + id + "}}}")));
    ToolOutcome told = handler.execute(command("{}"));
    assertThat(((ToolOutcome.Succeeded) told).reference()).isEqualTo(reference);
  }

  @Test
  void aServerThatIsNotThereProvesThatNothingStarted() throws Exception {
    try (OwnSession session =
            new OwnSession(new McpServer.Url(URI.create("http://127.0.0.1:1/mcp"), Map.of()));
        OwnSession program = new OwnSession(new McpServer.Command(List.of("/no/such/program")))) {
      for (OwnSession each : List.of(session, program)) {
        assertThat(handler("{\"server\":\"s\",\"tool\":\"t\"}", each).execute(command("{}")))
            .isInstanceOf(ToolOutcome.FailedRetryable.class);
      }
    }
  }

  @Test
  void aConnectionThatBreaksInACallLeavesItUnknownAndTheSessionIsBegunAnew() throws Exception {
    List<String> seen = new CopyOnWriteArrayList<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
    server.createContext("/mcp", exchange -> answer(exchange, seen, body -> {}));
    server.start();
    URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/mcp");
    try (OwnSession session =
        new OwnSession(new McpServer.Url(url, Map.of("Authorization", "Bearer of-the-server")))) {
      McpToolHandler handler = handler("{\"server\":\"s\",\"tool\":\"t\"}", session);
      assertThat(handler.execute(command("{\"do\":\"break\"}")))
          .isInstanceOf(ToolOutcome.Unknown.class);
      assertThat(handler.execute(command("{\"do\":\"work\"}")))
          .isInstanceOf(ToolOutcome.Succeeded.class);
      for (String refused : List.of("forget", "deny")) {
        assertThat(handler.execute(command("{\"do\":\"" + refused + "\"}")))
            .isInstanceOf(ToolOutcome.FailedRetryable.class);
      }
      assertThat(handler.execute(command("{\"do\":\"work\"}")))
          .isInstanceOf(ToolOutcome.Succeeded.class);
    } finally {
      server.stop(0);
    }
    assertThat(seen.stream().filter(body -> body.contains("\"break\""))).hasSize(1);
  }

  /** JSON answers; a call may break off, or find that its session is forgotten. */
  private static void answer(HttpExchange exchange, List<String> seen, Pause pause)
      throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      seen.add(body);
      pause.before(body);
      if (!"Bearer of-the-server".equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
        exchange.sendResponseHeaders(401, -1);
      } else if (!exchange.getRequestMethod().equals("POST")) {
        exchange.sendResponseHeaders(405, -1);
      } else if (body.contains("\"break\"")) {
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, 100);
        exchange.getResponseBody().write("{".getBytes(UTF_8));
      } else if (body.contains("\"forget\"")) {
        exchange.sendResponseHeaders(404, -1);
      } else if (body.contains("\"deny\"")) {
        exchange.sendResponseHeaders(403, -1);
      } else if (body.contains("\"id\"")) {
        ObjectNode answer = JsonRpc.JSON.createObjectNode().put("jsonrpc", "2.0");
        answer.set("id", JsonRpc.JSON.readTree(body).get("id"));
        ObjectNode result = answer.putObject("result");
        if (body.contains("\"initialize\"")) {
          result.put("protocolVersion", "2025-11-25").putObject("capabilities");
          result.putObject("serverInfo").put("name", "n").put("version", "1");
          exchange.getResponseHeaders().add("Mcp-Session-Id", "session-1");
        } else {
          result.putArray("content");
        }
        byte[] bytes = answer.toString().getBytes(UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
      } else {
        exchange.sendResponseHeaders(202, -1);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private interface Pause {
    void before(String body) throws InterruptedException;
  }

  @Test
  void aLostSessionFailsTheCallThatWasRefusedAndLeavesTheOthersTheirAnswers() throws Exception {
    List<String> seen = new CopyOnWriteArrayList<>();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/mcp",
        exchange -> {
          seen.add(exchange.getRequestMethod());
          answer(
              exchange,
              seen,
              body -> {
                if (body.contains("\"wait\"")) {
                  begun.countDown();
                  released.await();
                }
              });
        });
    server.start();
    URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/mcp");
    OwnSession session =
        new OwnSession(new McpServer.Url(url, Map.of("Authorization", "Bearer of-the-server")));
    try (session;
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      McpToolHandler handler = handler("{\"server\":\"s\",\"tool\":\"t\"}", session);
      Future<ToolOutcome> waiting =
          threads.submit(() -> handler.execute(command("{\"do\":\"wait\"}")));
      begun.await();
      assertThat(handler.execute(command("{\"do\":\"forget\"}")))
          .isInstanceOf(ToolOutcome.FailedRetryable.class);
      released.countDown();
      assertThat(waiting.get()).isInstanceOf(ToolOutcome.Succeeded.class);
      assertThat(handler.execute(command("{\"do\":\"work\"}")))
          .isInstanceOf(ToolOutcome.Succeeded.class);
      assertThat(seen).as("what the server does not know is not ended").doesNotContain("DELETE");
    } finally {
      server.stop(0);
    }
    assertThat(seen).as("what it knows is").contains("DELETE");
  }

  @Test
  void aProgramThatDoesNotReadHoldsNobodyUpAndIsEnded() throws Exception {
    McpConnection connection =
        new McpServer.Command(List.of("sleep", "600"))
            .open(
                new McpConnection.Listener() {
                  @Override
                  public void received(ObjectNode message) {}

                  @Override
                  public void closed() {}
                });
    ObjectNode large = JsonRpc.JSON.createObjectNode().put("more", "x".repeat(1_000_000));
    CompletableFuture<ObjectNode> answer = connection.request("tools/call", large);
    assertThat(answer).isNotDone();
    connection.close();
    assertThatThrownBy(answer::get)
        .cause()
        .isInstanceOfSatisfying(
            McpConnectionException.class, e -> assertThat(e.mayBeSent()).isTrue());
    assertThat(ProcessHandle.current().descendants().filter(ProcessHandle::isAlive)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"server\":\"s\"}                                         | actions.a.mcp",
        "{\"server\":\"s\",\"tool\":\"t\",\"tols\":1}               | actions.a.mcp.tols",
        "{\"server\":\"s\",\"tool\":\"t\",\"tool_error\":\"maybe\"} | actions.a.mcp.tool_error",
        "{\"server\":\"s\",\"tool\":\"t\",\"reference\":\"id\"}     | actions.a.mcp.reference",
        "{\"server\":\"s\",\"tool\":\"t\",\"identity\":[1]}         | actions.a.mcp.identity",
      })
  void aContractThatCanNotBeReadIsRefusedWithItsPlace(String contract, String place) {
    assertThatThrownBy(() -> handler(contract, (command, params) -> new CompletableFuture<>()))
        .isInstanceOf(ExecutorException.class)
        .hasMessageContaining(place);
  }

  private static McpToolHandler handler(String contract, ToolServer server) throws IOException {
    ObjectNode actions = JsonRpc.JSON.createObjectNode();
    actions.putObject("a").set("mcp", JsonRpc.JSON.readTree(contract));
    return new McpToolHandler(Objects.requireNonNull(McpContract.parse(actions).get("a")), server);
  }

  private static ObjectNode json(String text) {
    try {
      return (ObjectNode) JsonRpc.JSON.readTree(text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static ToolCommand command(String arguments) {
    return new ToolCommand(
        ToolCommand.Kind.EXECUTE,
        "k1/t/global/op-1",
        "c-1",
        "t",
        "global",
        "op-1",
        null,
        1,
        0,
        "a",
        null,
        null,
        arguments,
        null,
        "agent:a",
        "down-1",
        null,
        null,
        null,
        null,
        false,
        null,
        null,
        null);
  }
}
