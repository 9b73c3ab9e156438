package dev.ichido.decision;

import org.jspecify.annotations.Nullable;

/** Which attempt of an operation a report is about. */
enum Standing {
  LATEST,
  EARLIER,
  /** One that is not known to have been started. */
  LATER;

  /** Null stands for the latest. */
  static Standing of(@Nullable Integer reported, int latest) {
    if (reported == null || reported == latest) {
      return LATEST;
    }
    return reported < latest ? EARLIER : LATER;
  }
}
