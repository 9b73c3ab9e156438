package dev.ichido.decision;

/** How a released result came about. */
public enum Marker {
  /** An attempt reported it. */
  EXECUTED,
  /** It was stored before and is given again. */
  REPLAYED,
  /** A status read or a person found it. */
  RECONCILED
}
