package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.zip.CRC32;

/**
 * What a remote is told to do wrong. A request meets the first queued fault that is for it; when
 * none is, the random rules are drawn. A draw depends on the seed, the request's business key and
 * how many requests for that key came before, never on the order of requests for different keys.
 */
public final class Faults {
  /** With that probability, of 0 to 1, the fault is met; rules share one draw, in their order. */
  public record Rule(double probability, Fault fault) {}

  private static final class Waiting {
    private final Fault fault;
    private int left;

    Waiting(Fault fault) {
      this.fault = fault;
      this.left = fault.times();
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Releases releases;
  private final Consumer<Duration> refuse;
  private final Runnable accept;
  private final List<Waiting> queue = new ArrayList<>();
  private final Map<FaultKind, Integer> met = new EnumMap<>(FaultKind.class);
  private final Map<String, Integer> draws = new HashMap<>();
  private List<Rule> rules = List.of();
  private long seed;
  private StatusMode statusMode = StatusMode.HONEST;

  Faults(Releases releases, Consumer<Duration> refuse, Runnable accept) {
    this.releases = releases;
    this.refuse = refuse;
    this.accept = accept;
  }

  /** Queues faults, in this order; a {@code REFUSE_CONNECTION} takes effect at once. */
  public void add(Fault... faults) {
    add(Arrays.asList(faults));
  }

  /** Queues faults, in this order; a {@code REFUSE_CONNECTION} takes effect at once. */
  public void add(List<Fault> faults) {
    for (Fault fault : faults) {
      if (fault.kind() == FaultKind.REFUSE_CONNECTION) {
        count(fault.kind());
        refuse.accept(fault.delay());
      } else {
        lock.lock();
        try {
          queue.add(new Waiting(fault));
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** Queues faults of those kinds with their defaults, once each. */
  public void add(FaultKind... kinds) {
    add(Arrays.stream(kinds).map(Fault::of).toList());
  }

  /** Replaces the random rules. */
  public void random(long newSeed, List<Rule> newRules) {
    lock.lock();
    try {
      seed = newSeed;
      rules = List.copyOf(newRules);
      draws.clear();
    } finally {
      lock.unlock();
    }
  }

  public void status(StatusMode mode) {
    lock.lock();
    try {
      statusMode = mode;
    } finally {
      lock.unlock();
    }
  }

  public StatusMode status() {
    lock.lock();
    try {
      return statusMode;
    } finally {
      lock.unlock();
    }
  }

  /** Nothing is wrong any more: what waits is released, and connections are accepted. */
  public void clear() {
    lock.lock();
    try {
      queue.clear();
      rules = List.of();
      statusMode = StatusMode.HONEST;
    } finally {
      lock.unlock();
    }
    releases.releaseAll();
    accept.run();
  }

  /** Lets go of everything that is held or slow. */
  public void release() {
    releases.releaseAll();
  }

  /** Waits until that many requests are held or slow at once. */
  public boolean awaitHeld(int requests, Duration limit) throws InterruptedException {
    return releases.awaitWaiting(requests, limit);
  }

  /** Queued faults that no request has met yet. */
  public List<Fault> pending() {
    lock.lock();
    try {
      return queue.stream().map(waiting -> waiting.fault).toList();
    } finally {
      lock.unlock();
    }
  }

  /** How many requests met a fault, by kind; clean ones are not counted unless queued. */
  public Map<FaultKind, Integer> met() {
    lock.lock();
    try {
      return Map.copyOf(met);
    } finally {
      lock.unlock();
    }
  }

  /** Whether the next fault for this write is to reset before its body is read; then it is met. */
  boolean takeResetBeforeRead(Optional<String> businessKey) {
    lock.lock();
    try {
      Optional<Waiting> first = first(false, businessKey);
      if (first.isEmpty() || first.get().fault.kind() != FaultKind.RESET_BEFORE_READ) {
        return false;
      }
      take(first.get());
      return true;
    } finally {
      lock.unlock();
    }
  }

  Fault next(boolean read, Optional<String> businessKey) {
    lock.lock();
    try {
      Optional<Waiting> first = first(read, businessKey);
      if (first.isPresent()) {
        take(first.get());
        return first.get().fault;
      }
      return draw(read, businessKey.orElse(""));
    } finally {
      lock.unlock();
    }
  }

  ObjectNode toJson() {
    lock.lock();
    try {
      ObjectNode json = Json.object();
      ArrayNode list = json.putArray("queue");
      queue.forEach(waiting -> list.add(waiting.fault.toJson()));
      ObjectNode random = json.putObject("random");
      random.put("seed", seed);
      ArrayNode all = random.putArray("rules");
      for (Rule rule : rules) {
        all.addObject().put("probability", rule.probability()).set("fault", rule.fault().toJson());
      }
      json.set("status", statusMode.toJson());
      ObjectNode counts = json.putObject("met");
      met.forEach((kind, count) -> counts.put(kind.label(), count));
      json.put("held", releases.waiting());
      return json;
    } finally {
      lock.unlock();
    }
  }

  private Optional<Waiting> first(boolean read, Optional<String> businessKey) {
    return queue.stream()
        .filter(waiting -> waiting.fault.onReads() == read)
        .filter(
            waiting ->
                waiting.fault.businessKey() == null
                    || businessKey.equals(Optional.of(waiting.fault.businessKey())))
        .findFirst();
  }

  private void take(Waiting waiting) {
    met.merge(waiting.fault.kind(), 1, Integer::sum);
    if (waiting.fault.times() > 0 && --waiting.left == 0) {
      Iterator<Waiting> all = queue.iterator();
      while (all.hasNext()) {
        if (all.next() == waiting) {
          all.remove();
          return;
        }
      }
    }
  }

  private Fault draw(boolean read, String key) {
    if (rules.isEmpty()) {
      return Fault.CLEAN;
    }
    String stream = (read ? "r" : "w") + key;
    CRC32 crc = new CRC32();
    crc.update((stream + "\n" + draws.merge(stream, 1, Integer::sum)).getBytes(UTF_8));
    double drawn = new SplittableRandom(seed * 31 + crc.getValue()).nextDouble();
    for (Rule rule : rules) {
      if (rule.fault().onReads() == read) {
        if (drawn < rule.probability()) {
          met.merge(rule.fault().kind(), 1, Integer::sum);
          return rule.fault();
        }
        drawn -= rule.probability();
      }
    }
    return Fault.CLEAN;
  }

  private void count(FaultKind kind) {
    lock.lock();
    try {
      met.merge(kind, 1, Integer::sum);
    } finally {
      lock.unlock();
    }
  }
}
