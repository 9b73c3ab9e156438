package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.app.Stack;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
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
 * in-flight rate ledger partitions backlog}.
 */
final class ScaleCurves {
  private static final int WARM_UP = 4_000;

  private final Path out;
  private final SinkProcess sink = SinkProcess.start();
  private int runs;

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
          case "partitions" -> curves.partitions();
          case "backlog" -> curves.backlog();
          default -> throw new IllegalArgumentException(curve);
        }
      }
    } finally {
      curves.sink.close();
    }
  }

  private void inFlight() throws Exception {
    List<Point> first = new ArrayList<>();
    List<Point> duplicate = new ArrayList<>();
    with(
        "",
        (stack, path) -> {
          for (int inFlight : new int[] {16, 64, 256, 1_024, 4_096}) {
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
          for (int rate : new int[] {50, 100, 200, 400, 600, 800}) {
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

  /** The extra column is megabytes of the ledger on disk. */
  private void ledger() throws Exception {
    List<Point> points = new ArrayList<>();
    with(
        "",
        (stack, path) -> {
          int size = WARM_UP;
          for (int target : new int[] {10_000, 30_000, 60_000, 100_000}) {
            Load.Outcome outcome =
                load(path, Calls.first(next(), Instant.now()), target - size).closed(1_024);
            size = target;
            points.add(
                Point.of(size, outcome, megabytes(Path.of(stack.config().processor().stateDir()))));
          }
        });
    csv("ledger", "operations", points);
    XYChart chart =
        chart(
            "Throughput over operations in the ledger, 1,024 in flight",
            "operations",
            "operations a second");
    series(chart, "first calls", points, Point::perSecond);
    svg("ledger", chart);
  }

  private void partitions() throws Exception {
    List<Point> points = new ArrayList<>();
    for (int partitions : new int[] {1, 2, 4, 8}) {
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

  private static void insert(Connection connection, int rows, String run) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "select count(ichido.publish_intent(tenant => ?, principal => ?, action => ?, operation_id => ? ||"
                + " to_char(i, 'FM00000000'), issued_at => ?, arguments => ?)) from generate_series(1, ?) as i")) {
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

  private static long replies(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("select count(*) from ichido.inbox_reply where final");
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  private void with(String settings, Work work) throws Exception {
    Path data = Path.of(".ichido", "curves", next());
    try (DataFolder folder = DataFolder.open(data)) {
      IchidoConfig config =
          Bench.under(
              ConfigLoader.ofProcess()
                  .load("the curve's settings", settings.isEmpty() ? Stack.DEFAULTS : settings),
              sink.port());
      try (Stack stack = Stack.start(folder, Stack.Ports.FREE, config, ScaleCurves::say);
          OutboxPath path = new OutboxPath(stack)) {
        load(path, Calls.first(next(), Instant.now()), WARM_UP).closed(64);
        work.on(stack, path);
      }
    }
    try (Stream<Path> tree = Files.walk(data)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private static Load load(OutboxPath path, java.util.function.IntFunction<Call> calls, int n) {
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
    Files.createDirectories(out);
    Files.writeString(out.resolve(name + ".csv"), text, UTF_8);
    say(name + "\n" + text);
  }
}
