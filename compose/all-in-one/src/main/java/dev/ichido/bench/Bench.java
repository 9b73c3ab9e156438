package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.app.Stack;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.DataFolder;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.topology.policy.LocatedTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * Measures operations from the commit of their outbox row to the last reply in the runtime's inbox,
 * with a real HTTP effect each, on a fresh embedded stack; and the plain table in the same process,
 * before the stack is started. Whether every effect happened once is read from the remote's book.
 */
public final class Bench {
  /** The stack's own, and a door that lets the load of the bench through. */
  public static final String DEFAULTS = Stack.DEFAULTS + "gateway: { rate_per_tenant: 1000000 }\n";

  private static final JsonMapper JSON = new JsonMapper();

  /** Most calls before the first that counts; a run of less than a round is not warmed further. */
  private static final int WARM_UP = 60_000;

  private static final int ROUND = 2_000;

  /** Share of a core that the compilers of hot code take, at which a path counts as warm. */
  private static final double WARM = 0.1;

  private static final Duration IDLE = Duration.ofSeconds(5);

  private final Wish wish;
  private final Consumer<String> progress;
  private final List<String> findings = new ArrayList<>();
  private final String name = HexFormat.of().toHexDigits(System.nanoTime(), 10);

  /**
   * What is asked for.
   *
   * @param operations of each run
   * @param inFlight of the closed loops
   * @param rate operations a second of the open loop
   * @param baseline whether the plain table is measured too
   * @param doors measured too, each after the outbox
   * @param config tuning of the stack
   */
  public record Wish(
      Set<Workload> workloads,
      int operations,
      int inFlight,
      double rate,
      int runs,
      boolean baseline,
      Set<Door> doors,
      IchidoConfig config,
      Path data) {}

  public Bench(Wish wish, Consumer<String> progress) {
    this.wish = wish;
    this.progress = progress;
  }

  /** Measures all that is asked for. */
  public BenchReport run() throws InterruptedException, SQLException {
    Path data = wish.data().resolve(name);
    try (DataFolder folder = DataFolder.open(data);
        SinkProcess sink = SinkProcess.start()) {
      return run(folder, sink);
    } finally {
      delete(data);
    }
  }

  private BenchReport run(DataFolder folder, SinkProcess sink)
      throws InterruptedException, SQLException {
    Map<Workload, Measured> plain = new EnumMap<>(Workload.class);
    if (wish.baseline()) {
      progress.accept("the plain table");
      try (EmbeddedDatabase database =
              EmbeddedDatabase.start(folder.resolve("plain"), 0, Map.of());
          PlainTable path = new PlainTable(database, sink.port())) {
        measure(path, sink, "plain-" + name, plain);
      }
    }
    progress.accept("the stack");
    long start = System.nanoTime();
    try (Stack stack =
            Stack.start(folder, Stack.Ports.FREE, under(wish.config(), sink.port()), progress);
        OutboxPath path = new OutboxPath(stack)) {
      double ready = (System.nanoTime() - start) / 1e9;
      Map<Workload, Measured> ours = new EnumMap<>(Workload.class);
      measure(path, sink, "bench-" + name, ours);
      Map<Door, Map<Workload, Measured>> doors = new EnumMap<>(Door.class);
      for (Door door : wish.doors()) {
        progress.accept("the door " + door.label());
        try (OncePath through = door.open(stack, folder.path())) {
          Map<Workload, Measured> measured = new EnumMap<>(Workload.class);
          measure(through, sink, door.label() + "-" + name, measured);
          doors.put(door, measured);
        }
      }
      stack.requireAlive();
      return new BenchReport(setup(), ours, plain, doors, ready, idle(path), findings);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void measure(OncePath path, SinkProcess sink, String prefix, Map<Workload, Measured> all)
      throws InterruptedException, SQLException {
    Instant at = Instant.now();
    progress.accept("warming up");
    warmUp(path, prefix + "-warm", at, wish.operations(), wish.inFlight())
        .forEach((what, n) -> findings.add("warm-up: " + n + " times " + what));
    for (Workload workload : wish.workloads()) {
      List<Measured.Run> runs = new ArrayList<>();
      Map<String, Double> parts = new TreeMap<>();
      Measured measured = new Measured(runs, Map.of(), parts);
      for (int i = 1; i <= wish.runs(); i++) {
        String run = prefix + "-" + workload.label() + i;
        if (workload == Workload.DUPLICATE) {
          new Load(path, Calls.first(run, at), wish.operations()).closed(wish.inFlight());
        }
        Stages stages =
            path instanceof OutboxPath ours && i == wish.runs() ? ours.beginStages() : null;
        Optional<Parts> before = path.parts();
        runs.add(run(path, sink, workload, run, at));
        if (before.isPresent()) {
          path.parts()
              .orElseThrow()
              .since(before.get())
              .forEach((part, seconds) -> parts.merge(part, seconds, Double::sum));
        }
        if (stages != null && path instanceof OutboxPath ours) {
          measured = new Measured(runs, stages.micros(ours.answeredAt()), parts);
        }
        progress.accept(measured.line(workload.label() + " " + i).strip());
      }
      measured
          .errors()
          .forEach((what, n) -> findings.add(workload.label() + ": " + n + " times " + what));
      all.put(workload, measured);
    }
  }

  /** Returns what was answered wrong, as {@link Load.Outcome#errors}. */
  static Map<String, Integer> warmUp(
      OncePath path, String prefix, Instant at, int operations, int inFlight)
      throws InterruptedException {
    Map<String, Integer> errors = new TreeMap<>();
    CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    int round = Math.min(ROUND, operations);
    boolean warm = false;
    int most = round < ROUND ? round : WARM_UP;
    for (int done = 0; !warm && done < most; done += round) {
      long begun = System.nanoTime();
      long before = compilers.getTotalCompilationTime();
      String run = prefix + done;
      for (IntFunction<Call> calls : List.of(Calls.first(run, at), Calls.duplicate(run, at))) {
        new Load(path, calls, round)
            .closed(inFlight)
            .errors()
            .forEach((what, n) -> errors.merge(what, n, Integer::sum));
      }
      double spent = (compilers.getTotalCompilationTime() - before) / 1e3;
      warm = spent / ((System.nanoTime() - begun) / 1e9) < WARM;
    }
    return errors;
  }

  private Measured.Run run(
      OncePath path, SinkProcess sink, Workload workload, String run, Instant at)
      throws InterruptedException {
    int n = wish.operations();
    IntFunction<Call> calls =
        switch (workload) {
          case FIRST, LATENCY -> Calls.first(run, at);
          case DUPLICATE -> Calls.duplicate(run, at);
          case MIXED -> Calls.mixed(run, at, 4 * wish.inFlight());
        };
    SinkProcess.Book before = sink.book();
    try (Watch watch = new Watch(path.servers())) {
      Load load = new Load(path, calls, n);
      Load.Outcome outcome =
          workload == Workload.LATENCY ? load.open(wish.rate()) : load.closed(wish.inFlight());
      Measured.Run measured = new Measured.Run(outcome, watch.cpuSeconds(), watch.peakMb());
      check(workload, path, calls, before, sink.book());
      return measured;
    }
  }

  private void check(
      Workload workload,
      OncePath path,
      IntFunction<Call> calls,
      SinkProcess.Book before,
      SinkProcess.Book after) {
    long expected = 0;
    for (int i = 0; i < wish.operations(); i++) {
      Call.Kind kind = calls.apply(i).kind();
      // The plain table takes an old request for a new one.
      boolean runs =
          kind == Call.Kind.FIRST || (kind == Call.Kind.LATE && path instanceof PlainTable);
      expected += runs ? 1 : 0;
    }
    if (after.effects() - before.effects() != expected || after.doubled() > 0) {
      findings.add(
          "%s: expected %d effects, but the remote counts %d, and %d operations twice"
              .formatted(
                  workload.label(), expected, after.effects() - before.effects(), after.doubled()));
    }
  }

  private BenchReport.Idle idle(OutboxPath path) throws InterruptedException, SQLException {
    progress.accept("idle for " + IDLE.toSeconds() + " s");
    Thread.sleep(Duration.ofSeconds(2));
    Parts parts = path.parts().orElseThrow();
    double before = Processes.cpuSeconds(path.servers());
    long start = System.nanoTime();
    Thread.sleep(IDLE);
    double cpu = Processes.cpuSeconds(path.servers()) - before;
    double seconds = (System.nanoTime() - start) / 1e9;
    Map<String, Double> spent = path.parts().orElseThrow().since(parts);
    spent.replaceAll((part, of) -> of / seconds);
    return new BenchReport.Idle(cpu / seconds, spent);
  }

  private String setup() {
    return ("%d cores; Java %s; %d runs of %d operations, %d in flight or %.0f a second; PostgreSQL"
            + " with fsync and synchronous commit, one Kafka node without fsync; processing %s."
            + " CPU seconds per 1,000 operations of this process, which is also the caller, and"
            + " of PostgreSQL; the remote is another process. The inbox is followed by LISTEN.")
        .formatted(
            Runtime.getRuntime().availableProcessors(),
            Runtime.version(),
            wish.runs(),
            wish.operations(),
            wish.inFlight(),
            wish.rate(),
            wish.config().processor().guarantee().setting());
  }

  /** The tenants of the bench, and its action: over HTTP, and as a tool. */
  static IchidoConfig under(IchidoConfig config, int port) {
    return under(config, port, Scale.USUAL);
  }

  /** How much a policy names, and how long it remembers. */
  record Scale(int tenants, int actions, String retention, String tombstone) {
    static final Scale USUAL = new Scale(Calls.TENANTS, 1, "24h", "30d");
  }

  static IchidoConfig under(IchidoConfig config, int port, Scale scale) {
    ObjectNode policy = JSON.createObjectNode();
    ObjectNode tenants = policy.putObject("tenants");
    for (int i = 0; i < scale.tenants(); i++) {
      tenants
          .putObject(Calls.tenant(i))
          .put("key", HexFormat.of().formatHex(("bench key of tenant " + i).getBytes(UTF_8)))
          .putArray("principals")
          .add(OutboxPath.PRINCIPAL);
    }
    ObjectNode actions = policy.putObject("actions");
    for (int i = 0; i < scale.actions(); i++) {
      ObjectNode action = actions.putObject(Calls.action(i));
      action
          .put("effect", "write")
          .put("lease", "60s")
          .put("retention", scale.retention())
          .put("tombstone", scale.tombstone());
      ObjectNode http = action.putObject("http").put("remote", "bench").put("method", "POST");
      http.put("url", "http://127.0.0.1:" + port + "/effects/{operation_id}");
      http.putObject("key").put("header", "Idempotency-Key");
      http.put("reference", "$.effect");
    }
    ObjectNode tool = actions.get(OutboxPath.ACTION).deepCopy();
    tool.remove("http");
    tool.putObject("mcp").put("server", McpPath.SERVER).put("tool", SinkTool.NAME);
    actions.set(OutboxPath.ACTION + ".tool", tool);
    return config.withPolicy(new LocatedTree(policy, config.policy().lines()));
  }

  /**
   * Processor time and memory while it is open. To add up the pages of all processes takes the
   * kernel a tenth of a second, which is not the stack's work.
   */
  private static final class Watch implements AutoCloseable {
    private static final Duration LOOK = Duration.ofSeconds(5);

    private final Iterable<Long> servers;
    private final double before;
    private final Thread looking;
    private volatile double peak;
    private volatile double spent;
    private volatile boolean closed;

    Watch(Iterable<Long> servers) {
      this.servers = servers;
      this.before = Processes.cpuSeconds(servers);
      this.looking = Thread.ofPlatform().daemon().start(this::look);
    }

    private void look() {
      while (!closed) {
        peak = Math.max(peak, Processes.memoryMb(servers));
        spent = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
        LockSupport.parkNanos(LOOK.toNanos());
      }
    }

    double cpuSeconds() {
      return Processes.cpuSeconds(servers) - before - spent;
    }

    double peakMb() {
      return Math.max(peak, Processes.memoryMb(servers));
    }

    @Override
    public void close() {
      closed = true;
      LockSupport.unpark(looking);
    }
  }
}
