package dev.ichido.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.config.IchidoConfig;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "publish",
    mixinStandardHelpOptions = true,
    description = {
      "Writes one intent into the outbox, as an agent runtime would, and prints its delivery id.",
      "Run it again with the same operation id and issued-at: it is a retry of the same operation."
    })
final class PublishCommand implements Callable<Integer> {
  private static final JsonMapper JSON = new JsonMapper();

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private final DatabaseAccess access = new DatabaseAccess();

  @Option(names = "--action", required = true, description = "An action of the policy.")
  private String action = "";

  @Option(
      names = "--operation-id",
      paramLabel = "ID",
      description =
          "The same over every retry: 16 to 255 of A-Z a-z 0-9 _ . : ~ -. Left out only for a read.")
  private @Nullable String operationId;

  @Option(names = "--tenant", defaultValue = "demo", description = "Default: ${DEFAULT-VALUE}.")
  private String tenant = "demo";

  @Option(
      names = "--principal",
      defaultValue = "agent:demo",
      description = "Default: ${DEFAULT-VALUE}.")
  private String principal = "agent:demo";

  @Option(names = "--scope", defaultValue = "global", description = "Default: ${DEFAULT-VALUE}.")
  private String scope = "global";

  @Option(
      names = "--arguments",
      defaultValue = "{}",
      paramLabel = "JSON",
      description = "Default: ${DEFAULT-VALUE}.")
  private String arguments = "{}";

  @Option(names = "--target", description = "What the action is done to.")
  private @Nullable String target;

  @Option(
      names = "--workflow",
      paramLabel = "WORKFLOW",
      description = "The workflow that the operation is a step of.")
  private @Nullable String workflow;

  @Option(names = "--step", description = "The step within the workflow.")
  private @Nullable String step;

  @Option(
      names = "--compensates",
      paramLabel = "ID",
      description = "Operation id of the operation that this one undoes.")
  private @Nullable String compensates;

  @Option(
      names = "--issued-at",
      paramLabel = "TIME",
      description =
          "When the operation was first issued, such as 2026-01-31T12:00:00Z; a retry keeps it."
              + " Default: now.")
  private @Nullable String issuedAt;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "0",
      description = "Wait for the last reply and print it. Default: do not wait.")
  private int wait;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @Override
  public Integer call() throws SQLException, InterruptedException {
    Output output = Output.of(spec);
    OutboxIntent.Builder intent =
        operationId == null ? OutboxIntent.read() : OutboxIntent.execute().operationId(operationId);
    intent
        .tenant(tenant)
        .principal(principal)
        .scope(scope)
        .action(action)
        .arguments(arguments)
        .target(target)
        .workflowId(workflow)
        .step(step)
        .compensates(compensates)
        .issuedAt(issuedAt());
    OutboxIntent built = intent.build();
    if (wait < 0) {
      throw CommandException.usage(
          "WAIT", "Expected 0 or more seconds for --wait, but there are fewer. Check it.");
    }
    try (access) {
      DataSource database = access.open((IchidoConfig c) -> c.outbox().database(), "outbox");
      String delivery;
      try (Connection connection = database.getConnection()) {
        connection.setAutoCommit(false);
        delivery = Outbox.publish(connection, built);
        connection.commit();
      }
      if (access.isAlone()) {
        output.progress("no stack runs on the folder; the intent is relayed at the next start");
      }
      Optional<InboxReply> reply =
          wait > 0 && !access.isAlone() ? reply(delivery, output) : Optional.empty();
      if (json) {
        output.document(
            reply
                .map(RepliesCommand::toJson)
                .orElseGet(() -> JSON.createObjectNode().put("delivery_id", delivery)));
      } else {
        output.text(
            reply
                    .map(r -> delivery + "  " + r.verdict() + "  " + r.state() + "  " + r.body())
                    .orElse(delivery)
                + "\n");
      }
      if (wait > 0 && reply.isEmpty()) {
        output.progress("no last reply within " + wait + " s");
        return ExitCode.DOES_NOT_HOLD;
      }
      return ExitCode.HOLDS;
    }
  }

  private Optional<InboxReply> reply(String delivery, Output output) throws InterruptedException {
    try {
      DataSource inbox = access.open((IchidoConfig c) -> c.inbox().database(), "inbox.database");
      return new InboxReader(inbox).awaitFinal(delivery, Duration.ofSeconds(wait));
    } catch (RuntimeException e) {
      output.progress("delivery " + delivery + " is committed; its reply can't be read");
      throw e;
    }
  }

  private Instant issuedAt() {
    if (issuedAt == null) {
      return Clock.systemUTC().instant();
    }
    try {
      return Instant.parse(issuedAt);
    } catch (DateTimeParseException e) {
      throw CommandException.usage(
          "ISSUED_AT",
          "Expected a time such as 2026-01-31T12:00:00Z, but --issued-at has another form. Check"
              + " it.",
          e);
    }
  }
}
