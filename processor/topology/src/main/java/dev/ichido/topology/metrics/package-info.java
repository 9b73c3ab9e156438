/** What is counted. */
@NullMarked
package dev.ichido.topology.metrics;

import org.jspecify.annotations.NullMarked;
