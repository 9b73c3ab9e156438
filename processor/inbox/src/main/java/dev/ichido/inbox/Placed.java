package dev.ichido.inbox;

import org.apache.kafka.common.TopicPartition;

/** What a record says, with its place in the topic. */
record Placed<R>(TopicPartition partition, long offset, R row) {}
