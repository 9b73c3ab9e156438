package dev.ichido.cli;

import dev.ichido.faults.Battery;
import dev.ichido.faults.BatteryReport;
import dev.ichido.faults.FaultTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "faults",
    mixinStandardHelpOptions = true,
    description = {
      "Runs the fault battery: relay, processor, executor, inbox, broker, database and remotes as"
          + " processes of their own, killed, stopped and cut off while a load runs.",
      "Effects are counted in the remotes' own books and compared with what was published; Ichido's"
          + " ledger is not asked. Prints a table in Markdown. All of it takes some minutes."
    })
final class FaultsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "ID",
      description = "Only these scenarios; --list names them.")
  private Set<String> only = new LinkedHashSet<>();

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Reproduces the moments of the faults (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "1",
      description = "How often all of it is run (default: ${DEFAULT-VALUE}).")
  private int rounds = 1;

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "2000",
      description = "Operations under load in each crash (default: ${DEFAULT-VALUE}).")
  private int operations = 2000;

  @Option(
      names = "--contract",
      paramLabel = "FILE",
      description = {
        "Try the executor contracts of this policy file instead: every fault of a remote, against a"
            + " stand-in that answers as the contract expects. Addresses are replaced and times"
            + " shortened; nothing of yours is called."
      })
  private @Nullable Path contract;

  @Option(
      names = "--arguments",
      paramLabel = "JSON",
      defaultValue = "{}",
      description = "Sample arguments for --contract; what a template needs beside is made up.")
  private String arguments = "{}";

  @Option(names = "--list", description = "Print the ids and run nothing.")
  private boolean list;

  @Option(names = "--json", description = "Print the results as one JSON document.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    Output output = Output.of(spec);
    List<String> ids = contract == null ? Battery.ids() : Battery.ids(contract, arguments);
    if (list) {
      output.text(String.join("\n", ids) + "\n");
      return ExitCode.HOLDS;
    }
    List<String> unknown = only.stream().filter(id -> !ids.contains(id)).toList();
    if (!unknown.isEmpty() || rounds < 1 || operations < 1) {
      throw CommandException.usage(
          "FAULTS_USAGE",
          "Expected ids that --list names, and rounds and operations above 0, but "
              + (unknown.isEmpty() ? "a number is not" : String.join(", ", unknown) + " is none")
              + ". Check the options.");
    }
    Shutdown.guard(Thread.currentThread());
    BatteryReport report =
        new Battery(
                new Battery.Wish(only, seed, rounds, operations, contract, arguments),
                output::progress)
            .run();
    if (json) {
      output.document(report.toJson());
    } else {
      output.text(FaultTable.markdown(report.toJson()));
    }
    return report.failed() == 0 && !report.stopped() ? ExitCode.HOLDS : ExitCode.DOES_NOT_HOLD;
  }
}
