/** The decision as a table: representative states against representative events. */
@NullMarked
package dev.ichido.decision.table;

import org.jspecify.annotations.NullMarked;
