package dev.ichido.decision;

import org.jspecify.annotations.Nullable;

/** Which attempt of an operation a report is about. */
enum Standing {
  LATEST,
  /** An earlier one, or one that is not known to have been started. */
  ANOTHER;

  /** Null stands for the latest. */
  static Standing of(@Nullable Integer reported, int latest) {
    return reported == null || reported == latest ? LATEST : ANOTHER;
  }
}
