package dev.ichido.relay;

/**
 * The agent runtime's database.
 *
 * @param url {@code jdbc:postgresql://host:port/database}, with the driver's own settings (sslmode,
 *     sslrootcert, …) behind a question mark; several hosts are not taken, since a slot lives on
 *     one
 * @param slot replication slot, which is the relay's position
 */
public record OutboxDatabase(
    String url, String user, String password, String slot, String publication) {
  public static final String DEFAULT_SLOT = "ichido_outbox";
  public static final String DEFAULT_PUBLICATION = "ichido_outbox";

  public static OutboxDatabase of(String url, String user, String password) {
    return new OutboxDatabase(url, user, password, DEFAULT_SLOT, DEFAULT_PUBLICATION);
  }

  public OutboxDatabase withSlot(String name) {
    return new OutboxDatabase(url, user, password, name, publication);
  }

  public OutboxDatabase withPublication(String name) {
    return new OutboxDatabase(url, user, password, slot, name);
  }

  /** Without the password, and without the settings of the URL, which may carry one. */
  @Override
  public String toString() {
    return "OutboxDatabase[" + address() + " slot " + slot + " publication " + publication + "]";
  }

  String address() {
    int settings = url.indexOf('?');
    return settings < 0 ? url : url.substring(0, settings);
  }
}
