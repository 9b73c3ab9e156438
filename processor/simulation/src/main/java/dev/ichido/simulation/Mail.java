package dev.ichido.simulation;

import dev.ichido.decision.OriginalStanding;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.simulation.Relays.Row;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What operations tell each other and the index of meanings, and are told by it. */
sealed interface Mail extends Read {
  /** How many topics it goes by. */
  int TOPICS = 3;

  /** How an operation stands to its twins. */
  enum Standing {
    OPEN,
    SETTLED,
    GONE
  }

  /**
   * To an operation that is to be undone.
   *
   * @param by that undoes
   * @param row the intent that asks; null when it gives up its place
   * @param twin as it was found; null where nobody looked
   */
  record ToOriginal(int by, @Nullable Row row, @Nullable Integer twin) implements Mail {}

  /**
   * To an operation that undoes another.
   *
   * @param twin as it was found; null where nobody looked
   */
  record FromOriginal(Row row, OriginalStanding standing, @Nullable Integer twin) implements Mail {}

  /** An intent that is held against the meanings that are known. */
  record ToMeanings(Row row, Fingerprint meaning) implements Mail {}

  /** An operation of this meaning stands otherwise than before. */
  record News(int operation, Fingerprint meaning, Standing standing, Instant at) implements Mail {}

  /**
   * An intent that was held against them.
   *
   * @param twin an operation of the same meaning; negative when there is none
   */
  record FromMeanings(Row row, int twin) implements Mail {}

  /** Number of the topic. */
  default int topic() {
    return switch (this) {
      case ToOriginal it -> 0;
      case FromOriginal it -> 0;
      case ToMeanings it -> 1;
      case News it -> 1;
      case FromMeanings it -> 2;
    };
  }
}
