package dev.ichido.topology;

import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.topology.metrics.VerdictMeters;
import dev.ichido.topology.operation.OperationProcessor;
import dev.ichido.topology.operation.OperationProcessor.Wiring;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.store.ProcessorStores;
import dev.ichido.topology.wire.EffectMapper;
import dev.ichido.topology.wire.IntentMapper;
import dev.ichido.topology.wire.ResultMapper;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Properties;
import java.util.function.Supplier;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.state.StoreBuilder;

/**
 * The topology around the decision: intents and results in, commands, replies and the journal out.
 * All records of an operation carry one key, so one sub-topology owns it and nothing is
 * repartitioned.
 */
public final class DedupTopology {
  private final Topics topics;
  private final RecordSerdes serdes;
  private final Supplier<PolicySet> policies;
  private final VerdictMeters meters;
  private Duration sweepEvery = Duration.ofMillis(100);
  private int sweepBatch = 500;
  private int inlineBodyBytes = 64 * 1024;

  public DedupTopology(
      Topics topics, RecordSerdes serdes, Supplier<PolicySet> policies, MeterRegistry meters) {
    this.topics = topics;
    this.serdes = serdes;
    this.policies = policies;
    this.meters = new VerdictMeters(meters);
  }

  /** How often due deadlines are looked for, and how many are taken at a time. */
  public DedupTopology withSweep(Duration every, int batch) {
    this.sweepEvery = every;
    this.sweepBatch = batch;
    return this;
  }

  /** Up to how many UTF-8 bytes a result body is kept in the ledger. */
  public DedupTopology withInlineBodyBytes(int bytes) {
    this.inlineBodyBytes = bytes;
    return this;
  }

  /** The topology under the properties it will run with. */
  public Topology build(Properties properties) {
    Topology topology = new Topology(new TopologyConfig(new StreamsConfig(properties)));
    ByteArrayDeserializer bytes = new ByteArrayDeserializer();
    topology.addSource(NodeNames.INTENTS, bytes, bytes, topics.intents());
    topology.addSource(NodeNames.RESULTS, bytes, bytes, topics.results());
    // Every task has its own mappers: serializers are not made to be shared by threads.
    topology.addProcessor(
        NodeNames.OPERATIONS,
        () -> new OperationProcessor(wiring()),
        NodeNames.INTENTS,
        NodeNames.RESULTS);
    for (StoreBuilder<?> store : ProcessorStores.builders()) {
      topology.addStateStore(store, NodeNames.OPERATIONS);
    }
    sink(topology, NodeNames.COMMANDS, topics.commands());
    sink(topology, NodeNames.REPLIES, topics.replies());
    sink(topology, NodeNames.JOURNAL, topics.journal());
    sink(topology, NodeNames.DEAD_LETTERS, topics.deadLetters());
    return topology;
  }

  private Wiring wiring() {
    return new Wiring(
        topics.intents(),
        policies,
        new IntentMapper(serdes),
        new ResultMapper(serdes, inlineBodyBytes),
        new EffectMapper(topics, serdes),
        meters,
        sweepEvery,
        sweepBatch);
  }

  private static void sink(Topology topology, String node, String topic) {
    ByteArraySerializer bytes = new ByteArraySerializer();
    topology.addSink(node, topic, bytes, bytes, NodeNames.OPERATIONS);
  }
}
