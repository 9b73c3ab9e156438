package dev.ichido.executor.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.ichido.executor.StatusAnswer;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.ToolOutcome;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.KeySource;
import dev.ichido.remotes.RemoteConfig;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.remotes.RemoteServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every kind of remote with every fault, by the contracts that ship as examples. The remote's own
 * book counts the effects; what happens between two calls follows the rules of the decision: a next
 * attempt only after a proof that the last one had no effect, or under a key that the contract
 * relies on.
 */
class RemoteMatrixIT {
  private static final int MAX_ATTEMPTS = 3;
  private static final int ABSENT_READS = 3;
  private static final String REGENERATE =
      "mvn verify -pl processor/executor -am -Dit.test=RemoteMatrixIT -Dichido.docs.write=true";

  @TempDir private static Path folder;

  private record Cell(
      RemoteKind remote,
      FaultKind fault,
      String first,
      String end,
      int writes,
      int reads,
      int effects) {}

  @Test
  @Tag("FR-09")
  @Tag("FR-14")
  @Tag("FR-17")
  void inEveryCellThereIsAtMostOneEffectAndTheEndTellsTheTruth() throws Exception {
    List<Future<List<Cell>>> columns = new ArrayList<>();
    List<Cell> cells = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (RemoteKind kind : RemoteKind.values()) {
        columns.add(threads.submit(() -> cellsOf(kind)));
      }
      for (Future<List<Cell>> column : columns) {
        cells.addAll(column.get());
      }
    }
    assertThat(cells).hasSize(RemoteKind.values().length * FaultKind.values().length);
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

  private static List<Cell> cellsOf(RemoteKind kind) throws Exception {
    RemoteConfig config =
        RemoteConfig.of(kind, folder.resolve(kind.label() + ".book"))
            .withNaturalKey(KeySource.body(naturalKey(kind)));
    List<Cell> cells = new ArrayList<>();
    try (RemoteServer server = RemoteServer.start(config)) {
      JsonNode actions = example(kind, server.uri().toString());
      JsonNode action = actions.elements().next();
      boolean dedupes = action.path("remote").path("dedupes_on_key").booleanValue();
      for (FaultKind fault : FaultKind.values()) {
        // A client of its own for each cell: a kept connection would carry one fault into the next.
        try (HttpRemotes remotes =
            HttpRemotes.of(ExecutorContracts.parse(actions), Clock.systemUTC())) {
          ToolHandler handler =
              Objects.requireNonNull(remotes.handlers().values().iterator().next());
          cells.add(cell(kind, fault, server, handler, dedupes));
        }
        server.faults().clear();
        server.acceptConnections();
      }
    }
    return cells;
  }

  private static Cell cell(
      RemoteKind kind, FaultKind fault, RemoteServer server, ToolHandler handler, boolean dedupes)
      throws Exception {
    String order = "order-" + kind.label() + "-" + fault.label();
    prepare(server, fault);
    long writesBefore = server.calls().writes();
    long readsBefore = server.calls().reads();
    String key = UUID.nameUUIDFromBytes(order.getBytes(StandardCharsets.UTF_8)).toString();
    String first = "";
    String end = "UNKNOWN";
    attempts:
    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      ToolCommand command = command(ToolCommand.Kind.EXECUTE, order, key, attempt);
      ToolOutcome outcome = handler.execute(command);
      if (attempt == 1) {
        first = name(outcome);
        server.acceptConnections();
      }
      switch (outcome) {
        case ToolOutcome.Succeeded s -> {
          end = "SUCCEEDED";
          break attempts;
        }
        case ToolOutcome.FailedTerminal t -> {
          end = attempt == 1 ? "FAILED_TERMINAL" : "UNKNOWN";
          break attempts;
        }
        case ToolOutcome.FailedRetryable r -> end = "FAILED_RETRYABLE";
        case ToolOutcome.Unknown u -> {
          String read =
              reconcile(handler, command(ToolCommand.Kind.RECONCILE, order, key, attempt));
          end = read.equals("COMMITTED") ? "SUCCEEDED" : "UNKNOWN";
          if (read.equals("COMMITTED") || (read.equals("UNDETERMINED") && !dedupes)) {
            break attempts;
          }
        }
      }
    }
    return new Cell(
        kind,
        fault,
        first,
        end,
        (int) (server.calls().writes() - writesBefore),
        (int) (server.calls().reads() - readsBefore),
        server.book().reading().byNaturalKey(order).size());
  }

  /** Status reads until one is a proof; absence is one only after several. */
  private static String reconcile(ToolHandler handler, ToolCommand command) throws Exception {
    int absent = 0;
    for (int read = 1; read <= ABSENT_READS + 1; read++) {
      switch (handler.readStatus(command)) {
        case StatusAnswer.Committed c -> {
          return "COMMITTED";
        }
        case StatusAnswer.Absent a -> absent++;
        case StatusAnswer.Undetermined u -> {}
      }
      if (absent == ABSENT_READS) {
        return "ABSENT";
      }
    }
    return "UNDETERMINED";
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

  private static ToolCommand command(ToolCommand.Kind kind, String order, String key, int attempt) {
    return new ToolCommand(
        kind,
        "k1/t1/global/" + order,
        "cmd",
        "t1",
        "global",
        order,
        null,
        attempt,
        1,
        "any",
        null,
        null,
        "{\"amount\":100,\"currency\":\"usd\",\"source\":\"tok\",\"project\":\"p\",\"zone\":\"z\","
            + "\"machine\":\"m\",\"image\":\"ami\",\"to\":\"a\",\"order\":\""
            + order
            + "\"}",
        null,
        "agent:a",
        key,
        Instant.now(),
        Instant.now(),
        null,
        false,
        null,
        null,
        null);
  }

  private static String name(ToolOutcome outcome) {
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

  /** The example as it ships, with the fake's address and without patience. */
  private static JsonNode example(RemoteKind kind, String url) throws IOException {
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
          .put("first_byte", "1500ms")
          .put("total", "3s");
      return actions;
    }
  }

  @Test
  void theExamplesAreReadAsTheyShip() throws IOException {
    for (RemoteKind kind : RemoteKind.values()) {
      assertThat(ExecutorContracts.parse(example(kind, "https://example.com"))).hasSize(1);
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
            effects are counted by the remote's own book.

            Each cell: the operation's end · effects, write calls, status reads. Below the table: what
            the first call was taken for. The two faults of status reads follow a lost answer. Up to 3
            attempts; a next one only after the remote was proven not to have acted (3 reads that say
            absent), or under a key that the contract relies on.

            """);
    text.append("| fault |");
    for (RemoteKind kind : RemoteKind.values()) {
      text.append(' ').append(kind.label()).append(" |");
    }
    text.append("\n|---|").append("---|".repeat(RemoteKind.values().length)).append('\n');
    for (FaultKind fault : FaultKind.values()) {
      text.append("| ").append(fault.label()).append(" |");
      for (Cell cell : row(cells, fault)) {
        text.append(' ')
            .append(cell.end())
            .append(" · ")
            .append(cell.effects())
            .append(", ")
            .append(cell.writes())
            .append(", ")
            .append(cell.reads())
            .append(" |");
      }
      text.append('\n');
    }
    text.append("\n| fault | the first call |\n|---|---|\n");
    for (FaultKind fault : FaultKind.values()) {
      Map<String, List<String>> byFirst = new java.util.LinkedHashMap<>();
      row(cells, fault)
          .forEach(
              c ->
                  byFirst
                      .computeIfAbsent(c.first(), f -> new ArrayList<>())
                      .add(c.remote().label()));
      text.append("| ").append(fault.label()).append(" | ");
      List<String> parts = new ArrayList<>();
      byFirst.forEach(
          (first, kinds) ->
              parts.add(
                  "`"
                      + first
                      + "`"
                      + (byFirst.size() == 1 ? "" : " (" + String.join(", ", kinds) + ")")));
      text.append(String.join(", ", parts)).append(" |\n");
    }
    int effects = cells.stream().mapToInt(Cell::effects).sum();
    int doubled = cells.stream().mapToInt(c -> Math.max(0, c.effects() - 1)).sum();
    long unknown = cells.stream().filter(c -> c.end().equals("UNKNOWN")).count();
    text.append(
        "\n%d cells, %d effects, %d doubled, %d that end UNKNOWN and wait for a person.\n"
            .formatted(cells.size(), effects, doubled, unknown));
    return text.toString();
  }

  private static List<Cell> row(List<Cell> cells, FaultKind fault) {
    return cells.stream().filter(c -> c.fault() == fault).toList();
  }

  private static @org.jspecify.annotations.Nullable Path findDocs() {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.isDirectory(at.resolve("topology-docs"))) {
        return at.resolve("topology-docs");
      }
    }
    return null;
  }
}
