package dev.ichido.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.cli.Ran;
import dev.ichido.config.ConfigLoader;
import dev.ichido.embedded.DataFolder;
import dev.ichido.inbox.InboxReader;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was done once is sent again from the topics and from a file; the remote counts. */
class ReplayIT {
  private static final int OPERATIONS = 6;

  @TempDir Path temp;

  private CountingRemote remote;
  private Path config;
  private Instant middle = Instant.MAX;

  @BeforeEach
  void begin() throws IOException {
    remote = CountingRemote.start();
    config = Files.writeString(temp.resolve("ichido.yaml"), policy(remote.port()));
  }

  @AfterEach
  void end() {
    remote.close();
  }

  @Test
  void whatWasDoneIsNotDoneAgainAndWhatWasNotIs() throws Exception {
    Path file = temp.resolve("incident.jsonl");
    try (DataFolder folder = DataFolder.open(temp.resolve("one"));
        Stack stack = start(folder)) {
      publishAll(stack);
      assertThat(remote.effects()).isEqualTo(OPERATIONS);
      sendAllAgain(stack);
      narrow();
      Ran captured =
          run("one", "capture", "--topic", "intents,results", "--out", file.toString(), "--json");
      assertThat(captured.code()).as(captured.err()).isZero();
      assertThat(new JsonMapper().readTree(captured.out()).path("captured").asInt())
          .isEqualTo(2 * OPERATIONS + 2 + OPERATIONS + 1);
      Ran home = run("one", "replay", "--file", file.toString(), "--shift-to-now");
      assertThat(home.code()).isEqualTo(2);
      assertThat(home.err()).contains("SHIFT_INTO_THE_SAME_SYSTEM");
    }
    try (DataFolder folder = DataFolder.open(temp.resolve("two"));
        Stack stack = start(folder)) {
      assertThat(stack.endpoints().config()).isEqualTo(config.toString());
      intoAnotherSystem(file);
      assertThat(remote.effects()).isEqualTo(2 * OPERATIONS);
      ofWhatWasRefused(stack);
    }
  }

  private void sendAllAgain(Stack stack) throws Exception {
    JsonNode report =
        replay(
            0,
            "one",
            "--topic",
            "intents,commands,results",
            "--times",
            "3",
            "--shuffle",
            "--book",
            book(),
            "--expect-no-effects");
    int records = 2 * OPERATIONS + 2 + 2 * (OPERATIONS + 1);
    assertThat(report.path("replayed").asInt()).isEqualTo(3 * records);
    assertThat(report.at("/verdicts/REPLAYED").asInt()).isEqualTo(3 * 2 * OPERATIONS);
    assertThat(report.at("/verdicts/FINGERPRINT_MISMATCH").asInt()).isEqualTo(3);
    assertThat(report.at("/verdicts/DUPLICATE_RESULT").asInt())
        .isGreaterThanOrEqualTo(3 * OPERATIONS);
    assertThat(report.at("/verdicts/CLAIMED").isMissingNode()).isTrue();
    assertThat(report.path("new_commands").asInt()).isZero();
    assertThat(report.path("new_effects").asInt()).isZero();
    assertThat(report.path("effects_from").asText()).isEqualTo("book");
    assertThat(report.path("differing_replies").asInt()).isZero();
    assertThat(report.path("compared_replies").asInt()).isEqualTo(2 * OPERATIONS + 1);
    assertThat(report.path("uncompared_replies").asInt()).isZero();
    assertThat(report.path("finished").asBoolean()).isTrue();
    assertThat(remote.effects()).isEqualTo(OPERATIONS);

    String metrics = get(stack.endpoints().httpUrl() + "/metrics");
    assertThat(counted(metrics, "ichido_verdicts_total", "REPLAYED")).isEqualTo(OPERATIONS);
    assertThat(counted(metrics, "ichido_replay_verdicts_total", "REPLAYED"))
        .isEqualTo(3 * 2 * OPERATIONS);
  }

  /** What a replay wrote is not part of the next one. */
  private void narrow() throws Exception {
    JsonNode one = replay(0, "one", "--operation-id", id(1), "--rate", "50");
    assertThat(one.path("replayed").asInt()).isEqualTo(3);
    assertThat(one.path("effects_from").asText()).isEqualTo("claims");
    assertThat(one.path("new_effects").asInt()).isZero();
    assertThat(replay(0, "one", "--tenant", "t1").path("replayed").asInt())
        .isEqualTo(2 * OPERATIONS + 2);
    int partition = replayed("--partition", "0");
    assertThat(partition + replayed("--partition", "1")).isEqualTo(2 * OPERATIONS + 2);
    int head = replayed("--partition", "0", "--to-offset", "2");
    assertThat(head).isBetween(1, 3);
    assertThat(head + replayed("--partition", "0", "--from-offset", "3")).isEqualTo(partition);
    assertThat(replayed("--partition", "0", "--from-offset", "0", "--to-offset", "0")).isOne();
    int early = replayed("--until", middle.toString());
    assertThat(early).isBetween(OPERATIONS / 2, 2 * OPERATIONS - 1);
    assertThat(early + replayed("--since", middle.toString())).isEqualTo(2 * OPERATIONS + 2);
    JsonNode results = replay(0, "one", "--topic", "results", "--expect-no-effects");
    assertThat(results.path("replayed").asInt()).isEqualTo(OPERATIONS + 1);
    assertThat(results.at("/verdicts/DUPLICATE_RESULT").asInt()).isEqualTo(OPERATIONS);
    assertThat(results.path("differing_replies").asInt()).isZero();
    assertThat(results.path("compared_replies").asInt()).isZero();
    Ran text = run("one", "replay", "--topic", "results", "--operation-id", id(1));
    assertThat(text.out()).contains("none was compared: nobody was answered twice");
    for (List<String> nobody :
        List.of(
            List.of("--from-offset", "100000"),
            List.of("--tenant", "t2"),
            List.of("--since", Instant.now().plus(Duration.ofHours(1)).toString()),
            List.of("--until", Instant.now().minus(Duration.ofHours(1)).toString()))) {
      Ran none = run("one", "replay", nobody.get(0), nobody.get(1));
      assertThat(none.code()).isEqualTo(1);
      assertThat(none.err()).contains("NOTHING_SELECTED");
    }

    JsonNode foreseen = replay(0, "one", "--dry-run", "--topic", "intents,commands,results");
    assertThat(foreseen.path("would_run")).isEmpty();
    assertThat(foreseen.at("/verdicts/REPLAYED").asInt()).isEqualTo(2 * OPERATIONS);
    assertThat(foreseen.path("reads").asInt()).isEqualTo(2);
  }

  /** The incident was long ago: too old to run there, unless it counts from now. */
  private void intoAnotherSystem(Path file) throws Exception {
    String from = older(file).toString();
    JsonNode late = replay(0, "two", "--dry-run", "--file", from);
    assertThat(late.path("would_run")).isEmpty();
    assertThat(late.at("/verdicts/LATE_REPLAY").asInt()).isEqualTo(2 * OPERATIONS + 1);

    JsonNode foreseen =
        replay(1, "two", "--dry-run", "--expect-no-effects", "--file", from, "--shift-to-now");
    assertThat(foreseen.path("would_run")).hasSize(OPERATIONS);
    assertThat(foreseen.at("/would_run/0/verdict").asText()).isEqualTo("CLAIMED");
    assertThat(foreseen.at("/would_run/0/why").asText()).contains("ABSENT");
    assertThat(remote.effects()).isEqualTo(OPERATIONS);

    JsonNode first =
        replay(1, "two", "--file", from, "--shift-to-now", "--book", book(), "--expect-no-effects");
    assertThat(first.path("new_commands").asInt()).isEqualTo(OPERATIONS);
    assertThat(first.path("new_effects").asInt()).isEqualTo(OPERATIONS);
    assertThat(first.at("/verdicts/SETTLED").asInt()).isEqualTo(OPERATIONS);

    JsonNode again =
        replay(0, "two", "--file", file.toString(), "--expect-no-effects", "--times", "2");
    assertThat(again.path("new_effects").asInt()).isZero();
    assertThat(again.at("/verdicts/REPLAYED").asInt()).isEqualTo(4 * OPERATIONS);
  }

  /** The same file, had it been written 300 days ago. */
  private Path older(Path file) throws IOException {
    String aged =
        Pattern.compile("\\b1\\d{12}\\b")
            .matcher(Files.readString(file))
            .replaceAll(
                time ->
                    String.valueOf(Long.parseLong(time.group()) - Duration.ofDays(300).toMillis()));
    return Files.writeString(temp.resolve("old.jsonl"), aged);
  }

  /** What was refused before is no news, and what could not be undone then can be now. */
  private void ofWhatWasRefused(Stack stack) throws Exception {
    InboxReader inbox = new InboxReader(stack.dataSource());
    try (HikariDataSource pool = stack.runtimeConnections(1)) {
      String early = publish(pool, id(90), id(91), "{}");
      await().atMost(Duration.ofSeconds(90)).until(() -> !inbox.repliesTo(early).isEmpty());
      assertThat(inbox.repliesTo(early).getFirst().code()).isEqualTo("ORIGINAL_ABSENT");
      String original = publish(pool, id(91), "{}");
      String never = publish(pool, id(92), "no JSON");
      for (String delivery : List.of(original, never)) {
        assertThat(inbox.awaitFinal(delivery, Duration.ofSeconds(90))).isPresent();
      }
    }
    JsonNode foreseen = replay(0, "two", "--dry-run", "--operation-id", id(90));
    assertThat(foreseen.at("/would_run/0/record_key").asText()).endsWith(id(90));

    JsonNode refused = replay(0, "two", "--operation-id", id(92), "--expect-no-effects");
    assertThat(refused.path("dead_letters").asInt()).isEqualTo(1);
    assertThat(refused.path("new_refusals").asInt()).isZero();
    assertThat(refused.path("compared_replies").asInt()).isEqualTo(1);

    Path broken = temp.resolve("broken.jsonl");
    Ran captured = run("two", "capture", "--operation-id", id(91), "--out", broken.toString());
    assertThat(captured.code()).as(captured.err()).isZero();
    Files.writeString(broken, Files.readString(broken).replace(id(91), id(93)));
    JsonNode strange = replay(1, "two", "--file", broken.toString(), "--expect-no-effects");
    assertThat(strange.path("new_effects").asInt()).isZero();
    assertThat(strange.path("dead_letters").asInt() + strange.path("uncompared_replies").asInt())
        .isPositive();
  }

  private Stack start(DataFolder folder) throws InterruptedException {
    return Stack.start(
        folder, Stack.Ports.FREE, new ConfigLoader(name -> null).load(config), line -> {});
  }

  private void publishAll(Stack stack) throws Exception {
    List<String> deliveries = new ArrayList<>();
    InboxReader inbox = new InboxReader(stack.dataSource());
    try (HikariDataSource pool = stack.runtimeConnections(2)) {
      for (int i = 1; i <= OPERATIONS; i++) {
        String first = publish(pool, id(i), "{\"amount\":" + i + "}");
        assertThat(inbox.awaitFinal(first, Duration.ofSeconds(90))).isPresent();
        deliveries.add(publish(pool, id(i), "{\"amount\":" + i + "}"));
        middle = i == OPERATIONS / 2 ? Instant.now() : middle;
      }
      deliveries.add(publish(pool, id(1), "{\"amount\":9}"));
      deliveries.add(publish(pool, null, "{}"));
    }
    for (String delivery : deliveries) {
      assertThat(inbox.awaitFinal(delivery, Duration.ofSeconds(90))).isPresent();
    }
  }

  private static String publish(HikariDataSource pool, @Nullable String operation, String arguments)
      throws Exception {
    return publish(pool, operation, null, arguments);
  }

  private static String publish(
      HikariDataSource pool,
      @Nullable String operation,
      @Nullable String compensates,
      String arguments)
      throws Exception {
    OutboxIntent.Builder intent =
        operation == null
            ? OutboxIntent.read().action("look")
            : OutboxIntent.execute().action("pay").operationId(operation);
    try (Connection connection = pool.getConnection()) {
      String delivery =
          Outbox.publish(
              connection,
              intent
                  .tenant("t1")
                  .principal("agent:a")
                  .arguments(arguments)
                  .compensates(compensates)
                  .issuedAt(Instant.now())
                  .build());
      connection.commit();
      return delivery;
    }
  }

  private static String id(int i) {
    return "replayed-operation-%04d".formatted(i);
  }

  private String book() {
    return "http://127.0.0.1:" + remote.port() + "/book";
  }

  private JsonNode replay(int code, String data, String... options) throws Exception {
    List<String> command = new ArrayList<>(List.of("replay", "--json"));
    command.addAll(List.of(options));
    Ran ran = run(data, command.toArray(String[]::new));
    assertThat(ran.code()).as(ran.out() + ran.err()).isEqualTo(code);
    return new JsonMapper().readTree(ran.out());
  }

  private int replayed(String... options) throws Exception {
    return replay(0, "one", options).path("replayed").asInt();
  }

  private Ran run(String data, String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of("--data", temp.resolve(data).toString()));
    return Ran.of(all.toArray(String[]::new));
  }

  private static double counted(String metrics, String meter, String verdict) {
    return metrics
        .lines()
        .filter(line -> line.startsWith(meter + "{") && line.contains("\"" + verdict + "\""))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static String get(String url) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
          .body();
    }
  }

  private static String policy(int port) {
    return """
        topics: { partitions: 2 }
        tenants: { t1: { principals: ['agent:a'], key: 'not-a-secret-of-anyone' } }
        actions:
          pay:
            effect: write
            http: { method: POST, url: 'http://127.0.0.1:%d/pay', reference: $.id }
          look:
            effect: read
            http: { url: 'http://127.0.0.1:%d/look' }
        """
        .formatted(port, port);
  }
}
