package dev.ichido.decision;

import java.time.Instant;
import java.util.Objects;

/**
 * The retry budget of the tenant and action as it stands at the time of an event.
 *
 * @param available whether there is a token
 * @param nextTokenAt when the next token comes that nobody waits for yet; not after the event's
 *     time when one is available
 */
public record RetryBudget(boolean available, Instant nextTokenAt) {
  public RetryBudget {
    Objects.requireNonNull(nextTokenAt, "nextTokenAt");
  }

  /** A budget with a token. */
  public static RetryBudget full(Instant at) {
    return new RetryBudget(true, at);
  }

  /** A budget without a token until {@code nextTokenAt}. */
  public static RetryBudget empty(Instant nextTokenAt) {
    return new RetryBudget(false, nextTokenAt);
  }
}
