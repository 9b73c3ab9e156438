package dev.ichido.relay;

import java.time.Duration;

/**
 * How the relay runs. The defaults suit most.
 *
 * @param pollInterval how long the relay waits before it looks at the log again when that had
 *     nothing; half of it is what latency costs, and a millisecond of each of them is spun away
 * @param maxBatch most rows of one Kafka transaction
 * @param heartbeat how often the slot is looked at, and moved where other tables write and the
 *     outbox is quiet
 * @param firstBackoff wait before the first restart after a failure; doubled up to {@code
 *     maxBackoff}
 * @param startTimeout how long start-up waits for the database, the broker and the registry
 * @param auditInterval how often the rows of the table are held against the records acknowledged
 * @param slotLost what to do when the slot was dropped or the log that it needs was removed
 */
public record RelayTuning(
    Duration pollInterval,
    int maxBatch,
    Duration heartbeat,
    Duration firstBackoff,
    Duration maxBackoff,
    Duration startTimeout,
    Duration auditInterval,
    SlotLoss slotLost) {
  public static final RelayTuning DEFAULT =
      new RelayTuning(
          Duration.ofMillis(10),
          2_048,
          Duration.ofSeconds(1),
          Duration.ofMillis(200),
          Duration.ofSeconds(10),
          Duration.ofSeconds(15),
          Duration.ofSeconds(10),
          SlotLoss.BACKFILL);

  public RelayTuning {
    require("poll interval", pollInterval);
    require("heartbeat", heartbeat);
    require("first backoff", firstBackoff);
    require("longest backoff", maxBackoff);
    require("start timeout", startTimeout);
    require("audit interval", auditInterval);
    if (maxBatch < 1) {
      throw new IllegalArgumentException(
          "Expected a batch of at least one row, but it is "
              + maxBatch
              + ". Check relay.max_batch.");
    }
  }

  public RelayTuning withSlotLost(SlotLoss other) {
    return new RelayTuning(
        pollInterval,
        maxBatch,
        heartbeat,
        firstBackoff,
        maxBackoff,
        startTimeout,
        auditInterval,
        other);
  }

  private static void require(String name, Duration value) {
    if (value.toMillis() < 1) {
      throw new IllegalArgumentException(
          "Expected a " + name + " of at least 1 ms, but it is " + value + ". Check relay.");
    }
  }
}
