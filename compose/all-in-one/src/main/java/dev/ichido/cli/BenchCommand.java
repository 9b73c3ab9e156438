package dev.ichido.cli;

import dev.ichido.bench.Bench;
import dev.ichido.bench.BenchReport;
import dev.ichido.bench.Door;
import dev.ichido.bench.Workload;
import dev.ichido.config.ConfigLoader;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = {
      "Measures the whole path on a fresh embedded stack: from the commit of the outbox row to the"
          + " last reply in the inbox, with an HTTP effect each, and a plain table of keys in the"
          + " same process beside it.",
      "Leave the machine alone meanwhile."
    })
final class BenchCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      split = ",",
      description =
          "first, duplicate, latency or mixed; several with commas. Default: first, duplicate and"
              + " latency.")
  private @Nullable List<Workload> workloads;

  @Option(
      names = "--door",
      paramLabel = "NAME",
      split = ",",
      description =
          "http or mcp: measure the path through this door too, and what it adds to that through"
              + " the outbox. The workload is latency then, unless one is named.")
  private List<Door> doors = List.of();

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "5000",
      description = "Operations of each run (default: ${DEFAULT-VALUE}).")
  private int operations = 5_000;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      defaultValue = "64",
      description = "Operations that wait for their answer at a time (default: ${DEFAULT-VALUE}).")
  private int inFlight = 64;

  @Option(
      names = "--rate",
      paramLabel = "R",
      defaultValue = "200",
      description = "Operations a second of the latency workload (default: ${DEFAULT-VALUE}).")
  private double rate = 200;

  @Option(
      names = "--runs",
      paramLabel = "N",
      defaultValue = "3",
      description = "Runs of each workload (default: ${DEFAULT-VALUE}).")
  private int runs = 3;

  @Option(names = "--no-baseline", description = "Leave the plain table out.")
  private boolean noBaseline;

  @Option(names = "--config", paramLabel = "FILE", description = "Tuning of the stack.")
  private @Nullable Path config;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "A folder on a real disk; what is made in it is removed again (default: .ichido/bench).")
  private @Nullable Path folder;

  @Option(names = "--json", description = "Print the figures as one JSON document.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException, SQLException {
    Output output = Output.of(spec);
    CommandException.requireRange("--operations", operations, 1, 10_000_000);
    CommandException.requireRange("--in-flight", inFlight, 1, 100_000);
    CommandException.requireRange("--runs", runs, 1, 100);
    CommandException.requireRange("--rate", rate, 0.1, 1_000_000);
    Shutdown.guard(Thread.currentThread());
    ConfigLoader loader = ConfigLoader.ofProcess();
    Set<Workload> chosen =
        workloads == null
            ? doors.isEmpty()
                ? EnumSet.of(Workload.FIRST, Workload.DUPLICATE, Workload.LATENCY)
                : EnumSet.of(Workload.LATENCY)
            : EnumSet.copyOf(workloads);
    BenchReport report =
        new Bench(
                new Bench.Wish(
                    chosen,
                    operations,
                    inFlight,
                    rate,
                    runs,
                    !noBaseline,
                    Set.copyOf(doors),
                    config == null
                        ? loader.load("no configuration", Bench.DEFAULTS)
                        : loader.load(config),
                    folder == null ? Path.of(".ichido", "bench") : folder),
                output::progress)
            .run();
    if (json) {
      output.document(report.toJson());
      report.findings().forEach(output::progress);
    } else {
      output.text(report.toText());
    }
    return report.holds() ? ExitCode.HOLDS : ExitCode.DOES_NOT_HOLD;
  }
}
