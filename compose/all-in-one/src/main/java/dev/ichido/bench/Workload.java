package dev.ichido.bench;

import java.util.Locale;

/** What is measured. */
public enum Workload {
  /** New operations, so many in flight. */
  FIRST,
  /** The operations of the last run of first calls, once more. */
  DUPLICATE,
  /** New operations at a steady rate; the time counts from when each was due. */
  LATENCY,
  /** First calls, duplicates, mismatches and late replays of many tenants and sizes. */
  MIXED;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
