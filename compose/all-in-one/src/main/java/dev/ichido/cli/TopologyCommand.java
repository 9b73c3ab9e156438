package dev.ichido.cli;

import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.topology.DedupTopology;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "topology",
    mixinStandardHelpOptions = true,
    description = "Prints the described Kafka Streams topology of the processor.")
final class TopologyCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--prefix",
      defaultValue = Topics.DEFAULT_PREFIX,
      description = "Prefix of the topics (default: ${DEFAULT-VALUE}).")
  private String prefix = Topics.DEFAULT_PREFIX;

  @Override
  public Integer call() {
    Properties properties = new Properties();
    properties.put("application.id", "ichido-processor");
    properties.put("bootstrap.servers", "127.0.0.1:1");
    PolicySet none = new PolicySet(Map.of(), Map.of());
    Output.of(spec)
        .text(
            new DedupTopology(
                    new Topics(prefix),
                    RecordSerdes.from(Map.of("schema.registry.url", "http://127.0.0.1:1")),
                    () -> none,
                    new SimpleMeterRegistry())
                .build(properties)
                .describe()
                .toString());
    return ExitCode.HOLDS;
  }
}
