package dev.ichido.benchmark;

import dev.ichido.operation.OperationKey;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What a record key costs, plain and with parts that must be encoded. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class KeyBenchmark {
  private final OperationKey plain = new OperationKey("tenant-7", "global", "op-0000000000000001");
  private final OperationKey encoded =
      new OperationKey("tenant 7/ä", "region:eu-west-1", "op-0000000000000001");
  private final String text = plain.recordKey();

  @Benchmark
  public String plain() {
    return plain.recordKey();
  }

  @Benchmark
  public String encoded() {
    return encoded.recordKey();
  }

  @Benchmark
  public Optional<OperationKey> parsed() {
    return OperationKey.parse(text);
  }
}
