package dev.ichido.executor.fake;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The remote's own record of what it did. Nothing but the remote writes to it. */
public final class EffectBook {
  private final List<Effect> effects = new ArrayList<>();

  synchronized void write(Effect effect) {
    effects.add(effect);
  }

  public synchronized List<Effect> effects() {
    return List.copyOf(effects);
  }

  /** Effects of this operation. */
  public synchronized List<Effect> effectsOf(String operation) {
    return effects.stream().filter(e -> e.operation().equals(operation)).toList();
  }

  public synchronized int size() {
    return effects.size();
  }

  /** Effects beyond the first of each operation. */
  public synchronized int duplicates() {
    return counts().values().stream().mapToInt(n -> n - 1).sum();
  }

  /** Effects by operation. */
  public synchronized Map<String, Integer> counts() {
    Map<String, Integer> counts = new TreeMap<>();
    effects.forEach(e -> counts.merge(e.operation(), 1, Integer::sum));
    return counts;
  }
}
