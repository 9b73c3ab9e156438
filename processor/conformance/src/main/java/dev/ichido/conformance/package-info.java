/**
 * The behaviour cases in their executable form: scenarios run through the topology as shipped,
 * under a clock that moves only when a scenario says so.
 */
@NullMarked
package dev.ichido.conformance;

import org.jspecify.annotations.NullMarked;
