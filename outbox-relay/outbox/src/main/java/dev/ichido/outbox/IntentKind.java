package dev.ichido.outbox;

/** What an intent asks for. */
public enum IntentKind {
  /** Do the action. */
  EXECUTE,
  /** Let no further attempt of the operation start. */
  CANCEL
}
