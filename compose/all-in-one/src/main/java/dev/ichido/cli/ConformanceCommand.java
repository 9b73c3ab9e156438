package dev.ichido.cli;

import dev.ichido.conformance.Conformance;
import dev.ichido.conformance.ConformanceReport;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "conformance",
    mixinStandardHelpOptions = true,
    description = "Runs scenarios through the shipped topology and decision, on a virtual clock.")
final class ConformanceCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(arity = "1..*", paramLabel = "FILE", description = "Scenarios, one a line (JSON).")
  private List<Path> files = List.of();

  @Option(names = "--json", description = "Print the result as one JSON document.")
  private boolean json;

  @Override
  public Integer call() {
    Output output = Output.of(spec);
    ConformanceReport report;
    try {
      report = Conformance.run(files);
    } catch (UncheckedIOException e) {
      throw CommandException.usage("SCENARIOS_UNREADABLE", String.valueOf(e.getMessage()), e);
    }
    if (report.outcomes().isEmpty()) {
      throw CommandException.usage(
          "SCENARIOS_MISSING",
          "Expected a scenario a line in " + files + ", but there is none. Check the path.");
    }
    output.text(json ? report.json() + "\n" : report.text());
    return report.holds() ? ExitCode.HOLDS : ExitCode.DOES_NOT_HOLD;
  }
}
