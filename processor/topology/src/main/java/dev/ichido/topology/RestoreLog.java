package dev.ichido.topology;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says what the stores have to read back before records are decided on again. */
final class RestoreLog implements StateRestoreListener {
  private static final Logger LOG = LoggerFactory.getLogger(RestoreLog.class);

  @Override
  public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
    LOG.info("Restoring {} of {} from offset {} to {}.", store, partition, from, to);
  }

  @Override
  public void onBatchRestored(TopicPartition partition, String store, long last, long count) {
    // Begin and end are enough.
  }

  @Override
  public void onRestoreEnd(TopicPartition partition, String store, long total) {
    LOG.info("Restored {} of {}: {} records.", store, partition, total);
  }
}
