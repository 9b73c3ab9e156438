/** The table of decisions: golden, covered and rendered. */
@NullMarked
package dev.ichido.decision.table;

import org.jspecify.annotations.NullMarked;
