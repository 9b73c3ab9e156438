package dev.ichido.relay;

/** What the relay does when its slot, and with it its position, is lost. */
public enum SlotLoss {
  /** Says so, makes the slot anew, sends what the table holds and goes on. */
  BACKFILL,
  /** Says so and stops, until a person starts it with a back-fill. */
  REFUSE
}
