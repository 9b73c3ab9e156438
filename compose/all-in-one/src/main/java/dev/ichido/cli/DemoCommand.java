package dev.ichido.cli;

import dev.ichido.app.Stack;
import dev.ichido.config.ConfigLoader;
import dev.ichido.demo.DemoReport;
import dev.ichido.demo.DemoStory;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Runs the main job on the embedded stack and counts what the remote did.",
      "Every write is delivered N times: the first two at the same moment from two connections, the"
          + " rest after the answer. Reads are delivered once. The remote is an HTTP server with a"
          + " book of its own; that book alone is counted.",
      "A run that was cut short goes on with the same operations when the same input is given again"
          + " on the same folder. A finished one is followed by a new one; with --data it is"
          + " repeated: its operations answer from their stored results, and nothing happens twice."
    })
final class DemoCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOption data = new DataOption();
  @Mixin private PortOptions ports = new PortOptions();

  @Option(
      names = "--input",
      paramLabel = "FILE.jsonl",
      description = {
        "Tool calls, one JSON object a line: tool, arguments (object or JSON text), and optionally"
            + " tenant, operation_id, run, step, tool_call_id, effect (read or write; write when it"
            + " is left out), target. Lines as LangGraph, OpenAI Agents and MCP write them are read"
            + " too. Default: a sample of 48 calls."
      })
  private @Nullable Path input;

  @Option(
      names = "--deliveries",
      paramLabel = "N",
      defaultValue = "3",
      description = "Deliveries of each write (default: ${DEFAULT-VALUE}).")
  private int deliveries = 3;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Tenants, actions and tuning; other tools get a policy of the demo.")
  private @Nullable Path config;

  @Option(names = "--strict", description = "Refuse tools that the configuration does not have.")
  private boolean strict;

  @Option(names = "--json", description = "Print the counts as one JSON document.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException, SQLException {
    Output output = Output.of(spec);
    Shutdown.guard(Thread.currentThread());
    ConfigLoader loader = ConfigLoader.ofProcess();
    DemoReport report;
    try {
      report =
          DemoStory.tell(
              new DemoStory.Wish(
                  input,
                  deliveries,
                  config == null
                      ? loader.load("no configuration", Stack.DEFAULTS)
                      : loader.load(config),
                  strict,
                  data.folder(),
                  data.isGiven(),
                  ports.ports()),
              output::progress);
    } catch (InterruptedException e) {
      if (Shutdown.isAsked()) {
        output.progress("stopped in the middle; the same command goes on with the same operations");
        return ExitCode.DOES_NOT_HOLD;
      }
      throw e;
    }
    if (json) {
      output.document(report.toJson());
      report.findings().forEach(output::progress);
    } else {
      output.text(report.toText());
    }
    return report.holds() ? ExitCode.HOLDS : ExitCode.DOES_NOT_HOLD;
  }
}
