/** The whole protocol in one thread, under a seeded schedule of faults and a virtual clock. */
@NullMarked
package dev.ichido.simulation;

import org.jspecify.annotations.NullMarked;
