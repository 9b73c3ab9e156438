/** Kafka Streams around the decision: it reads, asks, writes, and never judges. */
@NullMarked
package dev.ichido.topology;

import org.jspecify.annotations.NullMarked;
