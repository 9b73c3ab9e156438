/** Brings committed outbox rows to Kafka, and moves the slot only past acknowledged records. */
@NullMarked
package dev.ichido.relay;

import org.jspecify.annotations.NullMarked;
