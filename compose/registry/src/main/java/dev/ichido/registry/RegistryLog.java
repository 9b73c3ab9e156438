package dev.ichido.registry;

import java.util.List;

/**
 * Where the registry keeps what it was told: a log of events, numbered from 0 without gaps. It must
 * be durable before {@link #tryAppend} returns, since ids are handed out on its word.
 */
public interface RegistryLog {
  /**
   * The events from the given position on, in order.
   *
   * @throws RegistryLogException when the log cannot be read
   */
  List<String> read(long from);

  /**
   * Writes the event at the position.
   *
   * @return false when the position was taken already, by another writer: then nothing was written
   * @throws RegistryLogException when it is not known to have been written
   */
  boolean tryAppend(long position, String event);
}
