package dev.ichido.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyDescription;
import org.apache.kafka.streams.TopologyDescription.Node;
import org.apache.kafka.streams.TopologyDescription.Processor;
import org.apache.kafka.streams.TopologyDescription.Sink;
import org.apache.kafka.streams.TopologyDescription.Source;
import org.junit.jupiter.api.Test;

/** The drawn topology is the one that runs. */
class TopologyDocsTest {
  private static final String REGENERATE =
      "mvn -B test -pl processor/topology -am -Dtest=TopologyDocsTest"
          + " -Dsurefire.failIfNoSpecifiedTests=false -Dichido.docs.write=true";

  private static final Topics TOPICS = Topics.withDefaultPrefix();

  @Test
  void theTextIsNotStale() throws IOException {
    compare("topology.txt", describe().toString().stripTrailing() + "\n");
  }

  @Test
  void theDiagramIsNotStale() throws IOException {
    compare("topology.mmd", mermaid(describe()));
  }

  @Test
  void everyStoreAndInternalTopicHasANameOfItsOwn() {
    assertThat(describe().toString()).doesNotContain("KSTREAM-").doesNotContain("KTABLE-");
  }

  @Test
  void allThatIsReadWithTheResultsIsKnown() {
    List<Set<String>> read =
        describe().subtopologies().stream()
            .map(
                part ->
                    part.nodes().stream()
                        .filter(Source.class::isInstance)
                        .flatMap(it -> ((Source) it).topicSet().stream())
                        .collect(Collectors.toSet()))
            .filter(it -> it.contains(TOPICS.results()))
            .toList();
    Set<String> known =
        DedupTopology.readWithResults(TOPICS, "app").stream()
            .map(topic -> topic.replaceFirst("^app-", ""))
            .collect(Collectors.toSet());
    known.add(TOPICS.results());
    assertThat(read).containsExactly(known);
  }

  private static TopologyDescription describe() {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "ichido-processor");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:0");
    properties.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, "true");
    Topology topology =
        new DedupTopology(
                TOPICS,
                RecordSerdes.from(Map.of("schema.registry.url", "http://none:0")),
                () -> new PolicySet(Map.of(), Map.of()),
                new SimpleMeterRegistry())
            .build(properties);
    return topology.describe();
  }

  private static String mermaid(TopologyDescription description) {
    StringJoiner text = new StringJoiner("\n", "", "\n");
    text.add("%% Generated from the topology. Do not edit.").add("flowchart LR");
    for (TopologyDescription.Subtopology part : description.subtopologies()) {
      text.add("  subgraph part" + part.id());
      for (Node node : part.nodes()) {
        text.add("    " + box(node));
      }
      text.add("  end");
    }
    for (TopologyDescription.Subtopology part : description.subtopologies()) {
      for (Node node : part.nodes()) {
        switch (node) {
          case Source it ->
              it.topicSet().stream()
                  .sorted()
                  .forEach(topic -> text.add("  " + topic(topic) + " --> " + id(node)));
          case Sink it -> text.add("  " + id(node) + " --> " + topic(it.topic()));
          case Processor it ->
              it.stores().stream()
                  .sorted()
                  .forEach(
                      store ->
                          text.add("  %s --- store-%s[(%s)]".formatted(id(node), store, store)));
          default -> throw new AssertionError("Expected a known kind of node.");
        }
        node.successors().stream()
            .map(TopologyDocsTest::id)
            .sorted()
            .forEach(next -> text.add("  " + id(node) + " --> " + next));
      }
    }
    return text.toString();
  }

  private static String box(Node node) {
    return "%s[%s]".formatted(id(node), node.name());
  }

  private static String topic(String name) {
    return "topic-%s([%s])".formatted(name.replace('.', '-'), name);
  }

  private static String id(Node node) {
    return "node-" + node.name();
  }

  private static void compare(String name, String generated) throws IOException {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(folder.resolve(".mvn"))) {
      folder = folder.getParent();
      if (folder == null) {
        throw new AssertionError(
            "Expected to run inside the repository. Check the working folder.");
      }
    }
    Path file = folder.resolve("topology-docs").resolve(name);
    if (Boolean.getBoolean("ichido.docs.write")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, generated);
    }
    String kept = Files.exists(file) ? Files.readString(file) : "";
    assertThat(kept)
        .as(
            "Expected topology-docs/%s as the code has it, but it is stale. Run: %s",
            name, REGENERATE)
        .isEqualTo(generated);
  }
}
