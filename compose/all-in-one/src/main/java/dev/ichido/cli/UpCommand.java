package dev.ichido.cli;

import dev.ichido.app.DevelopmentTokens;
import dev.ichido.app.Endpoints;
import dev.ichido.app.LivePolicy;
import dev.ichido.app.Stack;
import dev.ichido.demo.DemoSetup;
import dev.ichido.embedded.DataFolder;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "up",
    mixinStandardHelpOptions = true,
    description = {
      "Starts the embedded stack and stays up until Ctrl-C: PostgreSQL, Kafka, a schema registry,"
          + " relay, processor, executor, inbox and HTTP door in one process.",
      "Without --config there is a tenant \"demo\" with the principal \"agent:demo\" and two actions"
          + " of a built-in remote: demo.note (a write) and demo.look (a read)."
    })
final class UpCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOption data = new DataOption();
  @Mixin private PortOptions ports = new PortOptions();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "Tenants, actions and tuning; where the servers are is decided by the stack itself.")
  private @Nullable Path config;

  @Option(names = "--json", description = "Print the endpoints as one JSON document.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    Output output = Output.of(spec);
    Shutdown.guard(Thread.currentThread());
    long start = System.nanoTime();
    try (DataFolder folder = DataFolder.open(data.folder());
        DemoSetup remote = DemoSetup.open(folder);
        LivePolicy policy =
            config == null ? LivePolicy.fixed(remote.gettingStarted()) : LivePolicy.of(config);
        Stack stack = Stack.start(folder, ports.ports(), policy, output::progress)) {
      output.progress("all up after %.1f s".formatted((System.nanoTime() - start) / 1e9));
      if (json) {
        output.document(stack.endpoints().toJson());
      } else {
        output.text(howToConnect(stack, folder.path(), config == null));
      }
      stack.awaitFailure();
      return ExitCode.HOLDS;
    } catch (InterruptedException e) {
      if (Shutdown.isAsked()) {
        output.progress("stopped; the data is kept in " + data.folder());
        return ExitCode.HOLDS;
      }
      throw e;
    }
  }

  private static String howToConnect(Stack stack, Path folder, boolean builtIn) {
    Endpoints at = stack.endpoints();
    String address = at.databaseUrl().substring("jdbc:postgresql://".length());
    StringBuilder text = new StringBuilder();
    text.append("Kafka            ").append(at.bootstrapServers()).append('\n');
    text.append("PostgreSQL       ").append(at.databaseUrl()).append('\n');
    text.append("  user           ").append(at.databaseUser()).append('\n');
    text.append("  password       in ").append(folder.resolve("postgres/password")).append('\n');
    text.append("  psql           PGPASSWORD=\"$(cat '")
        .append(folder.resolve("postgres/password"))
        .append("')\" psql -h ")
        .append(address, 0, address.indexOf(':'))
        .append(" -p ")
        .append(address, address.indexOf(':') + 1, address.indexOf('/'))
        .append(" -U ")
        .append(at.databaseUser())
        .append(' ')
        .append(address.substring(address.indexOf('/') + 1))
        .append('\n');
    text.append("Schema registry  ").append(at.registryUrl()).append('\n');
    text.append("HTTP door        ").append(at.gatewayUrl()).append('\n');
    text.append("  tokens         in ").append(folder.resolve(DevelopmentTokens.FILE)).append('\n');
    text.append("Health, metrics  ")
        .append(at.httpUrl())
        .append("/health, ")
        .append(at.httpUrl())
        .append("/metrics\n");
    if (builtIn) {
      text.append(
          """

          Publish an intent from psql:
            select ichido.publish_intent(tenant => 'demo', principal => 'agent:demo', action => 'demo.note',
                                         operation_id => 'my-first-operation-1', issued_at => now(),
                                         arguments => '{"text":"hello"}');
          or from here:  ./ichido publish --action demo.note --operation-id my-first-operation-1 --arguments '{"text":"hello"}'
          Read replies:  ./ichido replies --follow
          """);
    }
    text.append("\nCtrl-C stops it; the data is kept.\n");
    return text.toString();
  }
}
