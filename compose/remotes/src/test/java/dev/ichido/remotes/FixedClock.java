package dev.ichido.remotes;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;

/** The moment that the tests start at. */
final class FixedClock {
  static final Instant START = Instant.parse("2026-01-05T12:00:00Z");

  private FixedClock() {}

  static Clock clock() {
    return Clock.fixed(START, ZoneOffset.UTC);
  }
}
