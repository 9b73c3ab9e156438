package dev.ichido.topology;

import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.topology.metrics.VerdictMeters;
import dev.ichido.topology.operation.Hearing;
import dev.ichido.topology.operation.IntentGate;
import dev.ichido.topology.operation.OperationProcessor;
import dev.ichido.topology.operation.OperationProcessor.Wiring;
import dev.ichido.topology.operation.SuspectProcessor;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.store.ProcessorStores;
import dev.ichido.topology.wire.EffectMapper;
import dev.ichido.topology.wire.IntentMapper;
import dev.ichido.topology.wire.ResultMapper;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;

/**
 * The topology around the decision: intents and results in, commands, replies and the journal out.
 * All records of an operation carry one key, so one sub-topology owns it. Only intents of actions
 * with {@code remint: hold} take a detour by their meaning, over a sub-topology that owns meanings.
 */
public final class DedupTopology {
  private final Topics topics;
  private final RecordSerdes serdes;
  private final Supplier<PolicySet> policies;
  private final VerdictMeters meters;
  private Hearing hearing = Hearing.IMMEDIATE;
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

  /** How it is known that nothing which was sent is still to be read. */
  public DedupTopology withHearing(Hearing howFar) {
    this.hearing = howFar;
    return this;
  }

  /** Up to how many UTF-8 bytes a result body is kept in the ledger. */
  public DedupTopology withInlineBodyBytes(int bytes) {
    this.inlineBodyBytes = bytes;
    return this;
  }

  /** The topology under the properties it will run with. */
  public Topology build(Properties properties) {
    Topology topology = detour(new TopologyConfig(new StreamsConfig(properties)));
    ByteArrayDeserializer bytes = new ByteArrayDeserializer();
    topology.addSource(NodeNames.RESULTS, bytes, bytes, topics.results());
    // Every task has its own mappers: serializers are not made to be shared by threads.
    topology.addProcessor(
        NodeNames.OPERATIONS,
        () -> new OperationProcessor(wiring()),
        NodeNames.GATE,
        NodeNames.RESULTS,
        internal(NodeNames.CHECKED_INTENTS) + "-source",
        internal(NodeNames.COMPENSATIONS) + "-source");
    for (StoreBuilder<?> store : ProcessorStores.builders()) {
      topology.addStateStore(store, NodeNames.OPERATIONS);
    }
    sink(topology, NodeNames.COMMANDS, topics.commands(), NodeNames.OPERATIONS);
    sink(topology, NodeNames.REPLIES, topics.replies(), NodeNames.OPERATIONS);
    sink(topology, NodeNames.JOURNAL, topics.journal(), NodeNames.OPERATIONS);
    sink(topology, NodeNames.DEAD_LETTERS, topics.deadLetters(), NodeNames.OPERATIONS);
    sink(
        topology,
        NodeNames.COMPENSATION_MAIL,
        internal(NodeNames.COMPENSATIONS),
        NodeNames.OPERATIONS);
    sink(topology, NodeNames.SUSPECT_NEWS, internal(NodeNames.SUSPECTS), NodeNames.OPERATIONS);
    sink(topology, NodeNames.SUSPECT_JOURNAL, topics.journal(), NodeNames.SUSPECTS);
    return topology;
  }

  /**
   * The way of an intent to the operations, and the detour past the index of meanings. It is built
   * from streams, since only they make internal topics; the operations are hung into it.
   */
  private Topology detour(TopologyConfig config) {
    Serde<byte[]> bytes = Serdes.ByteArray();
    StreamsBuilder builder = new StreamsBuilder(config);
    KStream<byte[], byte[]> gate =
        builder.stream(topics.intents(), Consumed.with(bytes, bytes).withName(NodeNames.INTENTS))
            .process(
                () ->
                    new IntentGate(
                        policies,
                        new IntentMapper(serdes),
                        internal(NodeNames.SUSPECTS) + "-filter"),
                Named.as(NodeNames.GATE));
    var unusedChecked =
        gate.repartition(Repartitioned.with(bytes, bytes).withName(NodeNames.SUSPECTS))
            .process(suspects(), Named.as(NodeNames.SUSPECTS))
            .repartition(Repartitioned.with(bytes, bytes).withName(NodeNames.CHECKED_INTENTS));
    // What operations tell each other goes by their keys, like everything about them.
    var unusedMail =
        gate.repartition(Repartitioned.with(bytes, bytes).withName(NodeNames.COMPENSATIONS));
    return builder.build();
  }

  private ProcessorSupplier<byte[], byte[], byte[], byte[]> suspects() {
    return new ProcessorSupplier<>() {
      @Override
      public Processor<byte[], byte[], byte[], byte[]> get() {
        return new SuspectProcessor(
            policies,
            new EffectMapper(topics, serdes),
            internal(NodeNames.CHECKED_INTENTS) + "-filter");
      }

      @Override
      public Set<StoreBuilder<?>> stores() {
        return Set.of(ProcessorStores.suspectBuilder());
      }
    };
  }

  /** What the tasks that read the results read as well: all of it in order of time. */
  static Set<String> readWithResults(Topics topics, String applicationId) {
    return Set.of(
        topics.intents(),
        applicationId + "-" + internal(NodeNames.CHECKED_INTENTS),
        applicationId + "-" + internal(NodeNames.COMPENSATIONS));
  }

  /** Name of an internal topic without the application id, and the stem of its nodes. */
  private static String internal(String name) {
    return name + "-repartition";
  }

  private Wiring wiring() {
    return new Wiring(
        topics.intents(),
        topics.results(),
        policies,
        new IntentMapper(serdes),
        new ResultMapper(serdes, inlineBodyBytes),
        new EffectMapper(topics, serdes),
        meters,
        hearing,
        sweepEvery,
        sweepBatch);
  }

  private static void sink(Topology topology, String node, String topic, String parent) {
    ByteArraySerializer bytes = new ByteArraySerializer();
    topology.addSink(node, topic, bytes, bytes, parent);
  }
}
