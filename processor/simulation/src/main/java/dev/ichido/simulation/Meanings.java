package dev.ichido.simulation;

import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.simulation.Mail.Standing;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The index of meanings: which operations carry one, in the order in which they came. */
final class Meanings {
  private final List<Twin> twins;

  private record Twin(
      int operation, String tenant, Fingerprint meaning, @Nullable Instant settledAt) {
    boolean is(int other, Fingerprint otherMeaning) {
      return operation == other && meaning.matches(otherMeaning);
    }
  }

  Meanings() {
    this(List.of());
  }

  private Meanings(List<Twin> twins) {
    this.twins = new ArrayList<>(twins);
  }

  Meanings copy() {
    return new Meanings(twins);
  }

  /** Another operation that is open, or was settled within the window; negative without one. */
  int findTwin(int operation, String tenant, Fingerprint meaning, Duration window, Instant at) {
    return twins.stream()
        .filter(it -> it.operation() != operation && it.tenant().equals(tenant))
        .filter(it -> it.meaning().matches(meaning))
        .filter(it -> it.settledAt() == null || at.isBefore(it.settledAt().plus(window)))
        .mapToInt(Twin::operation)
        .findFirst()
        .orElse(-1);
  }

  /** Keeps a place for an operation that is asked for; one that is known stays as it is. */
  void keepPlace(int operation, String tenant, Fingerprint meaning) {
    if (twins.stream().noneMatch(it -> it.is(operation, meaning))) {
      twins.add(new Twin(operation, tenant, meaning, null));
    }
  }

  void learn(int operation, String tenant, Fingerprint meaning, Standing standing, Instant at) {
    if (standing == Standing.GONE) {
      twins.removeIf(it -> it.is(operation, meaning));
      return;
    }
    Twin twin = new Twin(operation, tenant, meaning, standing == Standing.OPEN ? null : at);
    for (int i = 0; i < twins.size(); i++) {
      if (twins.get(i).is(operation, meaning)) {
        twins.set(i, twin);
        return;
      }
    }
    twins.add(twin);
  }
}
