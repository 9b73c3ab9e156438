package dev.ichido.simulation;

import dev.ichido.conformance.LocalAvro;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.topology.DedupTopology;
import dev.ichido.topology.operation.Hearing;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyDescription;
import org.apache.kafka.streams.TopologyDescription.Node;
import org.apache.kafka.streams.TopologyDescription.Sink;
import org.apache.kafka.streams.TopologyDescription.Source;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorSupplier;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.ProcessorWrapper;
import org.apache.kafka.streams.processor.api.WrappedFixedKeyProcessorSupplier;
import org.apache.kafka.streams.processor.api.WrappedProcessorSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The graph of the shipped topology, as Kafka Streams describes it, with the suppliers of its
 * processors.
 */
final class ShippedGraph {
  /** One deadline a sweep, as in the model. */
  private static final int SWEEP_BATCH = 1;

  static final Duration SWEEP_EVERY = Duration.ofMillis(1);

  final Topics topics = Topics.withDefaultPrefix();
  final RecordSerdes serdes = LocalAvro.serdes();
  private final Map<String, ProcessorSupplier<?, ?, ?, ?>> suppliers = new HashMap<>();
  private final Map<String, Node> nodes = new HashMap<>();
  private final Map<String, Node> sources = new HashMap<>();
  private Instant heardUntil = Instant.MIN;

  /** Is told of every processor of a topology when it is built. */
  public static final class Capture implements ProcessorWrapper {
    private static final String INTO = "simulation.capture.into";

    private Map<String, ProcessorSupplier<?, ?, ?, ?>> into = Map.of();

    @Override
    @SuppressWarnings("unchecked") // It is what was given below.
    public void configure(Map<String, ?> configs) {
      into = (Map<String, ProcessorSupplier<?, ?, ?, ?>>) Objects.requireNonNull(configs.get(INTO));
    }

    @Override
    public <K, V, L, W> WrappedProcessorSupplier<K, V, L, W> wrapProcessorSupplier(
        String name, ProcessorSupplier<K, V, L, W> supplier) {
      into.put(name, supplier);
      return ProcessorWrapper.asWrapped(supplier);
    }

    @Override
    public <K, V, W> WrappedFixedKeyProcessorSupplier<K, V, W> wrapFixedKeyProcessorSupplier(
        String name, FixedKeyProcessorSupplier<K, V, W> supplier) {
      return ProcessorWrapper.asWrappedFixedKey(supplier);
    }
  }

  ShippedGraph(PolicySet policies) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "simulation");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:0");
    properties.put(StreamsConfig.PROCESSOR_WRAPPER_CLASS_CONFIG, Capture.class);
    properties.put(Capture.INTO, suppliers);
    TopologyDescription description =
        new DedupTopology(topics, serdes, () -> policies, new SimpleMeterRegistry())
            .withSweep(SWEEP_EVERY, SWEEP_BATCH)
            .withHearing(
                new Hearing() {
                  @Override
                  public Instant heardUntil(int partition, Instant now) {
                    return heardUntil.isBefore(now) ? heardUntil : now;
                  }

                  @Override
                  public void listen(int partition, Instant now) {
                    // What is heard is said by the model.
                  }
                })
            .build(properties)
            .describe();
    for (TopologyDescription.Subtopology part : description.subtopologies()) {
      for (Node node : part.nodes()) {
        nodes.put(node.name(), node);
        if (node instanceof Source source) {
          source.topicSet().forEach(topic -> sources.put(topic, node));
        }
      }
    }
  }

  void hear(Instant until) {
    heardUntil = until;
  }

  /** Names of the shipped processors; those that Kafka Streams adds are not among them. */
  Set<String> processors() {
    return suppliers.keySet();
  }

  @SuppressWarnings("unchecked") // The topology is one of bytes.
  Processor<byte[], byte[], byte[], byte[]> newProcessor(String name) {
    ProcessorSupplier<?, ?, ?, ?> supplier = Objects.requireNonNull(suppliers.get(name), name);
    return (Processor<byte[], byte[], byte[], byte[]>) supplier.get();
  }

  /** The stores that a processor is connected to. */
  Set<String> stores(String processor) {
    return nodes.get(processor) instanceof TopologyDescription.Processor it
        ? it.stores()
        : Set.of();
  }

  /** Where records of a topic go. */
  Set<Node> readers(String topic) {
    Node source = Objects.requireNonNull(sources.get(topic), topic);
    return source.successors();
  }

  /**
   * The topic that a processor writes to under the name of a child; null when that is a processor.
   */
  @Nullable String sink(String processor, String child) {
    Node from = Objects.requireNonNull(nodes.get(processor), processor);
    for (Node node : from.successors()) {
      if (node.name().equals(child)) {
        return node instanceof Sink sink ? sink.topic() : null;
      }
    }
    throw new IllegalStateException(processor + " has no child " + child);
  }

  /** Names of what follows a processor. */
  Set<String> children(String processor) {
    Set<String> names = new HashSet<>();
    Objects.requireNonNull(nodes.get(processor), processor)
        .successors()
        .forEach(it -> names.add(it.name()));
    return names;
  }
}
