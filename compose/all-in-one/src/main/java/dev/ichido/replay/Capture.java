package dev.ichido.replay;

import java.util.List;
import java.util.Optional;

/**
 * What a file holds.
 *
 * @param cluster id of the cluster that the records came from; empty in a file that does not say
 */
public record Capture(Optional<String> cluster, List<Recorded> records) {
  public Capture {
    records = List.copyOf(records);
  }
}
