package dev.ichido.junit;

/** What can be stopped and started. */
public enum Role {
  /** Outbox to intents. */
  RELAY,
  /** Intents and results to commands and replies. */
  PROCESSOR,
  /** Commands to results. */
  EXECUTOR,
  /** Replies to the runtime's tables. */
  INBOX
}
