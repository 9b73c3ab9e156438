package dev.ichido.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.config.IchidoConfig;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "replies",
    mixinStandardHelpOptions = true,
    description = "Prints what the runtime was told, oldest first, from the inbox table.")
final class RepliesCommand implements Callable<Integer> {
  private static final int PAGE = 500;
  private static final JsonMapper JSON = new JsonMapper();

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private final DatabaseAccess access = new DatabaseAccess();

  @Option(names = "--follow", description = "Wait for more until Ctrl-C.")
  private boolean follow;

  @Option(names = "--operation-id", paramLabel = "ID", description = "Only those of an operation.")
  private @Nullable String operationId;

  @Option(
      names = "--json",
      description = "One JSON document; with --follow one JSON object a line.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    Output output = Output.of(spec);
    Shutdown.guard(Thread.currentThread());
    ArrayNode document = JSON.createArrayNode();
    try (access) {
      InboxReader inbox =
          new InboxReader(access.open((IchidoConfig c) -> c.inbox().database(), "inbox.database"));
      long cursor = 0;
      while (true) {
        List<InboxReply> page =
            follow
                ? inbox.awaitAfter(cursor, PAGE, Duration.ofSeconds(1))
                : inbox.listAfter(cursor, PAGE);
        for (InboxReply reply : page) {
          cursor = reply.seq();
          if (operationId == null || Objects.equals(operationId, reply.operationId())) {
            print(output, document, reply);
          }
        }
        if (page.isEmpty() && !follow) {
          break;
        }
      }
    } catch (InterruptedException e) {
      if (!Shutdown.isAsked()) {
        throw e;
      }
    }
    if (json && !follow) {
      output.document(document);
    }
    return ExitCode.HOLDS;
  }

  private void print(Output output, ArrayNode document, InboxReply reply) {
    if (!json) {
      output.text(
          "%s  %-22s %-22s %-10s %s %s%n"
              .formatted(
                  reply.decidedAt(),
                  reply.verdict(),
                  reply.state() == null ? "-" : reply.state(),
                  reply.marker() == null ? "-" : reply.marker(),
                  reply.operationId() == null ? "-" : reply.operationId(),
                  reply.body() == null ? "" : reply.body()));
    } else if (follow) {
      output.text(toJson(reply) + "\n");
    } else {
      document.add(toJson(reply));
    }
  }

  static ObjectNode toJson(InboxReply reply) {
    return JSON.createObjectNode()
        .put("seq", reply.seq())
        .put("tenant", reply.tenant())
        .put("scope", reply.scope())
        .put("operation_id", reply.operationId())
        .put("delivery_id", reply.deliveryId())
        .put("verdict", reply.verdict())
        .put("code", reply.code())
        .put("detail", reply.detail())
        .put("state", reply.state())
        .put("attempt", reply.attempt())
        .put("revision", reply.revision())
        .put("final", reply.isFinal())
        .put("marker", reply.marker())
        .put("remote_reference", reply.remoteReference())
        .put("body", reply.body())
        .put("body_sha256", reply.bodySha256())
        .put("conflict", reply.conflict())
        .put("decided_at", reply.decidedAt().toString());
  }
}
