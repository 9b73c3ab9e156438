package dev.ichido.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.config.IchidoConfig;
import dev.ichido.decision.StateName;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "operation",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "show|list|resolve",
    description =
        "Looks at operations as the runtime knows them, and settles what only a person can.",
    subcommands = {
      OperationCommand.Show.class,
      OperationCommand.Listing.class,
      ResolveCommand.class
    })
final class OperationCommand implements Callable<Integer> {
  private static final JsonMapper JSON = new JsonMapper();
  private static final List<String> LISTS = List.of("attempts", "replies");

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE;
  }

  private static OperationTables tables(DatabaseAccess access) {
    return new OperationTables(
        access.open((IchidoConfig c) -> c.inbox().database(), "inbox.database"));
  }

  private static ArrayNode array(List<ObjectNode> nodes) {
    return JSON.createArrayNode().addAll(nodes);
  }

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = {
        "Prints one operation: its state, every attempt with its claim and recorded result, every"
            + " reply. Exit code 1 when the runtime knows none of that id.",
        "The attempts are there when the executor's tables are in the inbox's database."
      })
  static final class Show implements Callable<Integer> {
    @Spec private CommandSpec spec = CommandSpec.create();
    @Mixin private final DatabaseAccess access = new DatabaseAccess();

    @Parameters(index = "0", paramLabel = "TENANT")
    private String tenant = "";

    @Parameters(index = "1", paramLabel = "OPERATION")
    private String id = "";

    @Option(names = "--scope", defaultValue = "global", description = "Default: ${DEFAULT-VALUE}.")
    private String scope = "global";

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Override
    public Integer call() throws SQLException {
      Output output = Output.of(spec);
      try (access) {
        OperationTables tables = tables(access);
        ObjectNode operation =
            tables
                .find(tenant, scope, id)
                .orElseThrow(
                    () ->
                        CommandException.failed(
                            "OPERATION_UNKNOWN",
                            "Expected a reply about that operation in the inbox of tenant "
                                + tenant
                                + " and scope "
                                + scope
                                + ", but there is none. Check id, tenant and scope.",
                            null));
        Optional<List<ObjectNode>> attempts = tables.attempts(tenant, scope, id);
        operation.set("attempts", attempts.map(it -> (JsonNode) array(it)).orElse(null));
        operation.set("replies", array(tables.replies(tenant, scope, id)));
        if (json) {
          output.document(operation);
        } else {
          output.text(text(operation));
        }
        return ExitCode.HOLDS;
      }
    }

    private static String text(ObjectNode operation) {
      StringBuilder text = new StringBuilder();
      for (var member : operation.properties()) {
        if (!LISTS.contains(member.getKey())) {
          text.append("%-17s %s%n".formatted(member.getKey(), word(member.getValue())));
        }
      }
      for (JsonNode it : operation.path("attempts")) {
        text.append(
            "attempt %-9s %s by %s, started %s, deadline %s%n"
                .formatted(
                    it.path("attempt").asText(),
                    it.path("kind").asText(),
                    it.path("owner").asText(),
                    it.path("started_at").asText(),
                    word(it.path("deadline"))));
        text.append(
            it.path("outcome").isNull()
                ? "                  no result recorded%n".formatted()
                : "                  %s, reason %s, status %s, reference %s, recorded %s%n"
                    .formatted(
                        it.path("outcome").asText(),
                        word(it.path("reason")),
                        word(it.path("remote_status")),
                        word(it.path("remote_reference")),
                        it.path("recorded_at").asText()));
      }
      for (JsonNode it : operation.path("replies")) {
        text.append(
            "reply             %s  %s  %s  %s%s%n"
                .formatted(
                    it.path("decided_at").asText(),
                    it.path("verdict").asText(),
                    word(it.path("state")),
                    it.path("delivery_id").asText(),
                    it.path("final").asBoolean() ? "  final" : ""));
      }
      return text.toString();
    }

    private static String word(JsonNode value) {
      return value.isNull() || value.isMissingNode() ? "-" : value.asText();
    }
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description =
          "Prints the operations in the state that the runtime was last told, latest first.")
  static final class Listing implements Callable<Integer> {
    @Spec private CommandSpec spec = CommandSpec.create();
    @Mixin private final DatabaseAccess access = new DatabaseAccess();

    @Option(
        names = "--state",
        paramLabel = "STATE",
        description = "Only those of a state, such as UNKNOWN_RECONCILIATION.")
    private @Nullable StateName state;

    @Option(names = "--tenant", paramLabel = "T", description = "Only those of a tenant.")
    private @Nullable String tenant;

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Override
    public Integer call() throws SQLException {
      Output output = Output.of(spec);
      try (access) {
        List<ObjectNode> found = tables(access).list(state == null ? null : state.name(), tenant);
        if (json) {
          output.document(array(found));
        } else {
          found.forEach(operation -> output.text(line(operation)));
        }
        return ExitCode.HOLDS;
      }
    }

    private static String line(ObjectNode operation) {
      return "%-24s %-10s %s %s%n"
          .formatted(
              operation.path("state").asText(),
              operation.path("tenant").asText(),
              operation.path("operation_id").asText(),
              operation.path("remote_reference").asText("-"));
    }
  }
}
