package dev.ichido.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command line. */
@Command(
    name = "ichido",
    description = "Keeps an AI agent's side effect from happening twice, on Kafka.",
    mixinStandardHelpOptions = true,
    versionProvider = VersionProvider.class,
    subcommands = {
      UpCommand.class,
      DemoCommand.class,
      BenchCommand.class,
      PublishCommand.class,
      RepliesCommand.class,
      OperationCommand.class,
      ReplayCommand.class,
      CaptureCommand.class,
      WorkflowCommand.class,
      MigrateCommand.class,
      RoleCommand.Relay.class,
      RoleCommand.Processor.class,
      RoleCommand.Executor.class,
      RoleCommand.Inbox.class,
      RoleCommand.Gateway.class,
      McpCommand.class,
      HealthCommand.class,
      ConformanceCommand.class,
      FaultsCommand.class,
      TopologyCommand.class,
      CommandLine.HelpCommand.class
    },
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Exit codes: 0 it holds, 1 it does not hold, 2 bad usage or configuration.",
      "Results go to standard output, progress and logs to standard error.",
    })
public final class Main implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Log more, and show stack traces.")
  private boolean verbose;

  private Main() {
    spec = CommandSpec.create();
  }

  public static void main(String[] arguments) {
    // The HTTP door's server logs by the JDK's own logger, which writes to standard error.
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
    // Without it, the JDK's server holds small answers back for 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    int code = run(writer(System.out), writer(System.err), arguments);
    Shutdown.end(code);
  }

  private static PrintWriter writer(PrintStream stream) {
    return new PrintWriter(new OutputStreamWriter(stream, UTF_8), true);
  }

  /** Runs one command and gives its exit code; ends nothing. */
  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    Main main = new Main();
    CommandLine line = new CommandLine(main);
    line.setOut(out);
    line.setErr(err);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setParameterExceptionHandler(Main::refused);
    line.setExecutionStrategy(
        parsed -> {
          main.setLogLevels();
          return new CommandLine.RunLast().execute(parsed);
        });
    line.setExecutionExceptionHandler((failure, command, parsed) -> main.failed(failure, command));
    return line.execute(arguments);
  }

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE;
  }

  private static int refused(ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    command.getErr().println("ichido: " + e.getMessage());
    CommandLine.UnmatchedArgumentException.printSuggestions(e, command.getErr());
    command.getErr().println("Run ichido " + name(command) + "--help to see what is expected.");
    return ExitCode.USAGE;
  }

  private int failed(Exception failure, CommandLine command) {
    Explanation explanation = Explanation.of(failure);
    command.getErr().println("ichido: " + explanation.code() + ": " + explanation.message());
    if (verbose) {
      failure.printStackTrace(command.getErr());
    } else if (!explanation.isComplete()) {
      command.getErr().println("Run the command again with --verbose to see where.");
    }
    return explanation.exitCode();
  }

  private static String name(CommandLine command) {
    String name = command.getCommandSpec().qualifiedName();
    return name.equals("ichido") ? "" : name.substring("ichido ".length()) + " ";
  }

  private void setLogLevels() {
    if (verbose && LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      context.getLogger("ROOT").setLevel(Level.WARN);
      context.getLogger("dev.ichido").setLevel(Level.DEBUG);
    }
  }
}
