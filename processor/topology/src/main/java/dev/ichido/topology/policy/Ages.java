package dev.ichido.topology.policy;

import java.time.Duration;
import java.util.Optional;

/**
 * How old a record may be when it is sent after all. Each must stay below every dedupe window that
 * an action relies on.
 *
 * @param outbox oldest outbox row that the relay still sends
 * @param deadLetter oldest dead letter that is still redriven
 */
public record Ages(Optional<Duration> outbox, Optional<Duration> deadLetter) {
  /** Neither is limited. */
  public static final Ages UNSTATED = new Ages(Optional.empty(), Optional.empty());
}
