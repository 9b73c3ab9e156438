package dev.ichido.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.StateName;
import dev.ichido.executor.http.ExecutorContracts;
import dev.ichido.executor.http.HttpContract;
import dev.ichido.executor.http.HttpRemotes;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.KeySource;
import dev.ichido.remotes.RemoteConfig;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.remotes.RemoteServer;
import dev.ichido.remotes.StatusMode;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.ResultKind;
import dev.ichido.schemas.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every kind of remote with every fault, by the contracts that ship as examples: the executor as it
 * ships at a real broker and database, the topology and decision as they ship under a clock that
 * jumps, and the remote's own book as the only witness of effects. The executor is also killed, in
 * a process of its own, at each point where it could have forgotten something.
 */
class RemoteMatrixIT {
  private static final Duration SPAN = Duration.ofHours(1);
  private static final Duration SPAN_AFTER_KILL = Duration.ofMinutes(20);
  private static final String REGENERATE =
      "mvn verify -pl processor/executor -am -Dit.test=RemoteMatrixIT -Dichido.docs.write=true";

  @TempDir private static Path folder;
  private static Stack stack;

  /**
   * What became of one operation.
   *
   * @param first what the first call was taken for; null where the executor was killed
   */
  private record Cell(
      RemoteKind remote,
      String fault,
      @Nullable String first,
      String end,
      int effects,
      int writes,
      int reads) {}

  @BeforeAll
  static void start() {
    stack = new Stack(folder);
  }

  @AfterAll
  static void stop() {
    stack.close();
  }

  @Test
  @Tag("FR-09")
  @Tag("FR-10")
  @Tag("FR-14")
  @Tag("FR-17")
  void inEveryCellThereIsAtMostOneEffectAndTheEndTellsTheTruth() throws Exception {
    List<Future<List<Cell>>> columns = new ArrayList<>();
    List<Cell> cells = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(RemoteKind.values().length + 1)) {
      for (RemoteKind kind : RemoteKind.values()) {
        columns.add(threads.submit(() -> faultCells(kind)));
      }
      columns.add(threads.submit(RemoteMatrixIT::killCellsApart));
      for (Future<List<Cell>> column : columns) {
        cells.addAll(column.get());
      }
    }
    assertThat(cells)
        .hasSize(
            RemoteKind.values().length
                * (FaultKind.values().length + 2 * KillPoint.values().length));
    for (Cell cell : cells) {
      assertThat(cell.effects()).as("effects in %s", cell).isLessThanOrEqualTo(1);
      if (cell.end().equals("SUCCEEDED")) {
        assertThat(cell.effects()).as("effects in %s", cell).isEqualTo(1);
      }
      if (cell.end().startsWith("FAILED")) {
        assertThat(cell.effects()).as("effects in %s", cell).isZero();
      }
    }
    compareWithDocs(cells);
  }

  private static List<Cell> faultCells(RemoteKind kind) throws Exception {
    SharedClock clock = SharedClock.at(folder.resolve(kind.label() + ".clock"));
    Topics topics = stack.topics(1);
    List<Cell> cells = new ArrayList<>();
    try (RemoteServer server = server(kind, kind.label(), clock)) {
      JsonNode actions = example(kind, server.uri().toString(), Duration.ofMillis(1500));
      String action = actions.fieldNames().next();
      Current current = new Current(server);
      try (DecisionDriver driver = new DecisionDriver(stack, topics, clock, actions);
          ExecutorRole role = role(topics, Map.of(action, current), clock)) {
        role.start();
        for (FaultKind fault : FaultKind.values()) {
          try (HttpRemotes remotes = HttpRemotes.of(ExecutorContracts.parse(actions), clock)) {
            current.begin(fault, Objects.requireNonNull(remotes.handlers().get(action)));
            prepare(server, fault);
            String operation = "operation-" + kind.label() + "-" + fault.label();
            Counted counted = new Counted(server);
            String scope = scope(actions.path(action));
            driver.submit(scope, operation, "d-" + operation, action, arguments(operation));
            String key = DecisionDriver.recordKey(scope, operation);
            driver.run(Set.of(key), SPAN, driver::isAnswered);
            cells.add(
                counted.cell(kind, fault.label(), current.first, driver.state(key), operation));
          }
          server.faults().clear();
          server.acceptConnections();
        }
      }
    }
    return cells;
  }

  /** The calls of one operation at a remote that serves no other meanwhile. */
  private static final class Counted {
    private final RemoteServer server;
    private final long writes;
    private final long reads;

    Counted(RemoteServer server) {
      this.server = server;
      writes = server.calls().writes();
      reads = server.calls().reads();
    }

    Cell cell(
        RemoteKind kind,
        String fault,
        @Nullable String first,
        OperationState state,
        String operation) {
      return new Cell(
          kind,
          fault,
          first,
          state.name() == StateName.UNKNOWN_RECONCILIATION ? "UNKNOWN" : state.name().name(),
          server.book().reading().byNaturalKey(operation).size(),
          (int) (server.calls().writes() - writes),
          (int) (server.calls().reads() - reads));
    }
  }

  /**
   * The handler of the cell that is on. Each has a client of its own, since a kept connection would
   * carry one fault into the next, and a circuit breaker of its own.
   */
  private static final class Current implements ToolHandler {
    private final RemoteServer server;
    private volatile @Nullable ToolHandler handler;
    private volatile String name = "";
    private volatile @Nullable String first;

    Current(RemoteServer server) {
      this.server = server;
    }

    void begin(FaultKind fault, ToolHandler next) {
      name = server.kind().label() + " " + fault.label();
      handler = next;
      first = null;
    }

    @Override
    public ToolOutcome execute(ToolCommand command) throws Exception {
      ToolOutcome outcome = Objects.requireNonNull(handler).execute(command);
      if (first == null) {
        first = told(outcome);
        server.acceptConnections();
      }
      return outcome;
    }

    @Override
    public StatusAnswer readStatus(ToolCommand command) throws Exception {
      return Objects.requireNonNull(handler).readStatus(command);
    }

    @Override
    public String remote() {
      return name;
    }
  }

  private static void prepare(RemoteServer server, FaultKind fault) {
    if (fault.ofReads()) {
      // There is a status read only when the answer is missing.
      server.faults().add(Fault.of(FaultKind.ACCEPT_THEN_TIMEOUT));
      int reads = fault == FaultKind.STATUS_UNAVAILABLE ? 0 : 1;
      server.faults().add(Fault.of(fault).times(reads));
      return;
    }
    server
        .faults()
        .add(
            switch (fault) {
              case SLOW, HOLD_BEFORE_COMMIT -> Fault.of(fault).withDelay(Duration.ofMillis(50));
              case REFUSE_CONNECTION -> Fault.of(fault).withDelay(Duration.ZERO);
              default -> Fault.of(fault);
            });
    if (fault == FaultKind.REFUSE_CONNECTION) {
      // The system takes connections for a moment after the listener was closed.
      await().until(() -> refuses(server.port()));
    }
  }

  private static boolean refuses(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return !socket.isConnected();
    } catch (ConnectException e) {
      return true;
    }
  }

  /**
   * A remote of its own for each kind, with and without a status read that answers.
   *
   * @param finishes whether the contract allows to find out, or to call again
   */
  private record Target(
      RemoteKind kind,
      boolean silent,
      RemoteServer server,
      String action,
      String scope,
      boolean finishes) {
    String operation(KillPoint point) {
      return action + "-" + point.label().replace(' ', '-');
    }

    String recordKey(KillPoint point) {
      return DecisionDriver.recordKey(scope, operation(point));
    }
  }

  /** At a broker of their own, which goes down. */
  private static List<Cell> killCellsApart() throws Exception {
    try (Stack own = new Stack(folder.resolve("kill"))) {
      return killCells(own);
    }
  }

  private static List<Cell> killCells(Stack stack) throws Exception {
    Path clockFile = folder.resolve("kill.clock");
    SharedClock clock = SharedClock.at(clockFile);
    Topics topics = stack.topics(2);
    List<Target> targets = new ArrayList<>();
    List<Cell> cells = new ArrayList<>();
    ExecutorProcess victim = null;
    try {
      ObjectNode actions = new ObjectMapper().createObjectNode();
      for (RemoteKind kind : RemoteKind.values()) {
        for (boolean silent : new boolean[] {false, true}) {
          String action = kind.label() + (silent ? ".silent" : ".honest");
          RemoteServer server = server(kind, action, clock);
          JsonNode example =
              example(kind, server.uri().toString(), Duration.ofMinutes(1)).elements().next();
          actions.set(action, example);
          boolean dedupes = example.path("remote").path("dedupes_on_key").booleanValue();
          targets.add(new Target(kind, silent, server, action, scope(example), !silent || dedupes));
          if (silent) {
            server.faults().status(StatusMode.UNAVAILABLE);
          }
        }
      }
      try (DecisionDriver driver = new DecisionDriver(stack, topics, clock, actions)) {
        int lives = 0;
        victim = executor(stack, topics, actions, clockFile, lives);
        for (KillPoint point : KillPoint.values()) {
          Map<Target, Counted> counted = new LinkedHashMap<>();
          targets.forEach(target -> counted.put(target, new Counted(target.server())));
          Set<String> keys =
              targets.stream().map(t -> t.recordKey(point)).collect(Collectors.toSet());
          new Killing(
                  stack,
                  topics,
                  targets.stream().map(Target::server).toList(),
                  keys,
                  () -> submit(driver, targets, point))
              .kill(victim, point);
          victim = executor(stack, topics, actions, clockFile, ++lives);
          driver.run(
              keys, SPAN_AFTER_KILL, () -> stack.lag(topics, topics.prefix() + "-executor") == 0);
          counted.forEach((target, count) -> cells.add(killed(driver, point, target, count)));
        }
      }
    } finally {
      if (victim != null) {
        victim.kill();
      }
      targets.forEach(target -> target.server().close());
    }
    return cells;
  }

  private static ExecutorProcess executor(
      Stack stack, Topics topics, JsonNode actions, Path clockFile, int life) throws IOException {
    return ExecutorProcess.start(folder, stack, topics, actions, clockFile, "executor-" + life);
  }

  private static void submit(DecisionDriver driver, List<Target> targets, KillPoint point) {
    for (Target target : targets) {
      String operation = target.operation(point);
      driver.submit(
          target.scope(), operation, "d-" + operation, target.action(), arguments(operation));
    }
  }

  /** What must hold of an operation whose executor was killed. */
  private static Cell killed(
      DecisionDriver driver, KillPoint point, Target target, Counted counted) {
    String operation = target.operation(point);
    Cell cell =
        counted.cell(
            target.kind(),
            point.label() + (target.silent() ? ", no status read" : ""),
            null,
            driver.state(target.recordKey(point)),
            operation);
    boolean nothingWasLost =
        point == KillPoint.BEFORE_THE_CLAIM || point == KillPoint.AFTER_RECORDING;
    if (nothingWasLost || target.finishes()) {
      assertThat(cell.end()).as("%s", cell).isEqualTo("SUCCEEDED");
      assertThat(cell.effects()).as("%s", cell).isEqualTo(1);
      if (nothingWasLost) {
        assertThat(cell.writes()).as("%s", cell).isEqualTo(1);
      }
      return cell;
    }
    // Nobody can know: the one attempt, its open claim, its lease and each status read say so.
    assertThat(cell.end()).as("%s", cell).isEqualTo("UNKNOWN");
    assertThat(cell.effects())
        .as("%s", cell)
        .isEqualTo(point == KillPoint.AFTER_THE_EFFECT ? 1 : 0);
    assertThat(cell.writes()).as("%s", cell).isEqualTo(1);
    assertThat(driver.journal(operation))
        .extracting(JournalEntry::getVerdict)
        .contains("CLAIMED", "LEASE_EXPIRED", "STILL_UNKNOWN")
        .doesNotContain("RECLAIMED", "SETTLED", "RECONCILED");
    assertThat(driver.reports(operation))
        .isNotEmpty()
        .allSatisfy(
            report -> {
              assertThat(report.getKind()).isEqualTo(ResultKind.RECONCILE);
              assertThat(report.getOutcome()).isEqualTo(Outcome.UNKNOWN);
              assertThat(report.getReason()).isEqualTo("STATUS_UNEXPECTED");
              assertThat(report.getRemoteStatus()).isEqualTo(503);
            });
    return cell;
  }

  private static RemoteServer server(RemoteKind kind, String book, SharedClock clock) {
    return RemoteServer.start(
        RemoteConfig.of(kind, folder.resolve(book + ".book"))
            .withNaturalKey(KeySource.body(naturalKey(kind)))
            .withClock(clock));
  }

  private static ExecutorRole role(
      Topics topics, Map<String, ToolHandler> handlers, SharedClock clock) {
    return new ExecutorRole(
        new ExecutorConfig(
            null,
            stack.kafka(),
            stack.registrySettings(),
            topics.prefix(),
            null,
            null,
            null,
            Duration.ofSeconds(1),
            null,
            null,
            null,
            null,
            null,
            false),
        stack.pool,
        handlers,
        new SimpleMeterRegistry(),
        clock);
  }

  private static String scope(JsonNode action) {
    return action.path("scope").asText().equals("region") ? "region:eu-west-1" : "global";
  }

  private static String arguments(String order) {
    return "{\"amount\":100,\"currency\":\"usd\",\"source\":\"tok\",\"project\":\"p\",\"zone\":\"z\","
        + "\"machine\":\"m\",\"image\":\"ami\",\"to\":\"a\",\"order\":\""
        + order
        + "\"}";
  }

  private static String told(ToolOutcome outcome) {
    return switch (outcome) {
      case ToolOutcome.Succeeded s -> "SUCCEEDED";
      case ToolOutcome.FailedRetryable r -> "FAILED_RETRYABLE " + r.reason();
      case ToolOutcome.FailedTerminal t -> "FAILED_TERMINAL " + t.reason();
      case ToolOutcome.Unknown u -> "UNKNOWN " + u.reason();
    };
  }

  private static String naturalKey(RemoteKind kind) {
    return switch (kind) {
      case STRIPE -> "/metadata/order";
      case EC2 -> "/NaturalKey";
      case GCLOUD -> "/name";
      case IETF, AZURE, LEGACY -> "/reference";
    };
  }

  /** The example as it ships, with the fake's address and other patience. */
  private static JsonNode example(RemoteKind kind, String url, Duration patience)
      throws IOException {
    try (InputStream in =
        HttpContract.class.getResourceAsStream(
            "/dev/ichido/executor/contracts/" + kind.label() + ".yaml")) {
      String yaml =
          new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
              .replaceAll("https://[a-z0-9.-]+", url)
              .replaceAll("\\$\\{env:[A-Z_]+}", "secret");
      JsonNode actions = new YAMLMapper().readTree(yaml).path("actions");
      ObjectNode http = (ObjectNode) actions.elements().next().path("http");
      http.putObject("timeouts")
          .put("connect", "2s")
          .put("first_byte", patience.toMillis() + "ms")
          .put("total", 2 * patience.toMillis() + "ms");
      return actions;
    }
  }

  @Test
  void theExamplesAreReadAsTheyShip() throws IOException {
    for (RemoteKind kind : RemoteKind.values()) {
      assertThat(
              ExecutorContracts.parse(example(kind, "https://example.com", Duration.ofSeconds(1))))
          .hasSize(1);
    }
  }

  private static void compareWithDocs(List<Cell> cells) throws IOException {
    Path docs = findDocs();
    if (docs == null) {
      return;
    }
    Path file = docs.resolve("remote-faults.md");
    String text = markdown(cells);
    if (Boolean.getBoolean("ichido.docs.write")) {
      Files.writeString(file, text);
      return;
    }
    assertThat(Files.exists(file) ? Files.readAllLines(file) : List.<String>of())
        .as("%s is generated. Run: %s", file.getFileName(), REGENERATE)
        .containsExactlyElementsOf(text.lines().toList());
  }

  private static String markdown(List<Cell> cells) {
    StringBuilder text =
        new StringBuilder(
            """
            # Remotes and their faults

            Generated by `RemoteMatrixIT` from calls to the stand-ins of `compose/remotes`, by the
            contracts in `processor/executor/src/main/resources/dev/ichido/executor/contracts`. The
            executor is the one that ships, at a real broker and database. What comes next is decided
            by the topology and the decision that ship, under a clock that jumps from deadline to
            deadline, for an hour at most, or 20 minutes where the executor is killed. The effects are counted by the remote's own book.

            Each cell: the operation's end · effects, write calls, status reads. The two faults of
            status reads follow a lost answer. Where the executor is killed it is a process of its own,
            ended by kill -9: while the insert of its claim waits in the database; while its request is
            held by a remote that has done nothing yet; with the remote's answer in hand, while the
            update of its claim waits; with its result recorded, while the broker is down. The next process
            goes on. Below the table: what the first call was taken for.

            """);
    text.append("| fault |");
    for (RemoteKind kind : RemoteKind.values()) {
      text.append(' ').append(kind.label()).append(" |");
    }
    text.append("\n|---|").append("---|".repeat(RemoteKind.values().length)).append('\n');
    Map<String, List<Cell>> rows =
        cells.stream()
            .collect(Collectors.groupingBy(Cell::fault, LinkedHashMap::new, Collectors.toList()));
    rows.forEach(
        (fault, row) -> {
          text.append("| ").append(fault).append(" |");
          for (Cell cell : row) {
            text.append(
                " %s · %d, %d, %d |"
                    .formatted(cell.end(), cell.effects(), cell.writes(), cell.reads()));
          }
          text.append('\n');
        });
    text.append("\n| fault | the first call |\n|---|---|\n");
    rows.forEach(
        (fault, row) -> {
          Map<String, List<String>> byFirst = new LinkedHashMap<>();
          for (Cell cell : row) {
            if (cell.first() != null) {
              byFirst
                  .computeIfAbsent(cell.first(), first -> new ArrayList<>())
                  .add(cell.remote().label());
            }
          }
          if (byFirst.isEmpty()) {
            return;
          }
          List<String> parts = new ArrayList<>();
          byFirst.forEach(
              (first, kinds) ->
                  parts.add(
                      "`"
                          + first
                          + "`"
                          + (byFirst.size() == 1 ? "" : " (" + String.join(", ", kinds) + ")")));
          text.append("| %s | %s |\n".formatted(fault, String.join(", ", parts)));
        });
    int effects = cells.stream().mapToInt(Cell::effects).sum();
    int doubled = cells.stream().mapToInt(c -> Math.max(0, c.effects() - 1)).sum();
    long unknown = cells.stream().filter(c -> c.end().equals("UNKNOWN")).count();
    text.append(
        "\n%d cells, %d effects, %d doubled, %d that end UNKNOWN and wait for a person.\n"
            .formatted(cells.size(), effects, doubled, unknown));
    return text.toString();
  }

  private static @Nullable Path findDocs() {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.isDirectory(at.resolve("topology-docs"))) {
        return at.resolve("topology-docs");
      }
    }
    return null;
  }
}
