package dev.ichido.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.config.IchidoConfig;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "operation",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "show|list",
    description = "Looks at operations as the runtime knows them.",
    subcommands = {OperationCommand.Show.class, OperationCommand.Listing.class})
final class OperationCommand implements Callable<Integer> {
  private static final JsonMapper JSON = new JsonMapper();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE;
  }

  private static List<ObjectNode> query(DataSource database, String where, String... values)
      throws SQLException {
    String sql =
        "select tenant, scope, operation_id, state, revision, remote_reference, body, body_sha256,"
            + " original_at::text, conflict, updated_at::text from ichido.inbox_operation "
            + where;
    try (Connection connection = database.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setString(i + 1, values[i]);
      }
      List<ObjectNode> found = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          boolean conflict = row.getBoolean("conflict");
          found.add(
              JSON.createObjectNode()
                  .put("tenant", row.getString("tenant"))
                  .put("scope", row.getString("scope"))
                  .put("operation_id", row.getString("operation_id"))
                  .put("state", row.getString("state"))
                  .put("revision", row.getLong("revision"))
                  .put("remote_reference", conflict ? null : row.getString("remote_reference"))
                  .put("body", conflict ? null : row.getString("body"))
                  .put("body_sha256", conflict ? null : row.getString("body_sha256"))
                  .put("settled_at", row.getString("original_at"))
                  .put("conflict", conflict)
                  .put("updated_at", row.getString("updated_at")));
        }
      }
      return found;
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

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = "Prints one operation; exit code 1 when the runtime knows none of that id.")
  static final class Show implements Callable<Integer> {
    @Spec private CommandSpec spec = CommandSpec.create();
    @Mixin private final DatabaseAccess access = new DatabaseAccess();

    @Parameters(paramLabel = "OPERATION_ID")
    private String id = "";

    @Option(names = "--tenant", defaultValue = "demo", description = "Default: ${DEFAULT-VALUE}.")
    private String tenant = "demo";

    @Option(names = "--scope", defaultValue = "global", description = "Default: ${DEFAULT-VALUE}.")
    private String scope = "global";

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Override
    public Integer call() throws SQLException {
      Output output = Output.of(spec);
      try (access) {
        List<ObjectNode> found =
            query(
                access.open((IchidoConfig c) -> c.inbox().database(), "inbox.database"),
                "where tenant = ? and scope = ? and operation_id = ?",
                tenant,
                scope,
                id);
        if (found.isEmpty()) {
          throw CommandException.failed(
              "OPERATION_UNKNOWN",
              "Expected a reply about that operation in the inbox of tenant "
                  + tenant
                  + " and scope "
                  + scope
                  + ", but there is none. Check id, tenant and scope.",
              null);
        }
        if (json) {
          output.document(found.getFirst());
        } else {
          found
              .getFirst()
              .properties()
              .forEach(
                  member ->
                      output.text(
                          "%-17s %s%n".formatted(member.getKey(), member.getValue().asText())));
        }
        return ExitCode.HOLDS;
      }
    }
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Prints the operations that the runtime was told about, latest first.")
  static final class Listing implements Callable<Integer> {
    @Spec private CommandSpec spec = CommandSpec.create();
    @Mixin private final DatabaseAccess access = new DatabaseAccess();

    @Option(
        names = "--state",
        defaultValue = "%",
        description = "Only those of a state, such as UNKNOWN_RECONCILIATION.")
    private String state = "%";

    @Option(names = "--json", description = "Print one JSON document.")
    private boolean json;

    @Override
    public Integer call() throws SQLException {
      Output output = Output.of(spec);
      try (access) {
        List<ObjectNode> found =
            query(
                access.open((IchidoConfig c) -> c.inbox().database(), "inbox.database"),
                "where state like ? order by updated_at desc, operation_id limit 1000",
                state);
        if (json) {
          ArrayNode document = JSON.createArrayNode();
          found.forEach(document::add);
          output.document(document);
        } else {
          found.forEach(operation -> output.text(line(operation)));
        }
        return ExitCode.HOLDS;
      }
    }
  }
}
