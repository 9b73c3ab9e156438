/**
 * The servers of the all-in-one, and of every integration test: one Kafka node in this process and
 * one PostgreSQL beside it, with their data in a folder that outlives them.
 */
@NullMarked
package dev.ichido.embedded;

import org.jspecify.annotations.NullMarked;
