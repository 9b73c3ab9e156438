package dev.ichido.topology.policy;

import java.time.Duration;
import java.util.Optional;

/**
 * How old a record is at most when it is sent after all, by the operator's word. Each must stay
 * below every dedupe window that an action relies on, or the policy is refused. Whether the word is
 * kept nobody checks: no record is dropped for its age, since whoever waits for its answer would
 * never be told. What was issued longer ago than anything is remembered is refused by its issue
 * time.
 *
 * @param outbox of an outbox row that the relay sends
 * @param deadLetter of a dead letter that is redriven
 */
public record Ages(Optional<Duration> outbox, Optional<Duration> deadLetter) {
  /** Of neither anything is said. */
  public static final Ages UNSTATED = new Ages(Optional.empty(), Optional.empty());
}
