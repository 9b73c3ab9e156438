package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.app.Stack;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.DataFolder;
import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.relay.OutboxDatabase;
import dev.ichido.relay.OutboxMigration;
import dev.ichido.topology.NodeNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;

/**
 * Draws how figures of the embedded stack change with one thing at a time, each as an SVG with its
 * data beside it.
 *
 * <p>Run from the root, after {@code ./ichido --help} built everything: {@code mvn -B test-compile
 * dependency:build-classpath -Dmdep.outputFile=target/cp -pl compose/all-in-one} and then {@code
 * java -cp compose/all-in-one/target/test-classes:compose/all-in-one/target/classes:$(cat
 * compose/all-in-one/target/cp) dev.ichido.bench.ScaleCurves OUT CURVE...}, with the curves {@code
 * in-flight rate ledger expiry partitions backlog tenants actions commits}. {@code
 * -Dpoints=10000,100000} takes fewer points of one.
 */
final class ScaleCurves {
  private static final int WARM_UP = 4_000;

  /** Seconds. */
  private static final int REMEMBERED = 60;

  private final Path out;
  private final SinkProcess sink = SinkProcess.start();
  private int runs;
  private boolean warm;

  /** What was measured at one point. */
  private record Point(double x, double perSecond, double p50, double p99, double extra) {
    static Point of(double x, Load.Outcome outcome, double extra) {
      return new Point(
          x,
          outcome.perSecond(),
          outcome.latencyMicros().getValueAtPercentile(50) / 1e3,
          outcome.latencyMicros().getValueAtPercentile(99) / 1e3,
          extra);
    }
  }

  private interface Work {
    void on(Stack stack, OutboxPath path) throws InterruptedException, SQLException;
  }

  private ScaleCurves(Path out) {
    this.out = out;
  }

  public static void main(String[] arguments) throws Exception {
    ScaleCurves curves = new ScaleCurves(Path.of(arguments[0]));
    try {
      for (String curve : List.of(arguments).subList(1, arguments.length)) {
        switch (curve) {
          case "in-flight" -> curves.inFlight();
          case "rate" -> curves.rate();
          case "ledger" -> curves.ledger();
          case "expiry" -> curves.expiry();
          case "partitions" -> curves.partitions();
          case "backlog" -> curves.backlog();
          case "tenants" -> curves.tenants();
          case "actions" -> curves.actions();
          case "commits" -> curves.commits();
          default -> throw new IllegalArgumentException(curve);
        }
      }
    } finally {
      curves.sink.close();
    }
  }

  /** The points of the axis; fewer where {@code -Dpoints=} says so. */
  private static int[] points(String all) {
    return Arrays.stream(System.getProperty("points", all).split(",", -1))
        .mapToInt(Integer::parseInt)
        .toArray();
  }

  private void inFlight() throws Exception {
    List<Point> first = new ArrayList<>();
    List<Point> duplicate = new ArrayList<>();
    with(
        "",
        (stack, path) -> {
          for (int inFlight : points("16,64,256,1024,4096")) {
            String run = next();
            int n = Math.min(12_000, Math.max(2_000, 8 * inFlight));
            first.add(
                Point.of(
                    inFlight, load(path, Calls.first(run, Instant.now()), n).closed(inFlight), 0));
            duplicate.add(
                Point.of(
                    inFlight,
                    load(path, Calls.duplicate(run, Instant.now()), n).closed(inFlight),
                    0));
          }
        });
    csv("in-flight-first", "in_flight", first);
    csv("in-flight-duplicate", "in_flight", duplicate);
    XYChart chart =
        chart("Throughput over operations in flight", "in flight", "operations a second");
    chart.getStyler().setXAxisLogarithmic(true);
    series(chart, "first calls", first, Point::perSecond);
    series(chart, "duplicates", duplicate, Point::perSecond);
    svg("in-flight", chart);
  }

  private void rate() throws Exception {
    List<Point> points = new ArrayList<>();
    with(
        "",
        (stack, path) -> {
          for (int rate : points("50,100,200,400,600,800")) {
            double before = Processes.cpuSeconds(path.servers());
            int n = 12 * rate;
            Load.Outcome outcome = load(path, Calls.first(next(), Instant.now()), n).open(rate);
            double cpu = (Processes.cpuSeconds(path.servers()) - before) / n * 1_000;
            points.add(Point.of(rate, outcome, cpu));
          }
        });
    csv("rate", "rate", points);
    XYChart chart =
        chart("Latency of first calls over their rate", "operations a second", "milliseconds");
    series(chart, "p50", points, Point::p50);
    series(chart, "p99", points, Point::p99);
    svg("rate", chart);
  }

  /** What a start leaves to be done in the background, compaction and compilers, is over. */
  private static void awaitRest() {
    Duration used;
    int looks = 0;
    do {
      Duration before = processorTime();
      LockSupport.parkNanos(Duration.ofSeconds(3).toNanos());
      used = processorTime().minus(before);
      looks++;
    } while (used.toMillis() > 900 && looks < 60);
  }

  private static Duration processorTime() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow();
  }

  /**
   * The ledger is filled with copies of one settled operation, in its changelog while no processor
   * runs, so that each start restores all of them. Deadlines of the copies are not there.
   */
  private void ledger() throws Exception {
    StringBuilder csv =
        new StringBuilder(
            "operations,ready_s,first_per_s,first_p50_ms,first_p99_ms,duplicates_per_s,duplicate_p50_ms,heap_mb,store_mb\n");
    List<Point> first = new ArrayList<>();
    List<Point> duplicate = new ArrayList<>();
    List<Point> ready = new ArrayList<>();
    Path data = Path.of(".ichido", "curves", next());
    try (DataFolder folder = DataFolder.open(data)) {
      String[] changelog = new String[1];
      on(
          folder,
          Stack.DEFAULTS,
          Bench.Scale.USUAL,
          (stack, path) ->
              changelog[0] =
                  stack.config().processor().applicationId()
                      + "-"
                      + NodeNames.LEDGER_STORE
                      + "-changelog",
          () -> {});
      int size = 0;
      for (int target : points("10000,100000,1000000,10000000")) {
        copy(folder, changelog[0], size, target);
        size = target;
        delete(folder.resolve("processor"));
        long begun = System.nanoTime();
        double[] seconds = new double[1];
        on(
            folder,
            Stack.DEFAULTS,
            Bench.Scale.USUAL,
            (stack, path) -> {
              awaitRest();
              String run = next();
              Instant at = Instant.now();
              int known = target + operations(stack);
              Load.Outcome firsts = load(path, Calls.first(run, at), 4_000).closed(64);
              Load.Outcome duplicates = load(path, Calls.duplicate(run, at), 4_000).closed(64);
              System.gc();
              Runtime memory = Runtime.getRuntime();
              first.add(Point.of(known, firsts, 0));
              duplicate.add(Point.of(known, duplicates, 0));
              ready.add(new Point(known, 0, 0, 0, seconds[0]));
              csv.append(
                  String.format(
                      Locale.ROOT,
                      "%d,%.1f,%.0f,%.1f,%.1f,%.0f,%.1f,%.0f,%.0f%n",
                      known,
                      seconds[0],
                      first.getLast().perSecond(),
                      first.getLast().p50(),
                      first.getLast().p99(),
                      duplicate.getLast().perSecond(),
                      duplicate.getLast().p50(),
                      (memory.totalMemory() - memory.freeMemory()) / 1e6,
                      megabytes(Path.of(stack.config().processor().stateDir()))));
            },
            () -> seconds[0] = (System.nanoTime() - begun) / 1e9);
      }
    }
    delete(data);
    write("ledger", csv.toString());
    XYChart chart =
        chart(
            "Throughput over operations in the ledger, 64 in flight",
            "operations",
            "operations a second");
    chart.getStyler().setXAxisLogarithmic(true);
    series(chart, "first calls", first, Point::perSecond);
    series(chart, "duplicates", duplicate, Point::perSecond);
    svg("ledger", chart);
    XYChart restart =
        chart(
            "Start to ready without local state, over operations in the ledger",
            "operations",
            "seconds");
    restart.getStyler().setXAxisLogarithmic(true);
    series(restart, "ready after", ready, Point::extra);
    svg("restart", restart);
  }

  private static void copy(DataFolder folder, String changelog, int from, int to)
      throws ExecutionException {
    TopicPartition partition = new TopicPartition(changelog, 0);
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("kafka"))) {
      Map<String, Object> settings = Map.of("bootstrap.servers", broker.bootstrapServers());
      byte[] settled = null;
      try (KafkaConsumer<String, byte[]> consumer =
          new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer())) {
        consumer.assign(List.of(partition));
        long end = consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
        consumer.seek(partition, Math.max(0, end - 100));
        while (consumer.position(partition) < end) {
          for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(200))) {
            settled = record.value();
          }
        }
      }
      Map<String, Object> sending = new HashMap<>(settings);
      sending.put("linger.ms", 20);
      sending.put("batch.size", 1 << 18);
      try (KafkaProducer<String, byte[]> producer =
          new KafkaProducer<>(sending, new StringSerializer(), new ByteArraySerializer())) {
        AtomicReference<@Nullable Exception> failed = new AtomicReference<>();
        for (int i = from; i < to; i++) {
          String key = "k1/bench-000/global/copy-" + String.format(Locale.ROOT, "%012d", i);
          // Ten million futures would fill the heap.
          var unused =
              producer.send(
                  new ProducerRecord<>(changelog, key, settled),
                  (sent, failure) -> {
                    if (failure != null) {
                      failed.set(failure);
                    }
                  });
        }
        producer.flush();
        if (failed.get() != null) {
          throw new ExecutionException(failed.get());
        }
      }
    }
  }

  /**
   * Operations that come at a million an hour under a policy that forgets them after {@link
   * #REMEMBERED}: from then on as many are forgotten as come.
   */
  private void expiry() throws Exception {
    int rate = 280;
    int window = 10;
    List<Point> points = new ArrayList<>();
    with(
        "",
        new Bench.Scale(Calls.TENANTS, 1, REMEMBERED / 2 + "s", REMEMBERED / 2 + "s"),
        (stack, path) -> {
          long start = System.nanoTime();
          for (int i = 0; i < points("15")[0]; i++) {
            double before = Processes.cpuSeconds(path.servers());
            Load.Outcome outcome =
                load(path, Calls.first(next(), Instant.now()), rate * window).open(rate);
            double cpu = (Processes.cpuSeconds(path.servers()) - before) / (rate * window) * 1_000;
            points.add(Point.of((System.nanoTime() - start) / 1e9, outcome, cpu));
          }
        });
    csv("expiry", "seconds", points);
    XYChart chart =
        chart(
            "%d a second; from %d s on as many are forgotten".formatted(rate, REMEMBERED),
            "seconds",
            "milliseconds");
    series(chart, "p50", points, Point::p50);
    series(chart, "p99", points, Point::p99);
    svg("expiry", chart);
  }

  private void tenants() throws Exception {
    spread("tenants", points("1,10,100,1000,10000"), n -> new Bench.Scale(n, 1, "24h", "30d"));
  }

  private void actions() throws Exception {
    spread("actions", points("1,10,100,1000"), n -> new Bench.Scale(100, n, "24h", "30d"));
  }

  private void spread(String what, int[] axis, IntFunction<Bench.Scale> scale) throws Exception {
    List<Point> points = new ArrayList<>();
    for (int n : axis) {
      Bench.Scale of = scale.apply(n);
      with(
          "",
          of,
          (stack, path) ->
              points.add(
                  Point.of(
                      n,
                      load(
                              path,
                              Calls.spread(next(), Instant.now(), of.tenants(), of.actions()),
                              6_000)
                          .closed(64),
                      0)));
    }
    csv(what, what, points);
    XYChart chart =
        chart(
            "First calls over the number of " + what + ", 64 in flight",
            what,
            "operations a second");
    chart.getStyler().setXAxisLogarithmic(true);
    series(chart, "first calls", points, Point::perSecond);
    svg(what, chart);
  }

  private void partitions() throws Exception {
    List<Point> points = new ArrayList<>();
    for (int partitions : points("1,2,4,8")) {
      with(
          "topics: { partitions: %d }\nprocessor: { threads: %d }\n"
              .formatted(partitions, partitions),
          (stack, path) ->
              points.add(
                  Point.of(
                      partitions,
                      load(path, Calls.first(next(), Instant.now()), 4_000).closed(256),
                      0)));
    }
    csv("partitions", "partitions_and_threads", points);
    XYChart chart =
        chart(
            "Throughput over partitions, a thread each, 256 in flight",
            "partitions",
            "operations a second");
    series(chart, "first calls", points, Point::perSecond);
    svg("partitions", chart);
  }

  /** Rows that lie in the outbox when the relay gets to them: answered over time. */
  private void backlog() throws Exception {
    int rows = 20_000;
    List<Point> points = new ArrayList<>();
    with(
        "",
        (stack, path) -> {
          try (Connection connection = stack.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            long before = replies(connection);
            insert(connection, rows, next());
            connection.commit();
            long start = System.nanoTime();
            long answered = 0;
            while (answered < rows && System.nanoTime() - start < 120e9) {
              LockSupport.parkNanos(500_000_000L);
              answered = replies(connection) - before;
              connection.rollback();
              double seconds = (System.nanoTime() - start) / 1e9;
              points.add(new Point(seconds, answered / seconds, 0, 0, rows - answered));
            }
          }
        });
    csv("backlog", "seconds", points);
    XYChart chart =
        chart(
            "A backlog of %,d rows".formatted(rows), "seconds", "operations without their answer");
    series(chart, "waiting", points, Point::extra);
    svg("backlog", chart);
  }

  /** The first hop alone, which nobody follows: intents committed by so many connections. */
  private void commits() throws Exception {
    List<Point> points = new ArrayList<>();
    Path data = Path.of(".ichido", "curves", next());
    try (EmbeddedDatabase database = EmbeddedDatabase.start(data)) {
      var unused =
          new OutboxMigration(
                  OutboxDatabase.of(database.url(), database.user(), database.password()))
              .run();
      commit(database, 16, Duration.ofSeconds(3));
      for (int connections : points("1,4,16,64")) {
        Duration span = Duration.ofSeconds(5);
        long commits = commit(database, connections, span);
        points.add(new Point(connections, commits / (double) span.toSeconds(), 0, 0, 0));
      }
    }
    delete(data);
    csv("commits", "connections", points);
    XYChart chart =
        chart("Intents committed to the outbox alone", "connections", "commits a second");
    chart.getStyler().setXAxisLogarithmic(true);
    series(chart, "commits", points, Point::perSecond);
    svg("commits", chart);
  }

  private long commit(EmbeddedDatabase database, int connections, Duration span) throws Exception {
    long end = System.nanoTime() + span.toNanos();
    List<Future<Integer>> counts = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(connections)) {
      for (int i = 0; i < connections; i++) {
        String run = next();
        counts.add(
            threads.submit(
                () -> {
                  int commits = 0;
                  try (Connection connection =
                      DriverManager.getConnection(
                          database.url(), database.user(), database.password())) {
                    while (System.nanoTime() - end < 0) {
                      insert(connection, 1, run + "-" + commits++);
                    }
                  }
                  return commits;
                }));
      }
    }
    long sum = 0;
    for (Future<Integer> count : counts) {
      sum += count.get();
    }
    return sum;
  }

  private static void insert(Connection connection, int rows, String run) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select count(ichido.publish_intent(tenant => ?, principal => ?, action => ?,"
                + " operation_id => ? || to_char(i, 'FM00000000'), issued_at => ?, arguments => ?))"
                + " from generate_series(1, ?) as i")) {
      statement.setString(1, Calls.tenant(0));
      statement.setString(2, OutboxPath.PRINCIPAL);
      statement.setString(3, OutboxPath.ACTION);
      statement.setString(4, run + "-");
      statement.setTimestamp(5, Timestamp.from(Instant.now()));
      statement.setString(6, "{\"memo\":\"" + "m".repeat(380) + "\"}");
      statement.setInt(7, rows);
      statement.execute();
    }
  }

  /** Those that were really performed. */
  private static int operations(Stack stack) throws SQLException {
    try (Connection connection = stack.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("select count(*) from ichido.inbox_operation")) {
      row.next();
      return row.getInt(1);
    }
  }

  private static long replies(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("select count(*) from ichido.inbox_reply where final");
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  private void with(String settings, Work work) throws Exception {
    with(settings, Bench.Scale.USUAL, work);
  }

  private void with(String settings, Bench.Scale scale, Work work) throws Exception {
    Path data = Path.of(".ichido", "curves", next());
    try (DataFolder folder = DataFolder.open(data)) {
      on(folder, settings.isEmpty() ? Stack.DEFAULTS : settings, scale, work, () -> {});
    }
    delete(data);
  }

  private void on(DataFolder folder, String settings, Bench.Scale scale, Work work, Runnable ready)
      throws Exception {
    IchidoConfig config =
        Bench.under(
            ConfigLoader.ofProcess().load("the curve's settings", settings), sink.port(), scale);
    try (Stack stack = Stack.start(folder, Stack.Ports.FREE, config, ScaleCurves::say);
        OutboxPath path = new OutboxPath(stack)) {
      ready.run();
      // What is hot stays compiled from one start to the next.
      Map<String, Integer> wrong =
          warm
              ? load(path, Calls.first(next(), Instant.now()), 1_000).closed(64).errors()
              : Bench.warmUp(path, next(), Instant.now(), WARM_UP, 64);
      warm = true;
      if (!wrong.isEmpty()) {
        throw new IllegalStateException("wrong answers: " + wrong);
      }
      work.on(stack, path);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private static Load load(OutboxPath path, IntFunction<Call> calls, int n) {
    return new Load(path, calls, n);
  }

  private String next() {
    return "curve-%d-%04d".formatted(ProcessHandle.current().pid(), ++runs);
  }

  private static double megabytes(Path folder) {
    try (Stream<Path> tree = Files.walk(folder)) {
      return tree.filter(Files::isRegularFile).mapToLong(path -> path.toFile().length()).sum()
          / 1e6;
    } catch (IOException e) {
      return 0;
    }
  }

  private static void say(String line) {
    System.err.println(line);
  }

  private static XYChart chart(String title, String x, String y) {
    XYChart chart =
        new XYChartBuilder()
            .width(720)
            .height(420)
            .title(title)
            .xAxisTitle(x)
            .yAxisTitle(y)
            .build();
    chart.getStyler().setYAxisMin(0.0);
    return chart;
  }

  private static void series(
      XYChart chart, String name, List<Point> points, Function<Point, Double> y) {
    chart.addSeries(
        name,
        points.stream().mapToDouble(Point::x).toArray(),
        points.stream().mapToDouble(y::apply).toArray());
  }

  private void svg(String name, XYChart chart) throws IOException {
    Files.createDirectories(out);
    VectorGraphicsEncoder.saveVectorGraphic(
        chart, out.resolve(name).toString(), VectorGraphicsFormat.SVG);
  }

  private void csv(String name, String x, List<Point> points) throws IOException {
    StringBuilder text = new StringBuilder(x + ",ops_per_s,p50_ms,p99_ms,extra\n");
    for (Point point : points) {
      text.append(
          String.format(
              Locale.ROOT,
              "%.1f,%.0f,%.1f,%.1f,%.2f%n",
              point.x(),
              point.perSecond(),
              point.p50(),
              point.p99(),
              point.extra()));
    }
    write(name, text.toString());
  }

  private void write(String name, String csv) throws IOException {
    Files.createDirectories(out);
    Files.writeString(out.resolve(name + ".csv"), csv, UTF_8);
    say(name + "\n" + csv);
  }
}
