package dev.ichido.relay;

/** Names that are bound to the slot, and to nothing else. */
final class RelayIdentity {
  static final String TRANSACTIONAL_ID_PREFIX = "ichido-relay-";

  private RelayIdentity() {}

  /** Two servers may have a slot of the same name, so the server's own identifier is part of it. */
  static String transactionalId(String systemIdentifier, String slot) {
    return TRANSACTIONAL_ID_PREFIX + systemIdentifier + "-" + slot;
  }
}
