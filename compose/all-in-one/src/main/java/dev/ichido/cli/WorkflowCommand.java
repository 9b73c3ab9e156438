package dev.ichido.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.config.IchidoConfig;
import dev.ichido.decision.StateName;
import dev.ichido.inbox.OperationReader;
import dev.ichido.inbox.OperationSummary;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "workflow",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "show",
    description = "Looks at operations that are steps of one undertaking.",
    subcommands = WorkflowCommand.Show.class)
final class WorkflowCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE;
  }

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = {
        "Prints every step of a workflow with the state of its operation, in the order in which"
            + " they became known. Exit code 1 when no operation names that workflow.",
        "A step whose intent has not arrived is not known here. Publishing all steps again under"
            + " their own operation ids runs only what is not done."
      })
  static final class Show implements Callable<Integer> {
    private static final JsonMapper JSON = new JsonMapper();

    @Spec private CommandSpec spec = CommandSpec.create();
    @Mixin private final DatabaseAccess access = new DatabaseAccess();

    @Parameters(index = "0", paramLabel = "TENANT")
    private String tenant = "";

    @Parameters(index = "1", paramLabel = "WORKFLOW")
    private String workflow = "";

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Override
    public Integer call() {
      Output output = Output.of(spec);
      try (access) {
        List<OperationSummary> steps =
            new OperationReader(
                    access.open((IchidoConfig c) -> c.inbox().database(), "inbox.database"))
                .workflow(tenant, workflow);
        if (steps.isEmpty()) {
          throw CommandException.failed(
              "WORKFLOW_UNKNOWN",
              "Expected an operation of tenant "
                  + tenant
                  + " that names that workflow, but there is none. Check both, and that the intent"
                  + " carries workflow_id.",
              null);
        }
        if (json) {
          output.document(document(steps));
        } else {
          output.text(text(steps));
        }
        return ExitCode.HOLDS;
      }
    }

    private ObjectNode document(List<OperationSummary> steps) {
      ObjectNode document =
          JSON.createObjectNode()
              .put("tenant", tenant)
              .put("workflow_id", workflow)
              .put("done", done(steps))
              .put("of", steps.size());
      ObjectNode states = document.putObject("states");
      states(steps).forEach(states::put);
      ArrayNode array = document.putArray("steps");
      steps.forEach(step -> array.add(OperationDocuments.of(step)));
      return document;
    }

    private static String text(List<OperationSummary> steps) {
      StringBuilder text = new StringBuilder();
      for (OperationSummary step : steps) {
        text.append(
            "%-16s %-24s %s  %s%s%n"
                .formatted(
                    word(step.step()),
                    step.state(),
                    step.operationId(),
                    word(step.action()),
                    link(step)));
      }
      return text.append("%d of %d done%n".formatted(done(steps), steps.size())).toString();
    }

    private static String link(OperationSummary step) {
      return (step.compensates() == null ? "" : "  undoes " + step.compensates())
          + (step.compensatedBy() == null ? "" : "  undone by " + step.compensatedBy());
    }

    private static String word(@Nullable String text) {
      return text == null ? "-" : text;
    }

    private static long done(List<OperationSummary> steps) {
      return steps.stream().filter(it -> it.state().equals(StateName.SUCCEEDED.name())).count();
    }

    private static Map<String, Long> states(List<OperationSummary> steps) {
      return steps.stream()
          .collect(
              Collectors.groupingBy(OperationSummary::state, TreeMap::new, Collectors.counting()));
    }
  }
}
