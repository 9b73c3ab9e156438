package dev.ichido.decision;

import java.time.Instant;
import java.util.Objects;

/** The settlement that a late success replaced. */
public record Superseded(StateName state, Instant settledAt) {
  public Superseded {
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(settledAt, "settledAt");
  }
}
