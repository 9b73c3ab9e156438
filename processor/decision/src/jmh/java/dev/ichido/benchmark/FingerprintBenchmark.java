package dev.ichido.benchmark;

import dev.ichido.operation.TenantKey;
import dev.ichido.operation.fingerprint.CanonicalForm;
import dev.ichido.operation.fingerprint.FingerprintResult;
import dev.ichido.operation.fingerprint.FingerprintVersions;
import dev.ichido.operation.fingerprint.Fingerprinter;
import dev.ichido.operation.fingerprint.IntentMeaning;
import java.nio.charset.StandardCharsets;
import java.util.Set;
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

/** The fingerprint of a payment of 400 bytes: aim under 5 microseconds. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class FingerprintBenchmark {
  private static final String PAYMENT =
      """
      {"amount":"1250.00","currency":"EUR","creditor":{"name":"M\u00fcller & S\u00f6hne GmbH",\
      "iban":"DE02120300000000202051","bic":"BYLADEM1001"},"debtor_account":9007199254740993,\
      "execution_date":"2026-01-31","remittance":"Invoice 2026-000417, thank you","urgent":false,\
      "fee_share":0.5,"lines":[{"net":1050.42}],"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}""";

  private final TenantKey key =
      TenantKey.of("0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8));
  private final Fingerprinter fingerprinter = FingerprintVersions.released().current();
  private final IntentMeaning meaning =
      new IntentMeaning("pay.transfer", "1", "acct:1", padded(), "\"etag-17\"", Set.of("trace_id"));

  private static String padded() {
    int missing = 400 - PAYMENT.getBytes(StandardCharsets.UTF_8).length;
    return PAYMENT.replace("thank you", "thank you" + "!".repeat(missing));
  }

  @Benchmark
  public FingerprintResult fingerprint() {
    return fingerprinter.fingerprint(key, meaning);
  }

  @Benchmark
  public CanonicalForm.Reading readOnly() {
    return CanonicalForm.read(meaning.arguments());
  }
}
