/** The processors: facts in, effects out. No judgement is made here. */
@NullMarked
package dev.ichido.topology.operation;

import org.jspecify.annotations.NullMarked;
