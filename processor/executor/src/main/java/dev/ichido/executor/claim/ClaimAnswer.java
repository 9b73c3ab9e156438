package dev.ichido.executor.claim;

import dev.ichido.executor.Report;

/** Whose the attempt is. */
public sealed interface ClaimAnswer {

  /** Ours: the row was inserted by this request. */
  record Won() implements ClaimAnswer {}

  /** Somebody's, and its result is known: it is to be sent again, as it was. */
  record Recorded(Report report) implements ClaimAnswer {}

  /**
   * Somebody's, and no result is known: the call runs, or its owner died.
   *
   * @param owner the executor's name and life
   */
  record Open(String owner) implements ClaimAnswer {}
}
