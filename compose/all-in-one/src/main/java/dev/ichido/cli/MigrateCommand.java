package dev.ichido.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.app.Migration;
import dev.ichido.config.IchidoConfig;
import dev.ichido.schemas.TopicAdmin;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "migrate",
    mixinStandardHelpOptions = true,
    description = {
      "Makes what has to be there before a role starts: tables, publication and replication slot of"
          + " the outbox, tables of executor and inbox, topics, schemas. May be run again; changes"
          + " nothing that is there."
    })
final class MigrateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(names = "--json", description = "Print what was done as one JSON document.")
  private boolean json;

  @Override
  public Integer call() {
    Output output = Output.of(spec);
    IchidoConfig loaded = config.load();
    Migration migration = new Migration(loaded);
    output.progress("outbox");
    String outbox = migration.outbox();
    output.progress("executor, inbox and gateway");
    migration.executor();
    migration.inbox();
    migration.gateway();
    output.progress("topics");
    TopicAdmin.Report topics = migration.topics();
    output.progress("schemas");
    int subjects = migration.schemas();
    boolean unsafe = topics.differences().stream().anyMatch(TopicAdmin.Difference::unsafe);
    topics.differences().forEach(difference -> output.progress(difference.toString()));
    if (json) {
      ObjectNode document = new JsonMapper().createObjectNode().put("outbox", outbox);
      topics.created().forEach(document.putArray("topics_created")::add);
      document.put("subjects", subjects);
      topics.differences().forEach(d -> document.withArray("/differences").add(d.toString()));
      output.document(document);
    } else {
      output.text(
          "outbox: %s%ntopics created: %s%nschemas: %d subjects%n"
              .formatted(outbox, String.join(", ", topics.created()), subjects));
    }
    return unsafe ? ExitCode.DOES_NOT_HOLD : ExitCode.HOLDS;
  }
}
