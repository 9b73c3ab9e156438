package dev.ichido.app;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.executor.mcp.McpServer;
import dev.ichido.executor.mcp.OwnSession;
import dev.ichido.gateway.McpConfig.Unidentified;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.jackson2.JacksonMcpJsonMapper;
import io.modelcontextprotocol.spec.McpSchema;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The MCP door before a tool server with a book of its own, and the whole stack behind it. */
class McpIT {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final JsonMapper JSON = new JsonMapper();
  private static final String CONFIG =
      """
      topics: { prefix: tools, partitions: 1 }
      tenants:
        t1: { principals: ['agent:a'] }
        t2: { principals: ['agent:far'] }
      actions:
        invoice.send: { effect: write, mcp: { server: near, tool: send, identity: [invoice] } }
        watched.peek: { effect: write, retry: { auto: false }, mcp: { server: near, tool: peek } }
        far.pay: { effect: write, mcp: { server: far, tool: pay } }
        lone.slow: { effect: write, lease: 4s, remote: { status_read: false }, mcp: { server: lone, tool: slow } }
      """;

  @TempDir private static Path temp;
  private static McpStack stack;
  private static McpTalk agent;
  private static String url;

  @BeforeAll
  static void start() throws Exception {
    McpServer server = new McpServer.Command(BookedTools.command(temp));
    List<JsonNode> tools;
    try (OwnSession session = new OwnSession(server)) {
      tools = session.tools();
    }
    stack =
        McpStack.alone(
            temp.resolve("data"),
            config(),
            settings("near", server, "t1", "agent:a", Unidentified.REFUSE),
            tools,
            line -> {});
    agent = talk(stack.proxy());
    url = stack.proxy().listen(stack.given().gateway().at("127.0.0.1", 0), false);
  }

  @AfterAll
  static void stop() throws IOException {
    agent.close();
    stack.close();
  }

  private static IchidoConfig config() {
    return new ConfigLoader(name -> null).load("test", CONFIG);
  }

  private static McpSettings settings(
      String name, McpServer server, String tenant, String principal, Unidentified unidentified) {
    return new McpSettings(
        name,
        server,
        tenant,
        principal,
        unidentified,
        Duration.ofMinutes(10),
        Duration.ofSeconds(3));
  }

  /** A client over streams, as the command line has them. */
  private static McpTalk talk(McpProxy proxy) throws IOException {
    // Pipes of the operating system: Java's own break when the thread that wrote last has ended.
    Pipe toDoor = Pipe.open();
    Pipe toClient = Pipe.open();
    McpTalk talk =
        new McpTalk(
            Channels.newInputStream(toClient.source()), Channels.newOutputStream(toDoor.sink()));
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try (OutputStream out = Channels.newOutputStream(toClient.sink())) {
                proxy.serve(Channels.newInputStream(toDoor.source()), out);
              } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    return talk.initialized();
  }

  private static List<String> effects(String part) throws IOException {
    return BookedTools.book(temp).stream().filter(line -> line.contains(part)).toList();
  }

  private static String text(JsonNode result) {
    return result.path("content").path(0).path("text").asText();
  }

  /** What operation_status answers, once its content is like this. */
  private static JsonNode awaitStatus(String id, Predicate<JsonNode> content) {
    return await()
        .atMost(LIMIT)
        .until(
            () -> agent.call("operation_status", "", "{\"operation_id\":\"" + id + "\"}"),
            it -> content.test(it.path("structuredContent")));
  }

  @Test
  void aCompensationThatCannotBeginYetIsToBeAskedForAgain() throws Exception {
    String id = "undoes-what-is-to-come";
    String params =
        McpTalk.params("pay", id, "{\"n\":\"undoing\"}")
            .replace(
                "\"_meta\":{", "\"_meta\":{\"dev.ichido/compensates\":\"done-and-then-undone\",");
    JsonNode later = agent.ask("tools/call", params).path("result");
    assertThat(later.path("isError").asBoolean()).as(later.toString()).isTrue();
    assertThat(text(later))
        .contains("Nothing was done by this call", "Make this very call again", id)
        .contains("ORIGINAL_ABSENT");
    JsonNode status = agent.call("operation_status", "", "{\"operation_id\":\"" + id + "\"}");
    assertThat(text(status)).contains("Make this very call again");
    assertThat(status.path("structuredContent").path("call_again").asBoolean()).isTrue();
    assertThat(effects("undoing")).isEmpty();

    agent.call("pay", "done-and-then-undone", "{\"n\":\"undone\"}");
    assertThat(meta(agent.ask("tools/call", params).path("result"), "marker"))
        .isEqualTo("EXECUTED");
    assertThat(effects("undoing")).hasSize(1);
  }

  @Test
  void whoAsksOfAnOperationThatDoesNotGoOnIsToldWhatBringsItOn() throws Exception {
    String id = "two-results-were-told";
    agent.call("pay", id, "{\"n\":\"conflict\"}");
    sql("update ichido.inbox_operation set conflict = true where operation_id = '" + id + "'");
    assertThat(text(agent.call("operation_status", "", "{\"operation_id\":\"" + id + "\"}")))
        .startsWith("Two different results")
        .contains("a person has to look");

    JsonNode asked = failed("begins-when-asked", "watched.peek", null);
    assertThat(text(asked)).contains("begins only when this very call is made again");
    assertThat(asked.path("structuredContent").path("call_again").asBoolean()).isTrue();
    JsonNode goesOn = failed("goes-on-by-itself", "near.pay", null);
    assertThat(text(goesOn)).contains("without another call");
    JsonNode stuck = failed("stuck-for-a-person", "near.pay", "MAX_ATTEMPTS");
    assertThat(text(stuck)).contains("a person has to look").contains("Do not call the tool again");
    assertThat(stuck.path("structuredContent").path("call_again").asBoolean(true)).isFalse();
    assertThat(text(failed("stuck-and-only-asked", "watched.peek", "RETRY_HORIZON")))
        .contains("a person has to look");
  }

  /** The status of an operation that provably failed, as the journal tells it. */
  private static JsonNode failed(String id, String action, @Nullable String code) throws Exception {
    sql(
        "insert into ichido.operation (tenant, scope, operation_id, revision, state, attempt,"
            + " action, principal, fingerprint_version, retry_at, alarm, known_since, changed_at)"
            + " values ('t1', 'global', '%s', 2, 'FAILED_RETRYABLE', 1, '%s', 'agent:a', 1, now(),"
                .formatted(id, action)
            + " false, now(), now())");
    if (code != null) {
      sql(
          "insert into ichido.operation_event (tenant, scope, operation_id, revision, event,"
              + " verdict, code, alarm, state_before, state_after, attempt, at) values ('t1',"
              + " 'global', '%s', 2, 'DEADLINE_REACHED', 'RETRY_LATER', '%s', false,"
                  .formatted(id, code)
              + " 'FAILED_RETRYABLE', 'FAILED_RETRYABLE', 1, now())");
    }
    return agent.call("operation_status", "", "{\"operation_id\":\"" + id + "\"}");
  }

  private static void sql(String text) throws SQLException {
    try (Connection connection = stack.stack().dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(text);
    }
  }

  private static String meta(JsonNode result, String name) {
    return result.path("_meta").path("dev.ichido/" + name).asText();
  }

  @Test
  @Tag("FR-11")
  @Tag("FR-12")
  void anyNumberOfCallsOfOneOperationIsOneEffectAndOneResult() throws Exception {
    String id = "concurrent-operation-1";
    List<CompletableFuture<JsonNode>> calls =
        IntStream.range(0, 8)
            .mapToObj(
                i -> agent.send("tools/call", McpTalk.params("pay", id, "{\"n\":\"concurrent\"}")))
            .toList();
    JsonNode executed = JSON.getNodeFactory().missingNode();
    for (CompletableFuture<JsonNode> call : calls) {
      JsonNode result = call.join().path("result");
      assertThat(text(result)).isEqualTo("paid");
      assertThat(result.path("structuredContent").path("effect").isInt()).isTrue();
      assertThat(result.path("_meta").path("tool/own").asText()).isEqualTo("kept");
      assertThat(meta(result, "operation-id")).isEqualTo(id);
      assertThat(meta(result, "state")).isEqualTo("SUCCEEDED");
      assertThat(result.has("isError")).as("unchanged").isFalse();
      executed = result;
    }
    JsonNode again = agent.call("pay", id, "{\"n\":\"concurrent\"}");
    assertThat(meta(again, "marker")).isEqualTo("REPLAYED");
    assertThat(meta(again, "original-at")).isNotEmpty();
    assertThat(again.path("structuredContent")).isEqualTo(executed.path("structuredContent"));
    assertThat(effects("concurrent")).hasSize(1);
  }

  @ParameterizedTest(name = "{0}")
  @Tag("FR-04")
  @Tag("FR-41")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "members in another order | {\"c\":\"K\",\"amount\":1,\"to\":\"x\"} |"
            + " {\"to\":\"x\",\"c\":\"K\",\"amount\":1}      | REPLAYED",
        "one point nought is one  | {\"c\":\"K\",\"amount\":1}              |"
            + " {\"c\":\"K\",\"amount\":1.0}                 | REPLAYED",
        "another amount           | {\"c\":\"K\",\"amount\":1}              |"
            + " {\"c\":\"K\",\"amount\":2}                   | FINGERPRINT_MISMATCH",
        "a hair more              | {\"c\":\"K\",\"amount\":0.1}            |"
            + " {\"c\":\"K\",\"amount\":0.10000000000000001} | FINGERPRINT_MISMATCH",
        "large integers differ    | {\"c\":\"K\",\"n\":9007199254740992}    |"
            + " {\"c\":\"K\",\"n\":9007199254740993}         | FINGERPRINT_MISMATCH",
        "null is not absent       | {\"c\":\"K\",\"amount\":1}              |"
            + " {\"c\":\"K\",\"amount\":1,\"note\":null}     | FINGERPRINT_MISMATCH",
        "arrays are ordered       | {\"c\":\"K\",\"items\":[1,2]}           |"
            + " {\"c\":\"K\",\"items\":[2,1]}                | FINGERPRINT_MISMATCH",
      })
  void theSecondCallOfAnOperationIsTheFirstOrIsRefused(
      String name, String first, String second, String verdict) throws Exception {
    String id = "meaning-" + name.replace(' ', '-');
    JsonNode executed = agent.call("pay", id, first.replace("K", id));
    assertThat(meta(executed, "marker")).as(executed.toString()).isEqualTo("EXECUTED");
    JsonNode again = agent.call("pay", id, second.replace("K", id));
    assertThat(meta(again, "verdict")).as(again.toString()).isEqualTo(verdict);
    boolean refused = verdict.equals("FINGERPRINT_MISMATCH");
    assertThat(again.path("isError").asBoolean()).isEqualTo(refused);
    if (refused) {
      assertThat(text(again)).contains("Nothing was done by this call").contains("differs in");
    }
    assertThat(effects(id)).hasSize(1);
    assertThat(meta(agent.call("pay", id, first.replace("K", id)), "marker")).isEqualTo("REPLAYED");
  }

  @Test
  void aMemberThatStandsTwiceIsRefusedAndNothingRuns() throws Exception {
    agent.write(
        "{\"jsonrpc\":\"2.0\",\"id\":\"twice\",\"method\":\"tools/call\",\"params\":"
            + McpTalk.params("pay", "a-member-that-is-twice", "{\"twice\":1,\"twice\":2}")
            + "}");
    JsonNode refused =
        await().atMost(LIMIT).until(() -> agent.others.poll(), it -> it != null && it.has("error"));
    assertThat(refused.path("error").path("code").asInt()).isEqualTo(-32700);
    assertThat(effects("twice")).isEmpty();
  }

  @Test
  @Tag("FR-09")
  @Tag("FR-14")
  void aToolServerThatIsKilledInACallLeavesItUnknownAndIsNotCalledAgain() throws Exception {
    String id = "killed-in-the-middle";
    JsonNode unknown = agent.call("die", id, "{\"n\":\"killed\"}");
    assertThat(meta(unknown, "state")).isEqualTo("UNKNOWN_RECONCILIATION");
    assertThat(text(unknown))
        .contains("Do not call the tool again")
        .contains("operation_status")
        .contains(id)
        .doesNotContainIgnoringCase("try again");
    assertThat(unknown.path("isError").asBoolean()).isFalse();
    JsonNode again = agent.call("die", id, "{\"n\":\"killed\"}");
    assertThat(meta(again, "verdict")).isEqualTo("HELD_UNKNOWN");
    assertThat(effects("killed")).hasSize(1);

    JsonNode status = agent.call("operation_status", "", "{\"operation_id\":\"" + id + "\"}");
    assertThat(status.path("structuredContent").path("state").asText())
        .isEqualTo("UNKNOWN_RECONCILIATION");
    assertThat(status.path("structuredContent").path("call_again").asBoolean(true)).isFalse();
    // The server is begun anew, with the client's handshake.
    assertThat(text(agent.call("look", "", "{}"))).startsWith("looked");
  }

  @Test
  @Tag("FR-01")
  @Tag("FR-13")
  void whatEndsAfterTheClientGaveUpIsKeptAndToldToTheNextCall() throws Exception {
    String id = "slower-than-its-client";
    String arguments = "{\"n\":\"slower\",\"gate\":\"slower\"}";
    String params =
        McpTalk.params("slow", id, arguments)
            .replace("\"_meta\":{", "\"_meta\":{\"progressToken\":\"p-1\",");
    JsonNode running = agent.ask("tools/call", params).path("result");
    assertThat(meta(running, "state")).isEqualTo("IN_PROGRESS");
    assertThat(text(running)).contains("Do not call the tool again").contains(id);
    assertThat(agent.awaitOther("notifications/progress").path("params").path("progressToken"))
        .as("progress of the executor's call reaches who asked")
        .isEqualTo(JSON.getNodeFactory().textNode("p-1"));

    Files.createFile(temp.resolve("slower"));
    // The journal may be a moment before the reply that carries the result.
    JsonNode status = awaitStatus(id, it -> it.has("result"));
    assertThat(status.path("structuredContent").path("state").asText()).isEqualTo("SUCCEEDED");
    assertThat(text(status.path("structuredContent").path("result"))).isEqualTo("slowly done");
    // A client that comes back has another connection, and other ids of its requests.
    try (McpTalk back = talk(stack.proxy())) {
      JsonNode replayed = back.call("slow", id, arguments);
      assertThat(text(replayed)).isEqualTo("slowly done");
      assertThat(meta(replayed, "marker")).isEqualTo("REPLAYED");
    }
    assertThat(effects("slower")).hasSize(1);
  }

  @Test
  @Tag("FR-42")
  void withoutAnIdentityNothingIsDoneAndTheIdOfTheRequestIsNone() throws Exception {
    JsonNode refused = agent.call("pay", "", "{\"n\":\"nameless\"}");
    assertThat(refused.path("isError").asBoolean()).isTrue();
    assertThat(text(refused)).contains("OPERATION_ID_MISSING").contains("operation_id");
    assertThat(text(agent.call("pay", "short", "{\"n\":\"nameless\"}")))
        .contains("Nothing was done")
        .contains("OPERATION_ID_TOO_SHORT");
    assertThat(text(agent.call("nothing", "an-action-nobody-knows", "{}")))
        .contains("Nothing was done")
        .contains("ACTION_UNKNOWN");
    String noise =
        new Random(7).ints(4_000, 'a', 'z').mapToObj(Character::toString).collect(joining());
    assertThat(text(agent.call("pay", noise, "{\"n\":\"nameless\"}")))
        .contains("Nothing was done")
        .contains("OPERATION_ID_TOO_LONG");
    assertThat(text(agent.call("pay", noise + noise, "{\"n\":\"nameless\"}")))
        .contains("Nothing was done")
        .contains("operation_id");
    String later =
        "{\"name\":\"pay\",\"arguments\":{\"n\":\"nameless\"},\"_meta\":{\"dev.ichido/operation-id\":"
            + "\"issued-far-away-0001\",\"dev.ichido/issued-at\":\"+300000-01-01T00:00:00Z\"}}";
    assertThat(text(agent.ask("tools/call", later).path("result")))
        .contains("Nothing was done")
        .contains("issued_at");
    assertThat(effects("nameless")).isEmpty();
  }

  @Test
  void theArgumentOfTheIdentityIsAddedAndTakenOffAgain() throws Exception {
    JsonNode tools = agent.ask("tools/list", "{}").path("result").path("tools");
    for (JsonNode tool : tools) {
      String type =
          tool.path("inputSchema").path("properties").path("operation_id").path("type").asText();
      switch (tool.path("name").asText()) {
        case "look" -> assertThat(type).as("changes nothing").isEmpty();
        case "own" -> assertThat(type).as("the tool's own").isEqualTo("integer");
        default -> assertThat(type).as(tool.toString()).isEqualTo("string");
      }
      if (!tool.path("name").asText().equals("operation_status")) {
        assertThat(tool.path("x-vendor").asText()).isEqualTo("kept");
      }
    }
    assertThat(tools.findValuesAsText("name")).endsWith("operation_status");

    String id = "given-as-an-argument";
    String arguments = "{\"n\":\"stripped\",\"operation_id\":\"" + id + "\"}";
    assertThat(meta(agent.call("pay", "", arguments), "operation-id")).isEqualTo(id);
    assertThat(meta(agent.call("pay", "", arguments), "marker")).isEqualTo("REPLAYED");
    assertThat(effects("stripped")).containsExactly("pay {\"n\":\"stripped\"}");
    // What is the tool's own stays, and is no identity.
    agent.call("own", "has-one-of-its-own", "{\"n\":\"kept\",\"operation_id\":7}");
    assertThat(effects("kept")).containsExactly("own {\"n\":\"kept\",\"operation_id\":7}");
  }

  @Test
  @Tag("FR-03")
  @Tag("FR-07")
  @Tag("FR-15")
  void keyFieldsOfThePolicyAndLineageAreIdentities() throws Exception {
    assertThat(meta(agent.call("send", "", "{\"invoice\":\"R-17\",\"to\":\"x\"}"), "marker"))
        .isEqualTo("EXECUTED");
    assertThat(meta(agent.call("send", "", "{\"to\":\"x\",\"invoice\":\"R-17\"}"), "marker"))
        .isEqualTo("REPLAYED");
    assertThat(meta(agent.call("send", "", "{\"invoice\":\"R-17\",\"to\":\"y\"}"), "verdict"))
        .isEqualTo("FINGERPRINT_MISMATCH");
    assertThat(text(agent.call("send", "", "{\"to\":\"x\"}"))).contains("KEY_FIELD_MISSING");
    assertThat(effects("R-17")).hasSize(1);

    assertThat(lineage("turn-1", "call_0")).isEqualTo("EXECUTED");
    assertThat(lineage("turn-1", "call_0")).isEqualTo("REPLAYED");
    assertThat(lineage("turn-2", "call_0"))
        .as("a call id that is used again")
        .isEqualTo("EXECUTED");
    assertThat(effects("lineage")).hasSize(2);
  }

  private static String lineage(String turn, String call) {
    JsonNode result =
        agent
            .ask(
                "tools/call",
                """
                {"name":"pay","arguments":{"n":"lineage"},"_meta":{"dev.ichido/lineage":
                {"runtime":"r","thread":"t","turn":"%s","call":"%s","index":0}}}
                """
                    .formatted(turn, call)
                    .replace("\n", ""))
            .path("result");
    return meta(result, "marker");
  }

  @Test
  @Tag("FR-16")
  void whatOnlyReadsPassesUnlessThePolicySaysThatItDoesMore() throws Exception {
    JsonNode look = agent.call("look", "", "{\"n\":1.50}");
    assertThat(text(look)).isEqualTo("looked at {\"n\":1.50}");
    assertThat(look.has("_meta")).isFalse();
    assertThat(text(agent.call("peek", "", "{}"))).contains("OPERATION_ID_MISSING");
    assertThat(meta(agent.call("peek", "policy-over-annotation", "{\"n\":\"over\"}"), "marker"))
        .isEqualTo("EXECUTED");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "tasks/get",
        "of/a/later/version"
      })
  void whatAClientAsksBesideToolsPassesAsItIs(String method) {
    String params = "{\"n\":1.50,\"x\":null,\"big\":9007199254740993}";
    assertThat(agent.ask(method, params).path("result").toString())
        .isEqualTo("{\"method\":\"" + method + "\",\"params\":" + params + "}");
  }

  @Test
  void whatTheServerSaysByItselfPassesAsItIsAndSoDoTheAnswers() throws Exception {
    try (McpTalk one = talk(stack.proxy())) {
      List<String> said =
          List.of(
              said("notifications/message", "\"params\":{\"level\":\"info\",\"data\":1.50}"),
              said("notifications/progress", "\"params\":{\"progressToken\":7,\"progress\":1}"),
              said("notifications/resources/updated", "\"params\":{\"uri\":\"x://1\"}"),
              said("notifications/resources/list_changed", "\"x\":null"),
              said("notifications/prompts/list_changed", "\"x\":null"),
              said("notifications/tools/list_changed", "\"x\":null"),
              said("elicitation/create", "\"id\":\"e-1\",\"params\":{\"message\":\"sure?\"}"),
              said("roots/list", "\"id\":77"));
      assertThat(text(one.call("late", "", "{}")))
          .as("not listed, so it has an effect")
          .contains("OPERATION_ID_MISSING");
      one.call("look", "", "{\"grow\":true,\"say\":" + said + "}");
      for (String message : said) {
        JsonNode heard = one.awaitOther(JSON.readTree(message).path("method").asText());
        assertThat(heard.toString()).isEqualTo(message);
      }
      assertThat(text(one.call("late", "", "{}"))).as("listed anew").startsWith("looked");
      String answer =
          "{\"jsonrpc\":\"2.0\",\"id\":\"e-1\",\"result\":{\"action\":\"accept\",\"n\":1.50}}";
      one.write(answer);
      await().atMost(LIMIT).until(() -> Files.readString(temp.resolve("seen")).contains(answer));
    }
  }

  private static String said(String method, String more) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"" + method + "\"," + more + "}";
  }

  /** The door is a process of its own here, and so is its tool server. */
  @Test
  @Tag("FR-09")
  @Tag("FR-32")
  void aDoorThatIsKilledInACallHasOneEffectAndSaysThatItDoesNotKnow() throws Exception {
    Path tools = Files.createDirectory(temp.resolve("killed-door"));
    String id = "the-door-is-killed-in-it";
    String arguments = "{\"gate\":\"gate\"}";
    Process killed = door(tools);
    try (McpTalk client = new McpTalk(killed.getInputStream(), killed.getOutputStream())) {
      var unused = client.initialized().send("tools/call", McpTalk.params("slow", id, arguments));
      await().atMost(LIMIT).until(() -> BookedTools.book(tools).size() == 1);
      killed.destroyForcibly().waitFor();
    }
    Process door = door(tools);
    try (McpTalk client = new McpTalk(door.getInputStream(), door.getOutputStream())) {
      client.initialized();
      JsonNode told =
          await()
              .atMost(LIMIT)
              .until(
                  () -> client.call("slow", id, arguments),
                  it -> !meta(it, "state").equals("IN_PROGRESS"));
      assertThat(meta(told, "state")).as(told.toString()).isEqualTo("UNKNOWN_RECONCILIATION");
      assertThat(text(told)).contains("Do not call the tool again");
    } finally {
      Files.createFile(tools.resolve("gate"));
    }
    assertThat(door.waitFor()).isZero();
    assertThat(BookedTools.book(tools)).containsExactly("slow " + arguments);
  }

  private static Process door(Path tools) throws IOException {
    IchidoConfig at = stack.stack().config();
    String database =
        "{ url: '%s', user: '%s', password: '%s' }"
            .formatted(
                at.outbox().database().url(),
                at.outbox().database().user(),
                at.outbox().database().password());
    Path file = tools.resolve("door.yaml");
    Files.writeString(
        file,
        CONFIG
            + "kafka: { bootstrap.servers: '%s' }\n"
                .formatted(at.kafka().values().get("bootstrap.servers"))
            + "registry: { schema.registry.url: '%s' }\n"
                .formatted(at.registry().values().get("schema.registry.url"))
            + "outbox: "
            + database
            + "\n"
            + "inbox: { database: "
            + database
            + " }\n"
            + "executor: { database: "
            + database
            + " }\n");
    List<String> command = new ArrayList<>(BookedTools.java(192));
    command.add("dev.ichido.cli.Main");
    command.addAll(List.of("mcp", "--config", file.toString(), "--name", "lone"));
    command.addAll(List.of("--tenant", "t1", "--principal", "agent:a", "--answer-within", "2"));
    command.addAll(List.of("--server", String.join(" ", BookedTools.command(tools))));
    return new ProcessBuilder(command).redirectError(tools.resolve("stderr").toFile()).start();
  }

  @Test
  void aQuestionInTheMiddleOfACallGoesToWhoAsked() throws Exception {
    agent.write(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/of/nobody\",\"params\":{\"a\":1}}");
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(Files.readString(temp.resolve("seen")))
                    .contains("notifications/of/nobody {\"a\":1}"));

    // A question of the server in the middle of a call goes to who asked, and so does its answer.
    CompletableFuture<JsonNode> call =
        agent.send("tools/call", McpTalk.params("ask", "asks-in-the-middle", "{\"n\":\"asks\"}"));
    JsonNode question = agent.awaitOther("sampling/createMessage");
    assertThat(question.path("params").path("maxTokens").asInt()).isEqualTo(7);
    agent.write(
        "{\"jsonrpc\":\"2.0\",\"id\":\"question-1\",\"result\":{\"role\":\"assistant\",\"n\":3}}");
    assertThat(text(call.join().path("result"))).contains("\"n\":3");
    assertThat(effects("asks")).hasSize(1);
  }

  @Test
  void resultsStayAsTheToolGaveThemLargeOrFailed() throws Exception {
    JsonNode large = agent.call("large", "a-result-that-is-large", "{}");
    assertThat(text(large)).hasSize(200_000);
    assertThat(text(agent.call("large", "a-result-that-is-large", "{}"))).hasSize(200_000);

    for (String marker : List.of("EXECUTED", "REPLAYED")) {
      JsonNode failed = agent.call("fail", "a-tool-that-fails", "{\"n\":\"failing\"}");
      assertThat(failed.path("isError").asBoolean()).isTrue();
      assertThat(text(failed)).isEqualTo("no such account");
      assertThat(meta(failed, "marker")).isEqualTo(marker);
    }
    assertThat(effects("failing")).hasSize(1);
  }

  @Test
  void aCancelledCallIsNotAnsweredAndWhatRunsIsNotUndone() throws Exception {
    String id = "cancelled-by-its-client";
    String arguments = "{\"n\":\"cancelled\",\"gate\":\"cancelled\"}";
    CompletableFuture<JsonNode> call =
        agent.send("tools/call", McpTalk.params("slow", id, arguments));
    int number = agent.lastId();
    await().atMost(LIMIT).until(() -> !effects("cancelled").isEmpty());
    agent.write(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
            + number
            + "}}");
    // The wish is decided on before the call ends.
    await()
        .atMost(LIMIT)
        .until(
            () -> JSON.readTree(shown(id)).path("replies").findValuesAsText("verdict").size() > 1);
    Files.createFile(temp.resolve("cancelled"));
    JsonNode status = awaitStatus(id, it -> it.path("state").asText().equals("SUCCEEDED"));
    assertThat(text(status)).contains("was carried out");
    assertThat(call).as("no answer to a cancelled request").isNotDone();
    assertThat(Files.exists(temp.resolve("seen")) ? Files.readString(temp.resolve("seen")) : "")
        .as("the attempt that runs is left alone")
        .doesNotContain("notifications/cancelled");
    assertThat(effects("cancelled")).hasSize(1);
  }

  private static String shown(String id) throws Exception {
    return DoorClient.of(
            stack.stack().endpoints().gatewayUrl(), temp.resolve("data"), "t1", "agent:a")
        .get("/v1/operations/" + id)
        .body()
        .toString();
  }

  @Test
  @Tag("FR-13")
  void aClientWhoseOwnTimeIsUpFindsTheResultInItsNextSession() throws Exception {
    McpSchema.CallToolRequest request =
        McpSchema.CallToolRequest.builder("slow")
            .arguments(Map.of("n", "timed-out", "gate", "timed-out"))
            .meta(Map.of("dev.ichido/operation-id", "slower-than-the-sdk-waits"))
            .build();
    try (McpSyncClient client = client(url, Duration.ofSeconds(1))) {
      client.initialize();
      assertThatThrownBy(() -> client.callTool(request))
          .hasRootCauseInstanceOf(TimeoutException.class);
    }
    Files.createFile(temp.resolve("timed-out"));
    try (McpSyncClient client = client(url, LIMIT)) {
      client.initialize();
      McpSchema.CallToolResult told =
          await()
              .atMost(LIMIT)
              .until(
                  () -> client.callTool(request),
                  it -> it.content().toString().contains("slowly done"));
      assertThat(told.meta()).containsEntry("dev.ichido/state", "SUCCEEDED");
    }
    assertThat(effects("timed-out")).hasSize(1);
  }

  @Test
  void theSdksClientOverHttpAndADoorBeforeTheDoor() throws Exception {
    try (McpSyncClient client = client(url, LIMIT)) {
      client.initialize();
      assertThat(client.listTools().tools())
          .extracting(McpSchema.Tool::name)
          .contains("pay", "look", "operation_status");
      McpSchema.CallToolRequest request =
          McpSchema.CallToolRequest.builder("pay")
              .arguments(Map.of("n", "over-http"))
              .meta(Map.of("dev.ichido/operation-id", "asked-for-over-http"))
              .build();
      assertThat(client.callTool(request).meta()).containsEntry("dev.ichido/marker", "EXECUTED");
      assertThat(client.callTool(request).meta()).containsEntry("dev.ichido/marker", "REPLAYED");
      assertThat(effects("over-http")).hasSize(1);
    }
    McpSettings far =
        settings(
            "far",
            new McpServer.Url(URI.create(url), Map.of()),
            "t2",
            "agent:far",
            Unidentified.LINEAGE_WINDOW);
    try (McpStack before =
            McpStack.beside(
                stack.stack().config(), LivePolicy.fixed(stack.stack().config()), far, false);
        McpTalk caller = talk(before.proxy())) {
      assertThat(text(caller.call("look", "", "{\"n\":1.50}"))).isEqualTo("looked at {\"n\":1.50}");
      JsonNode first = caller.call("pay", "", "{\"n\":\"window\",\"amount\":1}");
      assertThat(meta(first, "marker")).as(first.toString()).isEqualTo("EXECUTED");
      assertThat(meta(caller.call("pay", "", "{\"amount\":1.0,\"n\":\"window\"}"), "marker"))
          .isEqualTo("REPLAYED");
      assertThat(meta(caller.call("pay", "", "{\"amount\":2,\"n\":\"window\"}"), "marker"))
          .isEqualTo("EXECUTED");
      assertThat(effects("window")).hasSize(2);
    }
    HttpRequest ofAnotherSite =
        HttpRequest.newBuilder(URI.create(url))
            .header("Origin", "http://evil.example")
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      assertThat(http.send(ofAnotherSite, BodyHandlers.discarding()).statusCode()).isEqualTo(403);
    }
  }

  @Test
  void aChangedPolicyCountsAtTheDoorWithoutARestart() throws Exception {
    Path file = Files.writeString(temp.resolve("policy.yaml"), CONFIG);
    McpSettings far =
        settings(
            "far",
            new McpServer.Url(URI.create(url), Map.of()),
            "t2",
            "agent:far",
            Unidentified.REFUSE);
    try (McpStack door = McpStack.beside(stack.stack().config(), LivePolicy.of(file), far, false);
        McpTalk caller = talk(door.proxy())) {
      assertThat(text(caller.call("pay", "", "{\"n\":\"reloaded\"}")))
          .contains("OPERATION_ID_MISSING");
      Files.writeString(file, CONFIG.replace("tool: pay }", "tool: pay, identity: [n] }"));
      await()
          .atMost(LIMIT)
          .until(
              () -> meta(caller.call("pay", "", "{\"n\":\"reloaded\"}"), "marker"),
              marker -> !marker.isEmpty());
    }
    assertThat(effects("reloaded")).hasSize(1);
  }

  private static McpSyncClient client(String url, Duration patience) {
    return McpClient.sync(
            HttpClientStreamableHttpTransport.builder(url.replace("/mcp", ""))
                .jsonMapper(new JacksonMcpJsonMapper(JSON))
                .build())
        .requestTimeout(patience)
        .build();
  }
}
