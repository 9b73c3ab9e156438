package dev.ichido.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.config.IchidoConfig;
import dev.ichido.decision.StateName;
import dev.ichido.inbox.OperationFilter;
import dev.ichido.inbox.OperationReader;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
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
  private static final List<String> LISTS = List.of("attempts", "events", "replies");

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE;
  }

  private static DataSource inbox(DatabaseAccess access) {
    return access.open((IchidoConfig c) -> c.inbox().database(), "inbox.database");
  }

  private static ArrayNode array(List<ObjectNode> nodes) {
    return JSON.createArrayNode().addAll(nodes);
  }

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = {
        "Prints one operation: who asked for what, its state and deadlines; every attempt with its"
            + " claim and recorded result; every decision with what was reported, read or settled;"
            + " every reply. Exit code 1 when none of that id is known.",
        "With --config, attempts are read from executor.database, and left out where there is none."
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
        DataSource inbox = inbox(access);
        OperationReader operations = new OperationReader(inbox);
        OperationTables tables =
            new OperationTables(
                inbox, access.find((IchidoConfig c) -> c.executor().database(), "ichido.claim"));
        ObjectNode operation =
            operations
                .find(tenant, scope, id)
                .map(OperationDocuments::of)
                .orElseThrow(
                    () ->
                        CommandException.failed(
                            "OPERATION_UNKNOWN",
                            "Expected an operation of tenant "
                                + tenant
                                + " and scope "
                                + scope
                                + " in the journal, but there is none. Check id, tenant and scope;"
                                + " what was refused is in the replies and the dead letters.",
                            null));
        tables.result(tenant, scope, id).ifPresent(operation::setAll);
        Optional<List<ObjectNode>> attempts = tables.attempts(tenant, scope, id);
        operation.set("attempts", attempts.map(it -> (JsonNode) array(it)).orElse(null));
        operation.set(
            "events",
            array(
                operations.timeline(tenant, scope, id).stream()
                    .map(OperationDocuments::of)
                    .toList()));
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
        if (!LISTS.contains(member.getKey()) && !member.getValue().isNull()) {
          text.append("%-19s %s%n".formatted(member.getKey(), word(member.getValue())));
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
      for (JsonNode it : operation.path("events")) {
        text.append(
            "event             %s  %-23s %s%s  %s%n"
                .formatted(
                    it.path("at").asText(),
                    it.path("event").asText(),
                    it.path("verdict").asText(),
                    optional(it.path("code")),
                    it.path("state_after").asText()));
        String said =
            optional(it.path("reported"))
                + optional(it.path("reason"))
                + optional(it.path("other_reference"))
                + optional(it.path("by"))
                + optional(it.path("evidence"));
        if (!said.isEmpty()) {
          text.append("                 %s%n".formatted(said));
        }
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

    private static String optional(JsonNode value) {
      return value.isNull() ? "" : " " + value.asText();
    }

    private static String word(JsonNode value) {
      return value.isNull() || value.isMissingNode() ? "-" : value.asText();
    }
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description =
          "Prints operations in the state that the journal tells, the latest known first. Give the"
              + " seq of the last one as --before to read on.")
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

    @Option(names = "--action", paramLabel = "A", description = "Only those of an action.")
    private @Nullable String action;

    @Option(
        names = "--limit",
        paramLabel = "N",
        defaultValue = "1000",
        description = "At most as many. Default: ${DEFAULT-VALUE}.")
    private int limit;

    @Option(names = "--before", paramLabel = "SEQ", description = "Only those known before it.")
    private long before = Long.MAX_VALUE;

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Override
    public Integer call() {
      Output output = Output.of(spec);
      CommandException.requireRange("--limit", limit, 1, 1_000_000);
      OperationFilter filter =
          new OperationFilter(tenant, state == null ? null : state.name(), action, null);
      try (access) {
        List<ObjectNode> found =
            new OperationReader(inbox(access))
                .list(filter, before, limit).stream().map(OperationDocuments::of).toList();
        if (json) {
          output.document(array(found));
        } else {
          found.forEach(operation -> output.text(line(operation)));
        }
        return ExitCode.HOLDS;
      }
    }

    private static String line(ObjectNode operation) {
      return "%-24s %-24s %-10s %s%n"
          .formatted(
              operation.path("state").asText(),
              operation.path("state_since").asText("-"),
              operation.path("tenant").asText(),
              operation.path("operation_id").asText());
    }
  }
}
