package dev.ichido.topology.operation;

import java.time.Instant;

/** How far the reports on the operations of a partition have been read. */
public interface Hearing {
  /** Where a report is read the moment it is sent, as one by one under a clock of one's own. */
  Hearing IMMEDIATE =
      new Hearing() {
        @Override
        public Instant heardUntil(int partition, Instant now) {
          return now;
        }

        @Override
        public void listen(int partition, Instant now) {
          // There is nothing to wait for.
        }
      };

  /**
   * Until when all reports that were sent have been read and decided on; never after now.
   *
   * @param now the time of the task that owns the partition
   */
  Instant heardUntil(int partition, Instant now);

  /** Something is due, or will be soon, and waits until its time has been heard. */
  void listen(int partition, Instant now);
}
