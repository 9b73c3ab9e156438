package dev.ichido.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.bench.Call.Kind;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntFunction;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class CallsTest {
  private static final Instant AT = Instant.parse("2026-11-29T12:00:00Z");
  private static final int MANY = 20_000;
  private static final int GAP = 64;

  @Test
  void theMixIsAsItIsSaid() {
    IntFunction<Call> calls = Calls.mixed("bench-test", AT, GAP);
    Map<Kind, Integer> kinds = new EnumMap<>(Kind.class);
    Set<String> tenants = new HashSet<>();
    for (int i = 0; i < MANY; i++) {
      Call call = calls.apply(i);
      kinds.merge(call.kind(), 1, Integer::sum);
      tenants.add(call.tenant());
      assertThat(call.arguments().length()).isBetween(150, 32 * 1024);
    }
    Offset<Double> near = Offset.offset(0.01);
    assertThat(share(kinds, Kind.FIRST)).isCloseTo(0.70, near);
    assertThat(share(kinds, Kind.DUPLICATE)).isCloseTo(0.20, near);
    assertThat(share(kinds, Kind.MISMATCH)).isCloseTo(0.05, near);
    assertThat(share(kinds, Kind.LATE)).isCloseTo(0.05, near);
    assertThat(tenants).hasSizeGreaterThan(Calls.TENANTS * 9 / 10);
  }

  private static double share(Map<Kind, Integer> kinds, Kind kind) {
    return kinds.getOrDefault(kind, 0) / (double) MANY;
  }

  @Test
  void aDuplicateRepeatsAnEarlierFirstCallAndAMismatchChangesIt() {
    IntFunction<Call> calls = Calls.mixed("bench-test", AT, GAP);
    Map<String, Call> known = new HashMap<>();
    int repeated = 0;
    for (int i = 0; i < 5_000; i++) {
      Call call = calls.apply(i);
      Call first = known.get(call.tenant() + "/" + call.operationId());
      switch (call.kind()) {
        case FIRST -> {
          assertThat(first).isNull();
          known.put(call.tenant() + "/" + call.operationId(), call);
        }
        case DUPLICATE -> {
          repeated++;
          assertThat(call.arguments()).isEqualTo(Objects.requireNonNull(first).arguments());
        }
        case MISMATCH -> {
          assertThat(call.arguments()).isNotEqualTo(Objects.requireNonNull(first).arguments());
        }
        case LATE -> assertThat(call.issuedAt()).isBefore(AT);
      }
    }
    assertThat(repeated).isPositive();
  }

  @Test
  void aDuplicateOfARunIsTheSameRequest() {
    Call first = Calls.first("bench-test", AT).apply(7);
    Call again = Calls.duplicate("bench-test", AT).apply(7);
    assertThat(again.operationId()).isEqualTo(first.operationId());
    assertThat(again.arguments()).isEqualTo(first.arguments()).hasSize(400);
    assertThat(again.isRight("REPLAYED")).isTrue();
    assertThat(first.isRight("REPLAYED")).isFalse();
  }
}
