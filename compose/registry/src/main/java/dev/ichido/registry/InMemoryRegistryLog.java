package dev.ichido.registry;

import java.util.ArrayList;
import java.util.List;

/** A log that ends with the process, for tests. */
public final class InMemoryRegistryLog implements RegistryLog {
  private final List<String> events = new ArrayList<>();

  @Override
  public synchronized List<String> read(long from) {
    return List.copyOf(events.subList(Math.toIntExact(from), events.size()));
  }

  @Override
  public synchronized boolean tryAppend(long position, String event) {
    if (position != events.size()) {
      return false;
    }
    events.add(event);
    return true;
  }
}
