package dev.ichido.benchmark;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.Terms;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationStateMachine;
import dev.ichido.decision.RetryBudget;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.topology.NodeNames;
import dev.ichido.topology.store.StoredOperation;
import dev.ichido.topology.store.StoredOperationSerde;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.Locale;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What an operation costs in the ledger's store, without its changelog. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StoreBenchmark {
  @Param({"10000", "1000000"})
  int operations;

  private final SplittableRandom random = new SplittableRandom(1);
  private final StoredOperationSerde serde = new StoredOperationSerde();
  private final Serializer<StoredOperation> serializer = serde.serializer();
  private final Deserializer<StoredOperation> deserializer = serde.deserializer();
  private final StoredOperation operation = claimed();
  private final byte[] bytes = serializer.serialize("", operation);
  private Path folder;
  private KeyValueStore<String, StoredOperation> store;

  @Setup
  public void open() throws IOException {
    folder = Files.createTempDirectory(Path.of("target"), "store");
    Properties properties = new Properties();
    properties.put("application.id", "benchmark");
    properties.put("bootstrap.servers", "none:0");
    MockProcessorContext<Void, Void> context =
        new MockProcessorContext<>(
            properties, new org.apache.kafka.streams.processor.TaskId(0, 0), folder.toFile());
    store =
        Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(NodeNames.LEDGER_STORE), Serdes.String(), serde)
            .withLoggingDisabled()
            .withCachingDisabled()
            .build();
    store.init(context.getStateStoreContext(), store);
    for (int i = 0; i < operations; i++) {
      store.put(key(i), operation);
    }
  }

  @TearDown
  public void close() throws IOException {
    store.close();
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Benchmark
  public StoredOperation get() {
    return store.get(key(random.nextInt(operations)));
  }

  @Benchmark
  public StoredOperation getAbsent() {
    return store.get(key(operations + random.nextInt(operations)));
  }

  @Benchmark
  public void put() {
    store.put(key(random.nextInt(operations)), operation);
  }

  @Benchmark
  public byte[] write() {
    return serializer.serialize("", operation);
  }

  @Benchmark
  public StoredOperation read() {
    return deserializer.deserialize("", bytes);
  }

  private static String key(int index) {
    return String.format(Locale.ROOT, "k1/tenant-7/global/op-%016d", index);
  }

  private static StoredOperation claimed() {
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    OperationKey key = new OperationKey("tenant-7", "global", "op-0000000000000001");
    TreeMap<String, String> members = new TreeMap<>();
    members.put("arguments.amount", "0123456789abcdef0123456789abcdef");
    members.put("target", "0123456789abcdef0123456789abcdef");
    IntentReceived intent =
        new IntentReceived(
            new Intent(
                key.tenant(),
                key.scope(),
                key.operationId(),
                "0190b5a0-7c3e-7f21-9c55-1f2d3c4b5a69",
                new Principal("agent:a"),
                "pay.transfer",
                null,
                "acct:1",
                "{\"amount\":100,\"memo\":\"" + "m".repeat(376) + "\"}",
                null,
                null,
                now,
                null,
                null,
                null),
            now,
            null,
            true,
            Terms.of(ActionPolicy.standard("pay.transfer")),
            new Fingerprint(1, "0123456789abcdef0123456789abcdef", members),
            RetryBudget.full(now),
            null);
    OperationState state =
        OperationStateMachine.decide(
                OperationState.Absent.NOTHING, intent, ActionPolicy.standard("pay.transfer"))
            .next();
    return new StoredOperation(state, now, null);
  }
}
