package dev.ichido.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.app.Stack;
import dev.ichido.config.ConfigLoader;
import dev.ichido.embedded.DataFolder;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.InvalidIntentException;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import dev.ichido.outbox.RecordKey;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.KeySource;
import dev.ichido.remotes.RemoteConfig;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.remotes.RemoteServer;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.wire.RecordSerdes;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Steps, their compensation, and arguments as large as they may be, through the whole stack. */
class WorkflowCommandIT {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @TempDir Path temp;

  private RemoteServer remote;
  private DataFolder folder;
  private Stack stack;
  private InboxReader inbox;

  /** Every delivery says the same. */
  private final Instant issued = Instant.now().truncatedTo(ChronoUnit.SECONDS);

  @BeforeEach
  void start() throws Exception {
    remote =
        RemoteServer.start(
            RemoteConfig.of(RemoteKind.LEGACY, temp.resolve("book"))
                .withBusinessKey(KeySource.body("/natural_key")));
    folder = DataFolder.open(temp.resolve("data"));
    stack =
        Stack.start(
            folder,
            Stack.Ports.FREE,
            new ConfigLoader(name -> null).load("test", config(remote.port())),
            line -> {});
    inbox = new InboxReader(stack.dataSource());
  }

  @AfterEach
  void stop() {
    stack.close();
    folder.close();
    remote.close();
  }

  @Test
  void aRetryOfTheWholeRunsOnlyWhatIsNotDoneAndAStepIsUndoneOnce() throws Exception {
    remote.faults().add(Fault.of(FaultKind.TIMEOUT_BEFORE_COMMIT).forBusinessKey("hotel"));
    assertThat(settled(step("flight", 1)).state()).isEqualTo("SUCCEEDED");
    String second = step("hotel", 2);
    await().atMost(PATIENCE).until(() -> state("hotel").equals("UNKNOWN_RECONCILIATION"));

    JsonNode partial = workflow();
    assertThat(partial.path("done").asInt()).isEqualTo(1);
    assertThat(partial.path("of").asInt()).isEqualTo(2);
    assertThat(partial.at("/states/UNKNOWN_RECONCILIATION").asInt()).isEqualTo(1);
    assertThat(partial.at("/steps/0/step").asText()).isEqualTo("1");
    assertThat(remote.book().countByKey()).isEqualTo(Map.of("flight", 1));

    // The runtime crashed and publishes the whole again.
    InboxReply first = settled(step("flight", 1));
    assertThat(first.verdict()).isEqualTo("REPLAYED");
    String again = step("hotel", 2);
    assertThat(settled(step("car", 3)).verdict()).isEqualTo("SETTLED");
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                inbox.repliesTo(again).stream()
                    .anyMatch(reply -> reply.verdict().equals("HELD_UNKNOWN")));
    refused(undo("undo-hotel-0000001", "hotel"), "ORIGINAL_UNKNOWN");
    assertThat(remote.book().countByKey()).isEqualTo(Map.of("flight", 1, "car", 1));

    Ran resolved =
        run(
            "operation",
            "resolve",
            "demo",
            id("hotel"),
            "--as",
            "NOT_STARTED",
            "--by",
            "person:maria",
            "--evidence",
            "the hotel's book has no such line");
    assertThat(resolved.code()).as(resolved.err()).isZero();
    assertThat(settled(second).state()).isEqualTo("SUCCEEDED");
    assertThat(settled(again).state()).isEqualTo("SUCCEEDED");
    Map<String, Integer> once = Map.of("flight", 1, "hotel", 1, "car", 1);
    assertThat(remote.book().countByKey()).isEqualTo(once);
    await().atMost(PATIENCE).until(() -> workflow().path("done").asInt() == 3);

    assertThat(settled(undo("undo-hotel-0000001", "hotel")).state()).isEqualTo("SUCCEEDED");
    assertThat(settled(undo("undo-hotel-0000001", "hotel")).verdict()).isEqualTo("REPLAYED");
    refused(undo("undo-hotel-0000002", "hotel"), "COMPENSATED_ALREADY");
    assertThat(remote.book().countByKey().get("undo-hotel")).isEqualTo(1);
    await().atMost(PATIENCE).until(() -> !shown("hotel").path("compensated_by").isNull());
    JsonNode hotel = shown("hotel");
    assertThat(hotel.path("compensated_by").asText()).isEqualTo("undo-hotel-0000001");
    assertThat(hotel.path("events").findValuesAsText("verdict"))
        .contains("CLAIMED", "RESOLVED", "RECLAIMED", "SETTLED", "COMPENSATION_GRANTED");
    assertThat(run("workflow", "show", "demo", "trip-1").out())
        .contains("undone by undo-hotel-0000001");
    Ran unknown = run("workflow", "show", "demo", "trip-2");
    assertThat(unknown.code()).isEqualTo(1);
    assertThat(unknown.err()).contains("WORKFLOW_UNKNOWN");
  }

  @Test
  void argumentsOfOneMebibyteGoThroughAndNoByteMore() throws Exception {
    String largest = arguments("large-1", OutboxIntent.MAX_ARGUMENTS_BYTES);
    assertThat(settled(publish(intent("large-operation-0001", largest).build())).state())
        .isEqualTo("SUCCEEDED");
    assertThat(remote.book().countByKey()).isEqualTo(Map.of("large-1", 1));

    String tooLarge = arguments("large-2", OutboxIntent.MAX_ARGUMENTS_BYTES + 1);
    assertThatThrownBy(() -> intent("large-operation-0002", tooLarge).build())
        .isInstanceOf(InvalidIntentException.class)
        .hasMessageContaining("TOO_LONG");
    refused(sendPastTheOutbox("large-operation-0002", tooLarge), "ARGUMENTS_TOO_LARGE");
    assertThat(remote.book().countByKey()).isEqualTo(Map.of("large-1", 1));
  }

  private static String arguments(String order, int bytes) {
    String frame = "{\"order\":\"" + order + "\",\"text\":\"\"}";
    return frame.replace("\"\"}", "\"" + "x".repeat(bytes - frame.length()) + "\"}");
  }

  private String sendPastTheOutbox(String operation, String arguments) throws Exception {
    String delivery = "past-the-outbox-1";
    ToolIntent record =
        ToolIntent.newBuilder()
            .setTenant("demo")
            .setOperationId(operation)
            .setDeliveryId(delivery)
            .setPrincipal("agent:demo")
            .setAction("book")
            .setArguments(arguments)
            .setIssuedAt(issued)
            .build();
    RecordSerdes serdes =
        RecordSerdes.from(Map.of("schema.registry.url", stack.endpoints().registryUrl()));
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                stack.endpoints().bootstrapServers(),
                "max.request.size",
                "2000000"),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      var unused =
          producer
              .send(
                  new ProducerRecord<>(
                      "steps.intents",
                      RecordKey.of("demo", "global", operation).getBytes(UTF_8),
                      serdes.serializer(ToolIntent.class).serialize("steps.intents", record)))
              .get();
    }
    return delivery;
  }

  private static String id(String order) {
    return "trip-1-step-" + order + "-0001";
  }

  private String step(String order, int step) throws Exception {
    return publish(
        intent(id(order), "{\"order\":\"" + order + "\"}")
            .workflowId("trip-1")
            .step(Integer.toString(step))
            .build());
  }

  private String undo(String operation, String order) throws Exception {
    return publish(
        intent(operation, "{\"order\":\"undo-" + order + "\"}")
            .workflowId("trip-1")
            .step("undo " + order)
            .compensates(id(order))
            .build());
  }

  private OutboxIntent.Builder intent(String operation, String arguments) {
    return OutboxIntent.execute()
        .tenant("demo")
        .principal("agent:demo")
        .action("book")
        .operationId(operation)
        .arguments(arguments)
        .issuedAt(issued);
  }

  private String publish(OutboxIntent intent) throws Exception {
    try (Connection connection = stack.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      String delivery = Outbox.publish(connection, intent);
      connection.commit();
      return delivery;
    }
  }

  private InboxReply settled(String delivery) throws InterruptedException {
    return inbox.awaitFinal(delivery, PATIENCE).orElseThrow();
  }

  private void refused(String delivery, String code) throws InterruptedException {
    InboxReply reply = settled(delivery);
    assertThat(reply.code()).as(reply.verdict()).isEqualTo(code);
    assertThat(reply.state()).isNull();
  }

  private String state(String order) throws IOException {
    Ran ran = run("operation", "show", "demo", id(order), "--json");
    return ran.code() == 0 ? JSON.readTree(ran.out()).path("state").asText() : "";
  }

  private JsonNode shown(String order) throws IOException {
    return JSON.readTree(run("operation", "show", "demo", id(order), "--json").out());
  }

  private JsonNode workflow() throws IOException {
    Ran ran = run("workflow", "show", "demo", "trip-1", "--json");
    assertThat(ran.code()).as(ran.err()).isZero();
    return JSON.readTree(ran.out());
  }

  private Ran run(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--data");
    all.add(temp.resolve("data").toString());
    return Ran.of(all.toArray(String[]::new));
  }

  private static String config(int port) {
    return """
        topics: { prefix: steps, partitions: 4 }
        tenants: { demo: { principals: ['agent:demo'], operators: ['person:maria'] } }
        actions:
          book:
            effect: write
            remote: { status_read: true, absent_after: { reads: 3, over: 1h } }
            http:
              url: 'http://127.0.0.1:%1$d/bookings'
              body: { natural_key: '{arguments.order}' }
              reference: $.reference
              timeouts: { connect: 5s, first_byte: 5s, total: 8s }
              status:
                url: 'http://127.0.0.1:%1$d/status?natural_key={arguments.order}'
                absent: [404]
                found: $.found
                reference: $.reference
        """
        .formatted(port);
  }
}
