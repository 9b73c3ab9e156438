package dev.ichido.bench;

import dev.ichido.bench.Call.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/** The requests of a run, each made when it is needed and the same for the same index. */
final class Calls {
  static final int TENANTS = 1_000;

  private static final int SMALL = 400;
  private static final int LEAST = 200;
  private static final int MOST = 32 * 1024;
  private static final Duration LATE = Duration.ofDays(400);

  private Calls() {}

  static String action(int index) {
    return index == 0 ? OutboxPath.ACTION : OutboxPath.ACTION + "-" + index;
  }

  static String tenant(int index) {
    return String.format(Locale.ROOT, "bench-%03d", index);
  }

  /** New operations of one tenant, about 400 bytes each. */
  static IntFunction<Call> first(String run, Instant at) {
    return i -> call(run, i, 0, SMALL, at, Kind.FIRST, 0);
  }

  /** New operations, of these tenants and actions in turn. */
  static IntFunction<Call> spread(String run, Instant at, int tenants, int actions) {
    return i -> {
      Call call = call(run, i, i % tenants, SMALL, at, Kind.FIRST, 0);
      return new Call(
          call.tenant(),
          action(i % actions),
          call.operationId(),
          call.arguments(),
          call.issuedAt(),
          call.kind());
    };
  }

  static IntFunction<Call> duplicate(String run, Instant at) {
    return i -> call(run, i, 0, SMALL, at, Kind.DUPLICATE, 0);
  }

  /**
   * Of a hundred requests 70 are new, 20 repeat an earlier one (a few hot ones more often), 5
   * repeat one with another amount, 5 are older than anything remembered.
   *
   * @param gap how many requests lie between one and its repetition at least, so that the first is
   *     in the outbox before
   */
  static IntFunction<Call> mixed(String run, Instant at, int gap) {
    return i -> {
      int kind = kind(i, gap);
      if (kind >= 95) {
        return mixed(run + "-late", i, at.minus(LATE), Kind.LATE, 0);
      }
      if (kind < 70) {
        return mixed(run, i, at, Kind.FIRST, 0);
      }
      double skew = new SplittableRandom(13L * i + 5).nextDouble();
      int earlier = (int) ((i - gap) * skew * skew * skew);
      while (kind(earlier, gap) >= 70) {
        earlier--;
      }
      return kind < 90
          ? mixed(run, earlier, at, Kind.DUPLICATE, 0)
          : mixed(run, earlier, at, Kind.MISMATCH, 1);
    };
  }

  /** A number below 100; below 70 for the first requests, since there is nothing to repeat yet. */
  private static int kind(int index, int gap) {
    return index <= gap ? 0 : new SplittableRandom(31L * index + 7).nextInt(100);
  }

  private static Call mixed(String run, int index, Instant at, Kind kind, int more) {
    SplittableRandom random = new SplittableRandom(17L * index + 3);
    double skew = random.nextDouble();
    int size = (int) (LEAST * Math.pow((double) MOST / LEAST, random.nextDouble()));
    return call(run, index, (int) (TENANTS * skew * skew), size, at, kind, more);
  }

  private static Call call(
      String run, int index, int tenant, int bytes, Instant at, Kind kind, int more) {
    String operation = run + String.format(Locale.ROOT, "-%08d", index);
    String head =
        "{\"operation\":\""
            + operation
            + "\",\"amount\":"
            + (1250 + more)
            + ",\"currency\":\"EUR\",\"memo\":\"";
    String arguments = head + "m".repeat(Math.max(1, bytes - head.length() - 2)) + "\"}";
    return new Call(tenant(tenant), OutboxPath.ACTION, operation, arguments, at, kind);
  }
}
